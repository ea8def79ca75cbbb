#include "coordinator/policy.hpp"

#include <tuple>

namespace isochron::coordinator {

std::size_t FixedPriority::pick(std::span<const Candidate> ready) const {
  const auto rank = [](const Candidate& c) { return std::tuple(-c.priority, !c.running, c.ready_since); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < ready.size(); ++i) {
    if (rank(ready[i]) < rank(ready[best])) best = i;
  }
  return best;
}

std::size_t LeastProgress::pick(std::span<const Candidate> ready) const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < ready.size(); ++i) {
    if (ready[i].executed < ready[best].executed) best = i;
  }
  return best;
}

}  // namespace isochron::coordinator
