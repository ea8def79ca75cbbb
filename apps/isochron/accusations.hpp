#pragma once
// Nodes of a launch that say of each other that they are not heard of any more. Where the network is cut both sides
// say so, and who said it first proves nothing. So all that is said within a grace is looked at together: gone is the
// place that most others have lost.
//
//     one ── two ── three        two is cut off: one and three miss it, it misses one and three
//
// Threads: owner thread.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace isochron::app {

class Accusations {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Accusations(std::chrono::nanoseconds grace) : grace_(grace) {}

  void say(std::size_t witness, std::size_t missing, Time now);
  /// A node ended, or was started anew: nothing that was said of it or by it counts any more.
  void forget(std::size_t node);
  /// The nodes that are taken for lost; none before the grace is over. `places`: where each node is; nodes of one place
  /// are lost together. "": on this machine, each for itself.
  std::vector<std::size_t> judge(const std::vector<std::string>& places, Time now);

 private:
  struct Accusation {
    std::size_t witness, missing;
  };
  std::chrono::nanoseconds grace_;
  std::vector<Accusation> all_;
  Time first_{};
};

}  // namespace isochron::app
