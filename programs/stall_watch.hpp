#pragma once
// Nothing has happened in simulated time for long: who is where, and for whom they wait, is told once for each
// standstill.
//
// Threads: the coordinator's. Cost: allocates when it tells.

#include "programs/ensemble.hpp"
#include "programs/stacks.hpp"

namespace isochron::programs {

class StallWatch {
 public:
  StallWatch(Ensemble& all, const Stacks& stacks) : all_(all), stacks_(stacks) {}
  /// This was done last.
  void look(const Timeline::Event& event);

 private:
  void tell(std::uint32_t culprit);

  Ensemble& all_;
  const Stacks& stacks_;
  WallTime moved_;  // something happened in simulated time
  bool told_ = false;
};

}  // namespace isochron::programs
