#pragma once
// The program's end of the shared memory: claims a link for each thread and carries one request over it. Used by the
// client library and by the interposed clock, which must not need the C++ runtime; so: no exceptions, no allocation.
//
// Threads: any. Cost: ask() rings a futex and sleeps on another one.

#include <cstddef>
#include <cstdint>

#include "client/clock_face.hpp"
#include "link/program_protocol.hpp"

namespace isochron::client {

class SharedLink {
 public:
  /// From "PAGES,BELL"; null text when mapped, otherwise what is wrong.
  const char* open(const char* descriptors);
  [[nodiscard]] bool is_open() const { return pages_ != nullptr; }
  /// A forked child must not talk on its parent's links.
  void close_after_fork();

  /// The calling thread's link; null when all are taken.
  protocol::Link* mine();
  /// Gives the calling thread's link back, for a thread that ends.
  void release();
  /// Sends what stands in the link's exchange and payload and waits for the answer there.
  void ask(protocol::Link& link);
  /// Sleeps until then; false = the run is over. In a signal handler that came while its thread waits, the link is
  /// taken: then it returns at once.
  bool wait(protocol::Link& link, std::int64_t until);
  /// The program's clock, whatever its mode.
  std::int64_t now();

  [[nodiscard]] protocol::Pages* pages() const { return pages_; }

 private:
  std::int64_t ask_for_time(protocol::Link& link);
  protocol::Pages* pages_ = nullptr;
  protocol::Bell* bell_ = nullptr;
};

}  // namespace isochron::client
