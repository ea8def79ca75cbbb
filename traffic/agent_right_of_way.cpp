#include "traffic/agent_right_of_way.hpp"

#include <algorithm>
#include <cmath>

#include "traffic/ways.hpp"

namespace isochron {
namespace {

constexpr double comfortable = 2.5;               // braking, m/s²
constexpr double hardest = 7;                     // what it tries for a red that comes out of nothing
constexpr double beside = 1.8;                    // half a lane
constexpr double in_the_way = 7, gone_after = 5;  // m before and behind the place where ways meet
constexpr double slow = 2.5;                      // m/s: who is faster will be out of the way
constexpr double looks_ahead_s = 2;               // to its sides: who is farther off may still stop
constexpr double patience_s = 4;

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

/// Whether somebody who has so far to its line looks as if it stopped there.
bool seems_to_stop(double speed, double metres, double braking) {
  const double needed = braking_for(speed, metres);
  return needed < 1.5 || (braking > 1 && needed < 4);
}

}  // namespace

void RightOfWay::remove(std::uint32_t body) {
  std::erase_if(cars_, [body](const Car& car) { return car.who.body == body; });
  std::erase(yielding_, body);
}

void RightOfWay::add(const Sitting& who, const RouteSection& route) {
  remove(who.body);
  Car car{who};
  car.signal = route.obeys;
  if (route.stop) car.stop_at = arc_of(route.path, *route.stop);
  if (route.stop && route.clear) car.clear_at = arc_of(route.path, *route.clear);
  if (route.gives_way) {
    yielding_.push_back(who.body);
    car.wait_at = arc_of(route.path, route.gives_way->before);
    car.gap_s = route.gives_way->gap.seconds() * who.temper.gap_share;
    for (const CrossedSection& lane : route.gives_way->to) {
      const double dx = lane.meets[0] - lane.from[0], dy = lane.meets[1] - lane.from[1], length = std::hypot(dx, dy);
      car.lanes.push_back({lane.from[0], lane.from[1], dx / length, dy / length, length});
    }
  }
  cars_.push_back(std::move(car));
}

Lamp RightOfWay::known(Car& car, const LampBoard& lamps, SimTime now) const {
  const auto lamp = lamps.find(car.signal);
  const Lamp shown = lamp == lamps.end() ? Lamp::green : lamp->second;
  if (!car.changed) {
    car.known = car.shown = shown;
    car.changed = now;
  }
  if (shown != car.shown) {
    car.shown = shown;
    car.changed = now;
  }
  if (now - *car.changed >= car.who.temper.reaction) car.known = car.shown;
  return car.known;
}

bool RightOfWay::must_stop(Car& car, Lamp lamp, double speed, const ToldGreen& told) const {
  const double left = car.stop_at - car.who.driver->travelled(), needed = braking_for(speed, left);
  if (lamp == Lamp::green) car.decided = car.drives_on = false;
  if (left < -1 || lamp == Lamp::green) return false;
  if (!car.decided) car.drives_on = needed > (lamp == Lamp::yellow ? car.who.temper.go_above : hardest);
  car.decided = true;
  if (needed < comfortable / 2) car.drives_on = false;  // somebody ahead held it up
  return !car.drives_on && !may_roll_on(left, speed, told(*car.who.driver));
}

/// Whether nobody comes who would be there before one is through.
bool RightOfWay::may_cross(const Car& car, bool green) const {
  for (const world::Seen& other : awareness_.of(car.who.eyes)) {
    if (std::find(yielding_.begin(), yielding_.end(), other.body) != yielding_.end()) continue;
    const world::Motion& motion = other.motion;
    for (const Lane& lane : car.lanes) {
      const double px = motion.pose.position[0] - lane.x, py = motion.pose.position[1] - lane.y;
      const double past_line = px * lane.ux + py * lane.uy, ahead = lane.length - past_line;
      if (std::fabs(px * lane.uy - py * lane.ux) > beside || ahead < -gone_after) continue;
      if (ahead < in_the_way) return false;
      const double speed = motion.linear[0] * lane.ux + motion.linear[1] * lane.uy;
      if (speed < 0.3) continue;  // it stands, or goes the other way
      // What is not green for one is not green for who comes towards one.
      if (!green && past_line < 0 && seems_to_stop(speed, -past_line, other.braking)) continue;
      if (soonest(ahead, speed) < car.gap_s) return false;
    }
  }
  return true;
}

/// Whether somebody is slow within the crossing, or stands right behind it, on one's way.
bool RightOfWay::is_full(const Car& car) const {
  if (car.clear_at < car.stop_at) return false;
  const double box = car.clear_at - car.stop_at, room = 2 * car.who.half_length + 2;
  for (const world::Seen& other : awareness_.of(car.who.eyes)) {
    if (std::hypot(other.motion.linear[0], other.motion.linear[1]) > slow) continue;
    const auto on =
        car.who.driver->ahead(car.stop_at, other.motion.pose.position, box + room + other.half_length, beside + 0.3);
    if (on && *on > 1) return true;
  }
  return false;
}

/// For whoever is about to cross its way, as far as it sees and can still stop.
void RightOfWay::beware(Car& car, const world::Motion& own, double speed) {
  world::PathDriver& driver = *car.who.driver;
  const double look = 15 + 3 * speed, begin = driver.travelled();
  path_.points.clear();
  path_.speed_m_s = speed;
  path_.wanted_m_s = driver.wanted_speed();
  path_.length_m = 2 * car.who.half_length;
  path_.width_m = 2 * car.who.half_width;
  for (double arc = begin; arc <= std::min(begin + look, driver.length()); arc += path_.spacing_m) {
    const auto p = driver.at(arc);
    path_.points.push_back({p[0], p[1], 0});
  }
  v2x::WarningSettings settings;
  settings.horizon_s = looks_ahead_s;
  settings.beside_m = 0.3;
  settings.apart_s = 0.5;
  double stop = 1e18;
  bool stands = false;
  for (const world::Seen& other : awareness_.of(car.who.eyes)) {
    const double dx = other.motion.pose.position[0] - own.pose.position[0];
    const double dy = other.motion.pose.position[1] - own.pose.position[1];
    if (dx * dx + dy * dy > (look + 15) * (look + 15)) continue;
    const v2x::Expected there = expected(other);
    // Of two who are in each other's way the same one goes on.
    if (speed < 3 && there.speed_m_s < 3 && there.speed_m_s > 0.3 && car.who.body < other.body) continue;
    const auto threat = v2x::find_threat(path_, there, settings);
    if (!threat || threat->stop_within_m + settings.clearance_m < speed * speed / (2 * hardest)) continue;
    if (there.speed_m_s < 1 && car.stood_s > patience_s) continue;
    stands = stands || there.speed_m_s < 1;
    stop = std::min(stop, begin + std::max(0.0, threat->stop_within_m) + 2);  // drivers stop that short of a place
  }
  car.stood_s =
      stop < 1e17 && speed < 0.3 ? car.stood_s + period_.seconds() : std::max(0.0, car.stood_s - period_.seconds());
  if (!stands && stop > 1e17 && speed > 2) car.stood_s = 0;
  driver.beware_before(stop);
}

void RightOfWay::apply(const world::Engine& engine, SimTime now, const LampBoard& lamps, const ToldGreen& told) {
  for (Car& car : cars_) {
    world::PathDriver& driver = *car.who.driver;
    const world::Motion own = engine.motion(car.who.body);
    const double speed = std::hypot(own.linear[0], own.linear[1]), travelled = driver.travelled();
    double stop = 1e18;
    bool green = true;
    if (!car.signal.empty()) {
      const Lamp lamp = known(car, lamps, now);
      green = lamp == Lamp::green;
      if (must_stop(car, lamp, speed, told)) stop = car.stop_at;
    }
    const double left = car.stop_at - travelled;
    if (stop > 1e17 && left > 0 && left < 40 && braking_for(speed, left) < comfortable && is_full(car)) {
      stop = car.stop_at;
    }
    if (const double to_wait = car.wait_at - travelled; !car.lanes.empty() && !car.goes && to_wait < 60) {
      const bool free = may_cross(car, green) && (left > 0 || !is_full(car));
      car.goes = free && to_wait < 4 && stop > 1e17;
      if (!free) stop = std::min(stop, car.wait_at);
    }
    driver.stop_before(stop);
    if (car.who.temper.human) beware(car, own, speed);
  }
}

}  // namespace isochron
