#pragma once
// The simulated system: what the kernel of a robot's computer does for the processes of a stack. Descriptors, pipes,
// sockets, children and signals are kept here, and every call happens at one simulated time, in the one order of the
// timeline: what is sent at t is readable at t + the link's latency, on every machine, under any load (docs/stacks.md).
//
//      call at t ──► act() ──► answered at once
//                       └────► Suspend: until its limit, or something that it waits for changed ──► wake() ──► …
//
// Promises: calls are done in the order in which act() and wake() are called; nothing else changes what a process sees.
// Requires: calls and wakes come in the order of their times, over all CPUs (Timeline: strict order).
// Fails:    whatever a process asks, it gets an answer or an errno.
// Threads:  the coordinator's. Cost: allocates.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "programs/per_link.hpp"
#include "programs/system/file.hpp"
#include "programs/system/network.hpp"
#include "programs/system/poll_set.hpp"
#include "programs/system/socket.hpp"
#include "protocol/system_call.hpp"

namespace isochron::programs {

class System final : private FileHouse {
 public:
  /// Who has the system.
  class House {
   public:
    virtual ~House() = default;
    /// A link that waits in a call is to look again at `at`.
    virtual void look_again(std::uint32_t program, std::uint32_t link, SimTime at) = 0;
    /// Makes what a child of the program needs before it is there; answers its pages' descriptor. Negative: an errno.
    virtual std::int64_t prepare_child(std::uint32_t program, std::uint32_t number, SimTime at) = 0;
    /// The child is there, or not (-1): the program that it is, or none.
    virtual std::optional<std::uint32_t> adopt_child(std::uint32_t program, std::int64_t process, SimTime at) = 0;
    /// How a process takes a signal.
    enum class Taken { ignores, handles, dies };
    virtual Taken takes(std::uint32_t program, int signal) = 0;
    /// The process sends it to itself when this link is answered, or any; see below for at once.
    virtual void send_signal(std::uint32_t program, int signal, std::uint32_t link) = 0;
    virtual void kill_process(std::uint32_t program, int signal) = 0;
    virtual void print(std::uint32_t program, std::span<const std::byte> text, SimTime at) = 0;
    /// Something that is not as the program may think, for the report.
    virtual void refuse(std::uint32_t program, SimTime at, const std::string& what) = 0;
  };

  struct Answer {
    protocol::Call call;
    std::vector<std::byte> payload;
  };
  struct Suspend {
    SimTime until;
  };
  static constexpr std::uint32_t any_link = UINT32_MAX;

  System(House& house, const std::vector<NetworkSpec>& networks, const std::vector<std::string>& robots,
         std::uint64_t seed, std::vector<OutsideSpec> outside = {})
      : house_(house), network_(networks, robots, seed), outside_(std::move(outside)) {}

  /// A program that the run started.
  void add(std::uint32_t program, const std::string& robot);
  /// A socket on the robot's host that belongs to no process, but to somebody who acts where the world steps
  /// (correspondent.hpp). `type`: SOCK_DGRAM or SOCK_STREAM.
  std::shared_ptr<Socket> open_socket(const std::string& robot, int type);
  /// Whether anybody on the robot's host has a datagram socket at this port.
  [[nodiscard]] bool is_bound(const std::string& robot, std::uint16_t port);
  /// A port of robot `to` as those on the host of `from` see it; nothing: they share no network.
  [[nodiscard]] std::optional<Endpoint> endpoint(const std::string& from, const std::string& to, std::uint16_t port);
  [[nodiscard]] bool has(std::uint32_t program) const { return processes_.contains(program); }
  [[nodiscard]] std::uint32_t number_of(std::uint32_t program) const { return processes_.at(program)->number; }
  /// What is answered is in answer(program, link) where nothing is returned.
  std::optional<Suspend> act(std::uint32_t program, std::uint32_t link, SimTime at, const protocol::Call& call,
                             std::span<const std::byte> payload);
  [[nodiscard]] bool waits(std::uint32_t program, std::uint32_t link) const;
  std::optional<Suspend> wake(std::uint32_t program, std::uint32_t link, SimTime at);
  [[nodiscard]] const Answer& answer(std::uint32_t program, std::uint32_t link) const;
  /// The process ended: its descriptors are closed, and its parent told.
  void ended(std::uint32_t program, SimTime at);
  /// It runs another program now; those of its descriptors that are not in `open` are closed.
  void executes(std::uint32_t program, SimTime at, const std::function<bool(int)>& open);
  /// "waits for 3 (tcp 10.0.0.1:80)"; "" when it does not.
  [[nodiscard]] std::string describe(std::uint32_t program) const;

  /// What kind of contract a call is for a cost model.
  [[nodiscard]] static bool may_wait(const protocol::Call& call);
  [[nodiscard]] static const char* name_of(protocol::SystemCall call);

 private:
  struct Task {
    protocol::Call call;
    std::vector<std::byte> payload;
    std::size_t written = 0;
    Answer answer;
    bool waiting = false;
    bool interrupted = false;
    std::vector<std::shared_ptr<File>> files;  // that it waits for
  };
  struct Process {
    std::uint32_t program = 0;
    std::uint32_t number = 0;
    std::uint32_t parent = 0;  // number; 1 = none
    std::int64_t real = 0;
    Host* host = nullptr;
    std::map<int, std::shared_ptr<File>> descriptors;
    PerLink<Task> tasks;
    bool signalled = false;  // it has a signal that comes with its next answer
    bool over = false;
    bool waited_for = false;
    std::vector<std::uint32_t> children;  // programs
    std::uint32_t prepared = 0;           // number of the child that comes
  };

  void changed(File& file, SimTime at) override;
  CallResult attempt(Process& process, Task& task, SimTime now);
  CallResult open_call(Process& process, Task& task, SimTime now);
  CallResult socket_call(Process& process, Task& task, SimTime now);
  CallResult read(Process& process, Task& task, SimTime now);
  CallResult write(Process& process, Task& task, SimTime now);
  CallResult poll(Process& process, Task& task, SimTime now);
  CallResult poll_set(Process& process, Task& task, SimTime now);
  CallResult timer(Process& process, Task& task);
  CallResult connect(Process& process, Task& task, Socket& socket, SimTime now);
  /// Where an address is outside of the run, and listed: the errno that sends the process there, or refuses.
  [[nodiscard]] CallResult go_outside(const Process& process, const char* does, const Endpoint& to, SimTime now);
  void refuse_once(const Process& process, const std::string& what, SimTime now);
  CallResult accept(Process& process, Task& task, Socket& socket, SimTime now);
  static CallResult name(Task& task, const Socket& socket, SimTime now);
  CallResult semaphore(Task& task, SimTime now);
  CallResult look_up(Process& process, Task& task);
  CallResult fork(Process& process, Task& task, SimTime now);
  CallResult forked(Process& process, Task& task, SimTime now);
  CallResult wait_child(Process& process, Task& task);
  CallResult kill(Process& process, const Task& task, SimTime now);
  void deliver(Process& to, int signal, SimTime now);
  [[nodiscard]] std::int64_t when_limit_passed(const Task& task) const;
  std::optional<Suspend> go_on(Process& process, std::uint32_t link, SimTime at);
  void finish(Process& process, std::uint32_t link, std::int64_t result);
  void stop_waiting(Process& process, std::uint32_t link);

  [[nodiscard]] std::shared_ptr<File> file(const Process& process, int descriptor) const;
  void open(Process& process, int descriptor, std::shared_ptr<File> file, SimTime now);
  void close(Process& process, int descriptor, SimTime now);
  [[nodiscard]] Process* process_numbered(std::uint32_t number);
  std::shared_ptr<Socket> make_socket(Process& process, int family, int type);

  House& house_;
  FileHouse& files_ = *this;  // as files see it
  Network network_;
  std::vector<OutsideSpec> outside_;
  std::set<std::pair<std::uint32_t, std::string>> refused_;  // by program
  UnixNames names_;
  std::vector<std::shared_ptr<EventFile>> semaphores_;  // that processes share
  std::map<std::string, std::size_t> semaphore_names_;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes_;  // by program
  std::uint32_t next_number_ = protocol::first_process;
};

}  // namespace isochron::programs
