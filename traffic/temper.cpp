#include "traffic/temper.hpp"

#include <algorithm>

namespace isochron {

Temper temper_of(DriverKind kind, std::uint64_t seed, const std::string& name) {
  Temper temper;
  if (kind == DriverKind::ideal) return temper;
  RandomStream draws(seed, "temper/" + name);
  const auto drawn = [&draws](double mean, double deviation, double least, double most) {
    return std::clamp(mean + deviation * draws.normal(), least, most);
  };
  temper.human = true;
  const double reaction = drawn(0.7, 0.15, 0.4, 1.2);
  temper.reaction = SimSpan::from_seconds(reaction);
  temper.go_above = drawn(3.05, 0.4, 2.2, 4.0);
  temper.gap_share = drawn(1, 0.12, 0.75, 1.3);
  // Who is slow keeps a longer distance.
  temper.follow.headway = std::max(0.6, drawn(0.8, 0.1, 0.6, 1.2) + reaction - 0.7);
  temper.follow.acceleration = drawn(2.2, 0.2, 1.6, 2.8);
  temper.follow.braking = drawn(2.5, 0.25, 1.8, 3.2);
  return temper;
}

}  // namespace isochron
