#include "programs/policy.hpp"

#include <algorithm>
#include <tuple>

namespace isochron::programs {

Choice FixedPriority::pick(std::span<const Candidate> ready, SimTime /*now*/) {
  Choice best;
  for (std::size_t i = 1; i < ready.size(); ++i) {
    const Candidate& leader = ready[best.index];
    if (std::tuple(leader.priority, ready[i].queued) < std::tuple(ready[i].priority, leader.queued)) best.index = i;
  }
  const int urgency = ready[best.index].priority;
  const auto equals =
      std::count_if(ready.begin(), ready.end(), [&](const Candidate& c) { return c.priority == urgency; });
  if (equals > 1) best.slice = slice_;
  return best;
}

Choice LeastProgress::pick(std::span<const Candidate> ready, SimTime /*now*/) {
  Choice best;
  for (std::size_t i = 1; i < ready.size(); ++i) {
    if (ready[i].executed < ready[best.index].executed) best.index = i;
  }
  if (ready.size() > 1) best.slice = slice_;
  return best;
}

}  // namespace isochron::programs
