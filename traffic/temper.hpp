#pragma once
// The habits of one driver. An ideal one has none; a human's are drawn from the run's seed and its name, so that the same
// car has the same driver in each run that is compared.
//
// Where they come from: reaction times and their spread are those of alert drivers in traffic; time headways are as short
// as a queue needs that is to leave a green signal at the published 1,900 vehicles an hour (in a sketch of the same law
// on one lane; not yet measured in a world); 3.05 m/s² is the deceleration that yellow times are designed for.

#include <string>

#include "core/random.hpp"
#include "core/time.hpp"
#include "scenario/agents_section.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

struct Temper {
  bool human = false;
  SimSpan reaction{};      // from seeing to acting
  double go_above = 3.05;  // m/s²: who would have to brake harder for a yellow drives on
  double gap_share = 1;    // of the gap that others ask for when they turn across somebody's way
  world::CarFollowing follow{};
};

[[nodiscard]] Temper temper_of(DriverKind kind, std::uint64_t seed, const std::string& name);

}  // namespace isochron
