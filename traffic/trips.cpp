#include "traffic/trips.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ensure.hpp"

namespace isochron {
namespace {

constexpr double before_the_end = 3;  // m: it has left
constexpr double standstill = 2, headway = 1, braking = 2;
constexpr SimSpan too_late = std::chrono::seconds(1), towed_after = std::chrono::seconds(10);

/// Half of what a box takes up in a direction.
double reach(const world::Motion& m, double half_length, double half_width, double ux, double uy) {
  const world::Vec3 forward = world::rotate(m.pose.orientation, {1, 0, 0});
  return half_length * std::fabs(forward[0] * ux + forward[1] * uy) +
         half_width * std::fabs(forward[0] * uy - forward[1] * ux);
}

}  // namespace

world::PathDriverSettings settings_of(const Temper& temper, double speed) {
  world::PathDriverSettings settings;
  settings.follow = temper.follow;
  settings.follow.desired_speed = speed;
  return settings;
}

void Trips::add(Car car) {
  travellers_.push_back({std::move(car)});
  leave(travellers_.back());
}

const RouteSection& Trips::route(const std::string& name) const {
  const auto found =
      std::find_if(routes_.begin(), routes_.end(), [&](const auto& route) { return route.first == name; });
  ENSURE(found != routes_.end(), "a trip on a route that does not exist");
  return found->second;
}

void Trips::leave(Traveller& traveller) {
  traveller.away = true;
  traveller.crashed.reset();
  traveller.car.take_away();
  right_of_way_.remove(traveller.car.seat.body);
  if (radio_ != nullptr) radio_->let_talk(traveller.car.name, false);
}

/// Whether its box and somebody else's overlap: no side of either is between them.
bool Trips::touches(const Traveller& traveller, const world::Engine& engine) const {
  const RightOfWay::Sitting& seat = traveller.car.seat;
  const world::Motion own = engine.motion(seat.body);
  for (const Awareness::Other& other : awareness_.others()) {
    if (other.body == seat.body) continue;
    const world::Motion its = engine.motion(other.body);
    const double dx = its.pose.position[0] - own.pose.position[0], dy = its.pose.position[1] - own.pose.position[1];
    const double most = seat.half_length + seat.half_width + other.half_length + other.half_width;
    if (dx * dx + dy * dy > most * most) continue;
    bool apart = false;
    for (const world::Motion* box : {&own, &its}) {
      const world::Vec3 f = world::rotate(box->pose.orientation, {1, 0, 0});
      for (const auto& [ux, uy] : {std::pair{f[0], f[1]}, std::pair{-f[1], f[0]}}) {
        apart = apart || std::fabs(dx * ux + dy * uy) > reach(own, seat.half_length, seat.half_width, ux, uy) +
                                                            reach(its, other.half_length, other.half_width, ux, uy);
      }
    }
    if (!apart) return true;
  }
  return false;
}

/// How fast it may be where it enters, behind whoever is there; 0: there is no room.
double Trips::entry_speed(const Traveller& traveller, const TripSection& trip, const world::Engine& engine) const {
  const world::PathDriver& driver = *traveller.car.seat.driver;
  const auto here = driver.at(trip.from), next = driver.at(trip.from + 1);
  const double ux = next[0] - here[0], uy = next[1] - here[1], back = std::min(trip.from, 10.0);
  double speed = trip.speed;
  for (const Awareness::Other& other : awareness_.others()) {
    if (other.body == traveller.car.seat.body) continue;
    const world::Motion motion = engine.motion(other.body);
    const auto ahead = driver.ahead(trip.from - back, motion.pose.position, 100 + back);
    const double both = other.half_length + traveller.car.seat.half_length;
    const double near = std::hypot(motion.pose.position[0] - here[0], motion.pose.position[1] - here[1]);
    if (near < both) return 0;
    if (!ahead || *ahead - back < -both - standstill) continue;
    const double gap = *ahead - back - both - standstill, its = motion.linear[0] * ux + motion.linear[1] * uy;
    if (gap <= 0) return 0;
    speed = std::min({speed, gap / headway, std::sqrt(its * its + 2 * braking * gap)});
  }
  return speed > 1 ? speed : 0;
}

void Trips::enter(Traveller& traveller, const world::Engine& engine, SimTime now) {
  const Car& car = traveller.car;
  const TripSection& trip = car.section->trips[traveller.next];
  if (now < SimTime::zero() + trip.at) return;
  const RouteSection& way = route(trip.route);
  const std::string who = car.name + "/" + std::to_string(traveller.next);
  RightOfWay::Sitting seat = car.seat;
  seat.temper = temper_of(car.section->driver, seed_, who);
  world::PathDriverSettings settings = settings_of(seat.temper, trip.speed);
  settings.drives_on = true;
  seat.driver->begin(way.path, settings);
  const double speed = entry_speed(traveller, trip, engine);
  if (speed <= 0) return;
  if (!car.programmed) {
    awareness_.renew(seat.eyes, seat.temper, RandomStream(seed_, "eyes/" + who));
    right_of_way_.add(seat, way);
  }
  const auto here = seat.driver->at(trip.from), next = seat.driver->at(trip.from + 1);
  car.put(here[0], here[1], std::atan2(next[1] - here[1], next[0] - here[0]), speed);
  traveller.away = false;
  ++traveller.next;
  if (radio_ == nullptr) return;
  radio_->renew(car.name, static_cast<std::uint32_t>(traveller.next));
  radio_->change_driver(car.name, seat.temper.reaction);
  radio_->let_talk(car.name, true);
}

void Trips::apply(const world::Engine& engine, SimTime now) {
  for (Traveller& traveller : travellers_) {
    const auto& trips = traveller.car.section->trips;
    while (!begun_ && traveller.next < trips.size() && SimTime::zero() + trips[traveller.next].at + too_late < now) {
      ++traveller.next;  // a client that begins late has missed it
    }
    world::PathDriver& driver = *traveller.car.seat.driver;
    if (!traveller.away && traveller.car.programmed) driver.be_at(engine.motion(traveller.car.seat.body).pose.position);
    if (!traveller.away && !traveller.crashed && touches(traveller, engine)) traveller.crashed = now;
    if (traveller.crashed && now - *traveller.crashed >= towed_after) leave(traveller);
    if (!traveller.away && driver.travelled() > driver.length() - before_the_end) leave(traveller);
    if (traveller.away && traveller.next < trips.size()) enter(traveller, engine, now);
  }
  begun_ = true;
}

}  // namespace isochron
