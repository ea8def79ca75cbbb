#pragma once
// The program's end of the shared memory: claims a link for each thread and carries one request over it. Used by the
// client library and by the interposed clock, which must not need the C++ runtime; so: no exceptions, no allocation.
//
// Threads: any. Cost: ask() rings a futex and sleeps on another one.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "client/clock_face.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::client {

/// Without libc, whose functions an interposed clock replaces.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value);
void futex_wake(std::atomic<std::uint32_t>& word, int most);
/// The process id that the kernel knows, whoever stands in front of getpid.
int real_process_id();
/// What the kernel does, whoever stands in front of libc; an errno is negative. Where raw system calls are caught, only
/// those that libc's own `syscall` makes pass: it is given here.
using SystemCallOfLibc = long (*)(long number, ...);
void make_plain_calls_by(SystemCallOfLibc libc);
long plain_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

class SharedLink {
 public:
  /// What somebody else does around each wait of a thread.
  struct AroundWaits {
    bool (*before)(protocol::Exchange& exchange);  // true: asked() is wanted when others may run
    void (*asked)();
    void (*answered)(std::int64_t ticket);
  };
  /// From "PAGES,BELL"; null text when mapped, otherwise what is wrong.
  const char* open(const char* descriptors);
  static constexpr const char* other_version =
      "the coordinator's memory is not there, or is of another version; build program and coordinator from one "
      "Isochron";
  /// Whether open() refused because the process is not the one that the coordinator started.
  [[nodiscard]] bool is_outsider() const { return pages_ == nullptr && family_ != nullptr; }
  [[nodiscard]] bool is_open() const { return pages_ != nullptr; }
  /// A forked child must not talk on its parent's links; it is counted. Also for a process that open() refused, whose
  /// children are counted too.
  void close_after_fork();

  /// The calling thread's link; null when all are taken, which is told first.
  protocol::Link* mine();
  void when_links_are_missing(void (*call)()) { when_links_are_missing_ = call; }
  /// Gives the calling thread's link back, for a thread that ends.
  void release();
  /// Sends what stands in the link's exchange and payload and waits for the answer there.
  void ask(protocol::Link& link);
  /// The same; looks so often at the answer before it sleeps.
  void ask(protocol::Link& link, std::uint32_t looks);
  /// The two halves of it.
  void post(protocol::Link& link);
  void await(protocol::Link& link);
  void around_waits(const AroundWaits* around) { around_waits_ = around; }
  /// Asks for nothing but that the coordinator looks at what is shared.
  void ask_for_room() {
    if (protocol::Link* link = mine()) ask_for_time(*link);
  }
  /// Sleeps until then; false = the run is over. In a signal handler that came while its thread waits, the link is
  /// taken: then it returns at once.
  bool wait(protocol::Link& link, std::int64_t until);
  /// Sends the call that stands in the link and waits for its answer there. False: the link is taken, as above.
  bool ask_system(protocol::Link& link);
  /// Whether this thread waits for an answer: then this is a signal handler of it.
  [[nodiscard]] static bool is_asking();
  /// After a fork that is followed: talks by pages of its own from now on, which a descriptor of the coordinator is.
  bool reopen(long descriptor);
  /// Before such a fork: what the child has from its parent, who goes on changing its own.
  void prepare_fork();
  /// "PAGES,BELL" for what this process executes; where the coordinator's descriptors are.
  [[nodiscard]] const char* address() const { return address_; }
  [[nodiscard]] const char* folder() const { return folder_; }
  /// The program's clock, whatever its mode.
  std::int64_t now();
  /// What the program has executed since it attached, in time of the robot's computer. `at_most` (a thread's part, as
  /// it was measured here) bounds it where computing is measured.
  std::int64_t executed(std::int64_t at_most = INT64_MAX);

  [[nodiscard]] protocol::Pages* pages() const { return pages_; }

 private:
  std::int64_t ask_for_time(protocol::Link& link);
  void sleep_on(protocol::Link& link, std::atomic<std::uint32_t>& word, std::uint32_t looks);
  void enter_family();
  protocol::Pages* pages_ = nullptr;
  protocol::Family* family_ = nullptr;
  void (*when_links_are_missing_)() = nullptr;
  protocol::Bell* bell_ = nullptr;
  const AroundWaits* around_waits_ = nullptr;
  struct Inherited {
    protocol::Descriptor descriptors[protocol::descriptors_max];
    std::uint64_t handled, ignored;
  };
  Inherited inherited_{};
  long bell_descriptor_ = -1;
  char address_[48] = {};
  char folder_[48] = {};
};

}  // namespace isochron::client
