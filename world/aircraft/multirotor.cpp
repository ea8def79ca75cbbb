#include "world/aircraft/multirotor.hpp"

#include <algorithm>
#include <cmath>

#include "world/aircraft/atmosphere.hpp"
#include "world/names.hpp"

namespace isochron::world {
namespace {

constexpr double radii_of_effect = 5;  // above so many radii the ground adds less than 0.3 %

Vec3 drag_of(const Vec3& area, const Vec3& through_air) {
  const double pressure = 0.5 * isa::sea_level_density * length(through_air);
  return {-pressure * area[0] * through_air[0], -pressure * area[1] * through_air[1],
          -pressure * area[2] * through_air[2]};
}

}  // namespace

double RotorCurve::at(double speed) const {
  if (points.empty()) return factor * speed * speed;
  const auto after = std::find_if(points.begin(), points.end(), [speed](const auto& p) { return p[0] >= speed; });
  if (after == points.end()) {
    const double beyond = speed / points.back()[0];
    return points.back()[1] * beyond * beyond;
  }
  const std::array<double, 2> from = after == points.begin() ? std::array<double, 2>{} : *(after - 1);
  const double width = (*after)[0] - from[0];
  return width > 0 ? from[1] + ((*after)[1] - from[1]) * (speed - from[0]) / width : (*after)[1];
}

double ground_effect(double radius, double height) {
  const double ratio = radius / (4 * std::max(height, 0.5 * radius));
  return 1 / (1 - ratio * ratio);
}

Multirotor::Multirotor(const Engine& engine, std::string body, MultirotorSettings settings,
                       std::shared_ptr<const Air> air, std::shared_ptr<const Ground> ground, std::uint64_t seed)
    : name_(std::move(body)),
      settings_(std::move(settings)),
      air_(std::move(air)),
      ground_(settings_.ground_effect ? std::move(ground) : nullptr),
      gusts_(seed, "aircraft/" + name_ + "/gusts"),
      spins_(settings_.rotors.size()) {
  ENSURE(air_ != nullptr, "an aircraft needs air");
  const Catalog& catalog = engine.catalog();
  const auto found = catalog.body(name_);
  if (!found) throw no_such("body", name_, catalog.bodies);
  if (!engine.can_place(*found)) {
    throw InputError(Place{}, "body `" + name_ + "` cannot be an aircraft: it has no free joint");
  }
  body_ = *found;
  centre_ = catalog.centres[body_];
  double lowest = 0;
  for (const Rotor& rotor : settings_.rotors) lowest = std::min(lowest, rotor.position[2]);
  reach_ = radii_of_effect * settings_.rotor.radius - lowest;
  if (settings_.battery) battery_.begin(*settings_.battery);
}

void Multirotor::begin_airborne(const Engine& engine) {
  double lifting = 0;
  for (const Rotor& rotor : settings_.rotors) lifting += std::max(0.0, rotor.axis[2]);
  const double weight = engine.catalog().masses[body_] * length(engine.gravity());
  double low = 0, high = settings_.rotor.max_speed;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (settings_.rotor.thrust.at(middle) * lifting < weight ? low : high) = middle;
  }
  for (Spin& spin : spins_) {
    spin.speed = high;
    spin.command = std::min(1.0, high / settings_.rotor.max_speed);
  }
}

std::vector<ActuatorInfo> Multirotor::actuators() const {
  std::vector<ActuatorInfo> all;
  for (std::size_t i = 1; i <= spins_.size(); ++i) all.push_back({name_ + "/motor" + std::to_string(i), 0, 1});
  return all;
}

std::vector<SensorInfo> Multirotor::sensors() const {
  const auto n = static_cast<std::uint32_t>(spins_.size());
  return {{name_ + "/rotor_speed", n}, {name_ + "/thrust", n}, {name_ + "/battery", 5}, {name_ + "/wind", 3}};
}

void Multirotor::read(std::span<double> values) const {
  double* to = values.data();
  for (const Spin& spin : spins_) *to++ = spin.speed;
  for (const Spin& spin : spins_) *to++ = spin.thrust;
  const Battery& b = battery_;
  for (const double value : {b.voltage, b.current, settings_.battery ? b.charge : 1, b.power, b.energy}) *to++ = value;
  std::copy(wind_.begin(), wind_.end(), to);
}

void Multirotor::set_step(double dt) {
  if (dt == dt_) return;
  dt_ = dt;
  keep_up_ = settings_.rotor.spin_up > 0 ? std::exp(-dt / settings_.rotor.spin_up) : 0;
  keep_down_ = settings_.rotor.spin_down > 0 ? std::exp(-dt / settings_.rotor.spin_down) : 0;
}

/// The wind here and now. Gusts are along the way of the air past the aircraft, across it, and vertical.
Vec3 Multirotor::air_at(const Motion& motion, double dt) {
  if (!air_->gusts_given && !(air_->gusts > 0)) return air_->wind;
  const Vec3 past = air_->wind - motion.linear;
  const double level = std::sqrt(past[0] * past[0] + past[1] * past[1]);
  const double height = motion.pose.position[2] - height_of_ground(motion);
  const GustSize size = air_->gusts_given ? *air_->gusts_given : low_altitude_gusts(air_->gusts, height);
  const Vec3 gust = gusts_.step(size, length(past), dt);
  const double c = level > 1e-9 ? past[0] / level : 1, s = level > 1e-9 ? past[1] / level : 0;
  return air_->wind + Vec3{c * gust[0] - s * gust[1], s * gust[0] + c * gust[1], gust[2]};
}

double Multirotor::height_of_ground(const Motion& motion) const {
  const Vec3& p = motion.pose.position;
  const auto below = ground_ ? ground_->below(p[0], p[1], p[2]) : std::nullopt;
  return below ? below->height : 0;
}

/// One rotor over one step. `lift`: its hub's height over ground, or more than the ground's reach.
void Multirotor::turn(std::size_t i, const Vec3& through_air, const Vec3& turning, double lift, double dt, Sum& sum) {
  const RotorSettings& r = settings_.rotor;
  const Rotor& rotor = settings_.rotors[i];
  Spin& spin = spins_[i];
  const double volts = settings_.battery ? battery_.voltage / settings_.battery->full : 1;
  const double wanted = std::clamp(spin.command, 0.0, 1.0) * r.max_speed * volts;
  const double before = spin.speed;
  spin.speed = wanted + (before - wanted) * (wanted > before ? keep_up_ : keep_down_);
  const double mean = 0.5 * (before + spin.speed);

  const Vec3 arm = rotor.position - centre_;
  const Vec3 hub = through_air + cross(turning, arm);
  const double axial = dot(hub, rotor.axis);
  double thrust = 0.5 * (r.thrust.at(before) + r.thrust.at(spin.speed)) - r.climb * mean * axial;
  if (lift < reach_) thrust *= ground_effect(r.radius, lift);
  spin.thrust = spin.blades * thrust;
  const double torque = spin.blades * 0.5 * (r.torque.at(before) + r.torque.at(spin.speed));
  const Vec3 force = spin.thrust * rotor.axis - (spin.blades * r.induced_drag * mean) * (hub - axial * rotor.axis);
  const double reaction = torque + r.inertia * (spin.speed - before) / dt;
  sum.force = sum.force + force;
  sum.torque = sum.torque + cross(arm, force) - (rotor.direction * reaction) * rotor.axis;
  sum.momentum = sum.momentum + (rotor.direction * r.inertia * mean) * rotor.axis;
  sum.power += std::max(0.0, reaction) * mean;
}

void Multirotor::act(Engine& engine, SimSpan span, Wrenches& wrenches) {
  const double dt = span.seconds();
  set_step(dt);
  const Motion motion = engine.motion(body_);
  const Quat& q = motion.pose.orientation;
  const Quat inward = conjugate(q);
  wind_ = air_at(motion, dt);
  const Vec3 turning = rotate(inward, motion.angular);
  const Vec3 through_air = rotate(inward, motion.linear - wind_) + cross(turning, centre_);
  const Vec3 up = rotate(inward, {0, 0, 1});
  // Where the aircraft is far up or lies on its side, nobody asks for the ground.
  const double over_ground = ground_ && up[2] > 0.5 ? motion.pose.position[2] - height_of_ground(motion) : reach_ + 1e3;

  Sum sum;
  sum.force = drag_of(settings_.drag_area, through_air);
  for (std::size_t i = 0; i < spins_.size(); ++i) {
    const double lift = over_ground > reach_ ? over_ground : over_ground + dot(settings_.rotors[i].position, up);
    turn(i, through_air, turning, lift, dt, sum);
  }
  sum.torque = sum.torque - cross(turning, sum.momentum);
  wrenches.add(body_, {rotate(q, sum.force), rotate(q, sum.torque)});
  if (!settings_.battery) return;
  const BatterySettings& b = *settings_.battery;
  battery_.give(b, sum.power / b.efficiency + b.electronics, dt);
}

void Multirotor::carry(Carrier& c) {
  c.list(spins_), c(battery_), c(wind_);
  gusts_.carry(c);
}

// A Carrier that counts or saves changes nothing of what it goes over.
std::size_t Multirotor::state_size() const {
  Carrier counter;
  const_cast<Multirotor*>(this)->carry(counter);
  return counter.numbers();
}

void Multirotor::save(std::span<double> state) const {
  Carrier saving = Carrier::saving(state);
  const_cast<Multirotor*>(this)->carry(saving);
}

void Multirotor::restore(std::span<const double> state) {
  Carrier restoring = Carrier::restoring(state);
  carry(restoring);
}

}  // namespace isochron::world
