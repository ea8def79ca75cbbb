#include "traffic/pedestrian.hpp"

#include <algorithm>
#include <cmath>

#include "traffic/ways.hpp"

namespace isochron {
namespace {

constexpr double kerb = 0.4;          // m before the road where it looks
constexpr double hurry = 1.7;         // times its speed
constexpr double acceleration = 2.5;  // m/s²; people start and stop within a step
constexpr double sure_s = 1.5;        // how long before a car it wants to be across
constexpr double horizon_s = 8;       // farther off it does not look
constexpr double close_s = 2.5;       // on the road: who is farther off will see it
constexpr double room = 1.2;          // m that it keeps from a car that stands in its way

}  // namespace

Pedestrian::Pedestrian(const world::Engine& engine, const Settings& settings, const AgentSection& section)
    : settings_(settings), path_(section.path), height_(engine.motion(settings.body).pose.position[2]) {
  arcs_ = {0};
  for (std::size_t i = 1; i < path_.size(); ++i) {
    arcs_.push_back(arcs_.back() + std::hypot(path_[i][0] - path_[i - 1][0], path_[i][1] - path_[i - 1][1]));
  }
  for (const WalkSection& road : section.crosses) {
    roads_.push_back({arc_of(path_, road.from), arc_of(path_, road.to), road.obeys});
  }
}

std::array<double, 2> Pedestrian::at(double arc) const {
  arc = std::clamp(arc, 0.0, arcs_.back());
  const auto after = std::upper_bound(arcs_.begin() + 1, arcs_.end() - 1, arc);
  const auto i = static_cast<std::size_t>(after - arcs_.begin());
  const double s = (arc - arcs_[i - 1]) / (arcs_[i] - arcs_[i - 1]);
  return {path_[i - 1][0] + s * (path_[i][0] - path_[i - 1][0]), path_[i - 1][1] + s * (path_[i][1] - path_[i - 1][1])};
}

double Pedestrian::meets_in(const Road& road, double speed, const world::Company& company) const {
  v2x::OwnPath way;
  way.spacing_m = 0.5;
  way.speed_m_s = way.wanted_m_s = speed;
  way.width_m = way.length_m = 2 * settings_.half_width;
  for (double arc = walked_; arc <= road.to + way.spacing_m; arc += way.spacing_m) {
    const auto p = at(arc);
    way.points.push_back({p[0], p[1], 0});
  }
  v2x::WarningSettings settings;
  settings.horizon_s = horizon_s;
  settings.beside_m = 0.4;
  settings.apart_s = sure_s;
  settings.clearance_m = 0;
  double least = 1e9;
  for (const world::Seen& other : company) {
    const v2x::Expected car = expected(other);
    if (car.speed_m_s < 1) continue;  // it stands, and is walked around
    if (const auto threat = v2x::find_threat(way, car, settings)) least = std::min(least, threat->in_s);
  }
  return least;
}

void Pedestrian::decide(const Awareness& awareness, const LampBoard& lamps) {
  const world::Company& company = awareness.of(settings_.eyes);
  wanted_ = walked_ < arcs_.back() ? settings_.speed : 0;
  for (const Road& road : roads_) {
    if (walked_ > road.to || walked_ < road.from - kerb - 2) continue;
    const bool on_it = walked_ > road.from;
    const double meets = meets_in(road, settings_.speed, company);
    if (!on_it) {
      const auto lamp = lamps.find(road.signal);
      const bool green = lamp == lamps.end() || lamp->second == Lamp::green;
      if ((!green || meets < 1e8) && walked_ > road.from - kerb) wanted_ = 0;
    } else if (meets < close_s) {
      // Away from it if that helps; or else it stands and lets the car by.
      wanted_ = meets_in(road, hurry * settings_.speed, company) > 1e8 ? hurry * settings_.speed : 0;
    }
  }
  // Nobody walks into a car.
  const auto here = at(walked_), next = at(walked_ + room);
  for (const world::Seen& other : company) {
    const world::Vec3& there = other.motion.pose.position;
    const world::Vec3 forward = world::rotate(other.motion.pose.orientation, {1, 0, 0});
    const auto within = [&](const std::array<double, 2>& p) {
      const double dx = p[0] - there[0], dy = p[1] - there[1];
      return std::fabs(dx * forward[0] + dy * forward[1]) < other.half_length + settings_.half_width &&
             std::fabs(dy * forward[0] - dx * forward[1]) < other.half_width + settings_.half_width;
    };
    if (within(next) && !within(here)) wanted_ = 0;
  }
}

void Pedestrian::act(world::Engine& engine, SimSpan dt, world::Wrenches&) {
  const double most = acceleration * dt.seconds();
  speed_ += std::clamp(wanted_ - speed_, -most, most);
  walked_ = std::min(walked_ + speed_ * dt.seconds(), arcs_.back());
  if (walked_ >= arcs_.back()) speed_ = 0;
  engine.set_motion(settings_.body, motion());
}

world::Motion Pedestrian::motion() const {
  const auto p = at(walked_), next = at(walked_ + 0.1), before = at(walked_ - 0.1);
  const double heading = std::atan2(next[1] - before[1], next[0] - before[0]);
  world::Motion motion;
  motion.pose.position = {p[0], p[1], height_};
  motion.pose.orientation = {std::cos(heading / 2), 0, 0, std::sin(heading / 2)};
  motion.linear = {speed_ * std::cos(heading), speed_ * std::sin(heading), 0};
  return motion;
}

}  // namespace isochron
