#include "world/vehicle/car.hpp"

#include <algorithm>
#include <cmath>

#include "world/names.hpp"

namespace isochron::world {
namespace {

constexpr double longest_substep = 1e-3;
constexpr double air_density = 1.2;
constexpr double patch_damping = 0.05;  // slip per m/s of sliding at standstill: a rubber block is no perfect spring
constexpr double damped_below = 3;      // m/s
constexpr double most_slip = 2;         // beyond this the patch slides freely and does not bend further,
constexpr double standing_slip = 0.12;  // and at standstill friction holds no more than this
constexpr std::array<const char*, 4> wheel_names{"/wheel_fl", "/wheel_fr", "/wheel_rl", "/wheel_rr"};

/// Turns a wheel's spin by friction, at most to a stop.
double brake_to(double spin, double torque, double inertia, double h) {
  const double most = torque / inertia * h;
  return std::fabs(spin) <= most ? 0 : spin - std::copysign(most, spin);
}

}  // namespace

Car::Car(const Engine& engine, std::string body, CarSettings settings, std::shared_ptr<const Ground> ground)
    : name_(std::move(body)),
      settings_(std::move(settings)),
      ground_(std::move(ground)),
      powertrain_(settings_.powertrain) {
  const Catalog& catalog = engine.catalog();
  const auto found = catalog.body(name_);
  if (!found) throw no_such("body", name_, catalog.bodies);
  if (!engine.can_place(*found))
    throw InputError(Place{}, "body `" + name_ + "` cannot be a car: it has no free joint");
  body_ = *found;
  centre_ = catalog.centres[body_];
  gravity_ = length(engine.gravity());
  for (std::size_t i = 0; i < 4; ++i) wheel_bodies_[i] = catalog.body(name_ + wheel_names[i]).value_or(0);
  find_rest(engine);
  start_over(settings_.start_speed);
}

/// Each spring is pressed as far as the car's weight asks, so that travel 0 is the car at rest.
void Car::find_rest(const Engine& engine) {
  const double sprung = engine.catalog().masses[body_] - 4 * settings_.wheel_mass;
  const double front = (centre_[0] - settings_.rear_axle) / (settings_.front_axle - settings_.rear_axle);
  for (std::size_t i = 0; i < 4; ++i) preload_[i] = 0.5 * sprung * gravity_ * (i < 2 ? front : 1 - front);
}

double Car::rest_height() const {
  double load = 4 * settings_.wheel_mass * gravity_;
  for (const double preload : preload_) load += preload;
  return settings_.tyre.radius - 0.25 * load / settings_.tyre.stiffness - settings_.axle_height;
}

std::vector<ActuatorInfo> Car::actuators() const {
  return {{name_ + "/steer", -1, 1}, {name_ + "/throttle", 0, 1}, {name_ + "/brake", 0, 1}, {name_ + "/reverse", 0, 1}};
}

std::vector<SensorInfo> Car::sensors() const {
  return {{name_ + "/speed", 1},       {name_ + "/rpm", 1},        {name_ + "/gear", 1},
          {name_ + "/wheel_speed", 4}, {name_ + "/suspension", 4}, {name_ + "/tyre_load", 4}};
}

void Car::read(std::span<double> values) const {
  values[0] = speed_;
  values[1] = powertrain_.rpm();
  values[2] = powertrain_.gear();
  for (std::size_t i = 0; i < 4; ++i) {
    values[3 + i] = wheels_[i].spin;
    values[7 + i] = wheels_[i].travel;
    values[11 + i] = wheels_[i].load;
  }
}

Vec3 Car::mount(std::size_t i) const {
  return {i < 2 ? settings_.front_axle : settings_.rear_axle, i % 2 == 0 ? settings_.half_track : -settings_.half_track,
          settings_.axle_height};
}

/// Both front wheels turn about one point on the rear axle's line (Ackermann).
double Car::steer_angle(std::size_t i) const {
  if (i >= 2) return 0;
  const double mean = std::clamp(commands_[steer], -1.0, 1.0) * settings_.max_steer;
  if (std::fabs(mean) < 1e-6) return mean;
  const double base = settings_.front_axle - settings_.rear_axle;
  const double side = i == 0 ? settings_.half_track : -settings_.half_track;
  return std::atan(base / (base / std::tan(mean) - side));
}

double Car::spring_force(std::size_t i) const {
  const bool front = i < 2;
  const Wheel& w = wheels_[i];
  const Wheel& other = wheels_[i ^ 1U];
  double force = preload_[i] + (front ? settings_.spring_front : settings_.spring_rear) * w.travel +
                 (front ? settings_.anti_roll_front : settings_.anti_roll_rear) * (w.travel - other.travel);
  const double beyond = std::fabs(w.travel) - settings_.travel;
  if (beyond > 0) force += std::copysign(settings_.stop_stiffness * beyond, w.travel);
  return force;
}

Car::Footing Car::look(std::size_t i, const Motion& chassis) const {
  const Wheel& w = wheels_[i];
  Footing at;
  const Quat& q = chassis.pose.orientation;
  at.up = rotate(q, {0, 0, 1});
  at.mount = chassis.pose.position + rotate(q, mount(i));
  const Vec3 hub = at.mount + w.travel * at.up;
  const double angle = steer_angle(i);
  const Vec3 heading = rotate(q, {std::cos(angle), std::sin(angle), 0});
  at.axle = cross(at.up, heading);
  at.forward = heading;
  at.left = at.axle;
  const auto ground = ground_->below(hub[0], hub[1], hub[2] + settings_.tyre.radius);
  if (!ground) return at;
  at.ground = *ground;
  at.ground_at = {hub[0], hub[1], ground->height};
  const Vec3& n = ground->normal;
  at.touches = dot(hub - at.ground_at, n) < 1.5 * settings_.tyre.radius && dot(at.up, n) > 0.2;
  at.forward = unit(heading - dot(heading, n) * n);
  at.left = cross(n, at.forward);
  const Vec3 patch = hub - dot(hub - at.ground_at, n) * n;
  at.velocity = chassis.linear + cross(chassis.angular, patch - chassis.pose.position);
  return at;
}

/// One wheel over one sub-step: vertical motion, slip, spin. Adds the tyre's force and what the wheel's own
/// acceleration takes from it.
void Car::advance(std::size_t i, const Footing& at, double spring, double drive, double h, Vec3& force, Vec3& torque) {
  const TyreSettings& tyre = settings_.tyre;
  Wheel& w = wheels_[i];
  const Vec3& n = at.ground.normal;
  const double lift = dot(at.up, n);
  const double rise = dot(at.velocity, n);

  // Load from how far the tyre is pressed in, by where the mount has come since the start of the step.
  double depth = 0;
  if (at.touches) depth = tyre.radius - dot(at.mount - at.ground_at, n) - w.travel * lift;
  double load = 0;
  if (depth > 0) load = std::max(0.0, tyre.stiffness * depth - tyre.damping * (rise + w.travel_rate * lift));
  w.load = load;

  // Along the strut, the damper taken implicitly.
  const double damper = i < 2 ? settings_.damper_front : settings_.damper_rear;
  const double weight = settings_.wheel_mass * at.heaviness;
  const double before = w.travel_rate;
  w.travel_rate =
      (before + h / settings_.wheel_mass * (load * lift - spring - weight)) / (1 + h * damper / settings_.wheel_mass);
  w.travel += h * w.travel_rate;
  const double strut_acceleration = (w.travel_rate - before) / h;

  // Slip by a bending patch: it lags behind by the relaxation length, and at standstill it is a spring.
  const double rolling_radius = tyre.radius - std::max(depth, 0.0) / 3;
  const double v_along = dot(at.velocity, at.forward), v_across = dot(at.velocity, at.left);
  const double slide_along = w.spin * rolling_radius - v_along, slide_across = -v_across;
  const double decay = 1 + h * std::fabs(v_along) / tyre.relaxation;
  const double rolls = std::min(1.0, std::fabs(v_along) / damped_below);
  const double most = (standing_slip + (most_slip - standing_slip) * rolls) * tyre.relaxation;
  w.bend_along = load > 0 ? std::clamp((w.bend_along + h * slide_along) / decay, -most, most) : 0;
  w.bend_across = load > 0 ? std::clamp((w.bend_across + h * slide_across) / decay, -most, most) : 0;
  const double damping = patch_damping * (1 - rolls);
  const TyreForce f = tyre_force(tyre, load, w.bend_along / tyre.relaxation + damping * slide_along,
                                 w.bend_across / tyre.relaxation + damping * slide_across, at.ground.friction);

  // Spin: drive and tyre first, then brakes and rolling resistance, which only ever stop it.
  const bool front = i < 2;
  const double share = front ? settings_.drive_front : 1 - settings_.drive_front;
  const double inertia = settings_.wheel_inertia + 0.5 * share * powertrain_.axle_inertia();
  const double spin_before = w.spin;
  w.spin += h / inertia * (drive - f.along * rolling_radius);
  const double brake_torque =
      std::clamp(commands_[brake], 0.0, 1.0) * (front ? settings_.brake_front : settings_.brake_rear);
  w.spin = brake_to(w.spin, brake_torque + tyre.rolling_resistance * load * rolling_radius, inertia, h);
  w.angle = std::remainder(w.angle + h * w.spin, 2 * 3.14159265358979323846);

  const Vec3 patch = f.along * at.forward + f.across * at.left + load * n;
  force = force + patch - (settings_.wheel_mass * strut_acceleration) * at.up;
  torque = torque - (settings_.wheel_inertia * (w.spin - spin_before) / h) * at.axle;
}

void Car::put(Engine& engine, double x, double y, double heading, double speed) {
  const auto ground = ground_->below(x, y, 1e4);
  const double c = std::cos(heading), s = std::sin(heading), height = ground ? ground->height : 0;
  const Motion motion{{{x, y, height + rest_height()}, {std::cos(heading / 2), 0, 0, std::sin(heading / 2)}},
                      {speed * c, speed * s, 0},
                      {}};
  start_over(speed);
  away_ = false;
  engine.set_motion(body_, motion);
  show_wheels(engine, motion, 0);
}

void Car::take_away(Engine& engine) {
  start_over(0);
  away_ = true;
  engine.set_motion(body_, out_of_the_way(body_));
  show_wheels(engine, out_of_the_way(body_), 0);
}

/// As new: what it rolls on and what drives it remember nothing.
void Car::start_over(double speed) {
  wheels_ = {};
  for (Wheel& wheel : wheels_) wheel.spin = speed / settings_.tyre.radius;
  commands_ = {};
  powertrain_ = Powertrain(settings_.powertrain);
}

void Car::act(Engine& engine, SimSpan dt, Wrenches& wrenches) {
  if (away_) return engine.set_motion(body_, out_of_the_way(body_));
  const Motion chassis = engine.motion(body_);
  const Vec3 centre = chassis.pose.position + rotate(chassis.pose.orientation, centre_);
  speed_ = dot(chassis.linear, rotate(chassis.pose.orientation, {1, 0, 0}));
  std::array<Footing, 4> at;
  // What pulls a wheel along its strut: gravity, and that the strut itself is being accelerated.
  const Vec3 pull = engine.acceleration(body_) - engine.gravity();
  for (std::size_t i = 0; i < 4; ++i) {
    at[i] = look(i, chassis);
    at[i].heaviness = dot(pull, at[i].up);
  }
  const int n = static_cast<int>(std::ceil(dt.seconds() / longest_substep - 1e-9));
  const double h = dt.seconds() / n;
  std::array<Vec3, 4> force{};
  Vec3 torque{};
  for (int k = 0; k < n; ++k) {
    const double front = settings_.drive_front;
    const double driven =
        front * 0.5 * (wheels_[0].spin + wheels_[1].spin) + (1 - front) * 0.5 * (wheels_[2].spin + wheels_[3].spin);
    const double drive =
        powertrain_.step(std::clamp(commands_[throttle], 0.0, 1.0), commands_[reverse] > 0.5, driven, h);
    std::array<double, 4> spring{};
    for (std::size_t i = 0; i < 4; ++i) spring[i] = spring_force(i);
    for (std::size_t i = 0; i < 4; ++i) {
      const double share = i < 2 ? front : 1 - front;
      advance(i, at[i], spring[i], 0.5 * share * drive, h, force[i], torque);
      at[i].mount = at[i].mount + h * at[i].velocity;
      at[i].ground_at =
          at[i].ground_at + h * (at[i].velocity - dot(at[i].velocity, at[i].ground.normal) * at[i].ground.normal);
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    if (!at[i].touches) continue;
    const Vec3 patch = at[i].mount - dot(at[i].mount - at[i].ground_at, at[i].ground.normal) * at[i].ground.normal;
    wrenches.add_at(body_, (1.0 / n) * force[i], patch, centre);
  }
  const double air = 0.5 * air_density * settings_.drag_area * length(chassis.linear);
  wrenches.add(body_, {-air * chassis.linear, (1.0 / n) * torque});
  show_wheels(engine, chassis, dt.seconds());
}

/// Where the wheels will be after the step, as far as the chassis goes straight on: they are seen, not felt.
void Car::show_wheels(Engine& engine, const Motion& chassis, double dt) const {
  for (std::size_t i = 0; i < 4; ++i) {
    if (wheel_bodies_[i] == 0) continue;
    const Quat& q = chassis.pose.orientation;
    const double steer_half = 0.5 * steer_angle(i), spin_half = 0.5 * wheels_[i].angle;
    const Quat turned = multiply(multiply(q, {std::cos(steer_half), 0, 0, std::sin(steer_half)}),
                                 {std::cos(spin_half), 0, std::sin(spin_half), 0});
    const Vec3 hub = chassis.pose.position + rotate(q, mount(i) + Vec3{0, 0, wheels_[i].travel});
    const Vec3 velocity = chassis.linear + cross(chassis.angular, hub - chassis.pose.position);
    const Vec3 axle = rotate(turned, {0, 1, 0});
    engine.set_motion(wheel_bodies_[i],
                      {{hub + dt * velocity, turned}, velocity, chassis.angular + wheels_[i].spin * axle});
  }
}

std::size_t Car::state_size() const { return 4 * 7 + 4 + Powertrain::state_size + 2; }

void Car::save(std::span<double> state) const {
  double* to = state.data();
  for (const Wheel& w : wheels_) {
    for (const double v : {w.travel, w.travel_rate, w.spin, w.angle, w.bend_along, w.bend_across, w.load}) *to++ = v;
  }
  to = std::copy(commands_.begin(), commands_.end(), to);
  powertrain_.save(to);
  to[Powertrain::state_size] = speed_;
  to[Powertrain::state_size + 1] = away_ ? 1 : 0;
}

void Car::restore(std::span<const double> state) {
  const double* from = state.data();
  for (Wheel& w : wheels_) {
    for (double* v : {&w.travel, &w.travel_rate, &w.spin, &w.angle, &w.bend_along, &w.bend_across, &w.load})
      *v = *from++;
  }
  std::copy_n(from, 4, commands_.begin());
  powertrain_.restore(from + 4);
  speed_ = from[4 + Powertrain::state_size];
  away_ = from[4 + Powertrain::state_size + 1] != 0;
}

}  // namespace isochron::world
