#include "world/fields.hpp"

#include <cmath>

namespace isochron::world {

PenaltyWalls::PenaltyWalls(std::vector<std::uint32_t> bodies, Settings settings)
    : bodies_(std::move(bodies)), settings_(settings) {}

double PenaltyWalls::force(double x, const Settings& s) {
  const double d = s.half - std::fabs(x);
  return d < s.margin ? -std::copysign(s.stiffness * (s.margin - d), x) : 0;
}

void PenaltyWalls::act(Engine& engine, SimSpan, Wrenches& wrenches) {
  for (const std::uint32_t body : bodies_) {
    const Vec3 at = engine.motion(body).pose.position;
    wrenches.add(body, {{force(at[0], settings_), force(at[1], settings_), force(at[2], settings_)}, {}});
  }
}

Wind::Wind(std::vector<std::uint32_t> bodies, Vec3 velocity, double drag)
    : bodies_(std::move(bodies)), velocity_(velocity), drag_(drag) {}

void Wind::act(Engine& engine, SimSpan, Wrenches& wrenches) {
  for (const std::uint32_t body : bodies_) {
    const Vec3 relative = velocity_ - engine.motion(body).linear;
    wrenches.add(body, {drag_ * length(relative) * relative, {}});
  }
}

}  // namespace isochron::world
