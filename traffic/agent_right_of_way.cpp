#include "traffic/agent_right_of_way.hpp"

#include <algorithm>
#include <cmath>

namespace isochron {
namespace {

constexpr double comfortable = 2.5, hard = 4;     // braking, m/s²
constexpr double beside = 1.8;                    // half a lane
constexpr double in_the_way = 7, gone_after = 5;  // m before and behind the place where ways meet

/// Arc length of the point of an open path that is nearest to p.
double arc_of(const std::vector<std::array<double, 2>>& path, const std::array<double, 2>& p) {
  double best = 1e300, best_arc = 0, arc = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const double dx = path[i + 1][0] - path[i][0], dy = path[i + 1][1] - path[i][1], length = std::hypot(dx, dy);
    const double along = ((p[0] - path[i][0]) * dx + (p[1] - path[i][1]) * dy) / std::max(length * length, 1e-12);
    const double share = std::clamp(along, 0.0, 1.0);
    const double off = std::hypot(path[i][0] + share * dx - p[0], path[i][1] + share * dy - p[1]);
    if (off < best) {
      best = off;
      best_arc = arc + share * length;
    }
    arc += length;
  }
  return best_arc;
}

/// The braking that it takes to stand within so many metres.
double braking_for(double speed, double metres) { return speed * speed / (2 * std::max(metres, 0.1)); }

/// It will be green when one gets there; and if not, there is still room to stop.
bool may_roll_on(double left, double speed, std::optional<double> green_in_s) {
  return green_in_s && left > 0.2 + *green_in_s * speed && braking_for(speed, left - 2) < comfortable;
}

/// Seconds for so many metres if it picks up speed.
double soonest(double metres, double speed) {
  constexpr double pickup = 1.5;
  return (std::sqrt(speed * speed + 2 * pickup * metres) - speed) / pickup;
}

}  // namespace

void RightOfWay::add(world::PathDriver& driver, std::uint32_t body, const AgentSection& section) {
  if (section.obeys.empty() && !section.gives_way) return;
  Car car{&driver, body, section.obeys};
  if (section.stop) car.stop_at = arc_of(section.path, *section.stop);
  if (section.gives_way) {
    car.wait_at = arc_of(section.path, section.gives_way->before);
    car.gap_s = section.gives_way->gap.seconds();
    for (const CrossedSection& lane : section.gives_way->to) {
      const double dx = lane.meets[0] - lane.from[0], dy = lane.meets[1] - lane.from[1], length = std::hypot(dx, dy);
      car.lanes.push_back({lane.from[0], lane.from[1], dx / length, dy / length, length});
    }
  }
  cars_.push_back(std::move(car));
}

/// Whether nobody comes who would be there before one is through.
bool RightOfWay::may_cross(const Car& car, const world::Engine& engine, bool green) const {
  for (const std::uint32_t other : others_) {
    if (other == car.body) continue;
    const world::Motion motion = engine.motion(other);
    for (const Lane& lane : car.lanes) {
      const double px = motion.pose.position[0] - lane.x, py = motion.pose.position[1] - lane.y;
      const double past_line = px * lane.ux + py * lane.uy, ahead = lane.length - past_line;
      if (std::fabs(px * lane.uy - py * lane.ux) > beside || ahead < -gone_after) continue;
      if (ahead < in_the_way) return false;
      const double speed = motion.linear[0] * lane.ux + motion.linear[1] * lane.uy;
      if (speed < 0.3) continue;  // it stands, or goes the other way
      // What is not green for one is not green for who comes towards one: it stops if it can.
      if (!green && past_line < 0 && braking_for(speed, -past_line) < hard) continue;
      if (soonest(ahead, speed) < car.gap_s) return false;
    }
  }
  return true;
}

void RightOfWay::apply(const world::Engine& engine, const LampBoard& lamps, const ToldGreen& told) {
  for (Car& car : cars_) {
    double stop = 1e18;
    const double travelled = car.driver->travelled();
    const auto lamp = lamps.find(car.signal);
    const bool green = lamp == lamps.end() || lamp->second == Lamp::green;
    if (const double left = car.stop_at - travelled; !green && left > -1) {
      const world::Vec3 v = engine.motion(car.body).linear;
      if (!may_roll_on(left, std::hypot(v[0], v[1]), told(*car.driver))) stop = car.stop_at;
    }
    if (const double left = car.wait_at - travelled; !car.lanes.empty() && !car.goes && left < 60) {
      const bool free = may_cross(car, engine, green);
      car.goes = free && left < 4 && stop > 1e17;
      if (!free) stop = std::min(stop, car.wait_at);
    }
    car.driver->stop_before(stop);
  }
}

}  // namespace isochron
