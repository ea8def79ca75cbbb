#include "world/vehicle/kinematic_car.hpp"

#include <algorithm>
#include <cmath>

#include "world/names.hpp"

namespace isochron::world {

KinematicCar::KinematicCar(const Engine& engine, std::string body, KinematicCarSettings settings,
                           std::shared_ptr<const Ground> ground)
    : name_(std::move(body)), settings_(settings), ground_(std::move(ground)), speed_(settings.start_speed) {
  const auto found = engine.catalog().body(name_);
  if (!found) throw no_such("body", name_, engine.catalog().bodies);
  if (!engine.can_place(*found)) throw InputError(Place{}, "body `" + name_ + "` cannot be a car", "make it mocap");
  body_ = *found;
  gravity_ = length(engine.gravity());
  constexpr std::array<const char*, 4> wheels{"/wheel_fl", "/wheel_fr", "/wheel_rl", "/wheel_rr"};
  for (std::size_t i = 0; i < 4; ++i) wheel_bodies_[i] = engine.catalog().body(name_ + wheels[i]).value_or(0);
  const Pose pose = engine.motion(body_).pose;
  const Vec3 forward = rotate(pose.orientation, {1, 0, 0});
  yaw_ = std::atan2(forward[1], forward[0]);
  x_ = pose.position[0] + settings_.rear_axle * std::cos(yaw_);
  y_ = pose.position[1] + settings_.rear_axle * std::sin(yaw_);
}

std::vector<ActuatorInfo> KinematicCar::actuators() const {
  return {{name_ + "/steer", -1, 1}, {name_ + "/acceleration", 0, 0}};
}
std::vector<SensorInfo> KinematicCar::sensors() const { return {{name_ + "/speed", 1}}; }

void KinematicCar::put(Engine& engine, double x, double y, double heading, double speed) {
  away_ = false;
  yaw_ = heading;
  x_ = x + settings_.rear_axle * std::cos(yaw_);
  y_ = y + settings_.rear_axle * std::sin(yaw_);
  speed_ = speed;
  commands_[0] = commands_[1] = 0;
  show(engine, x, y, 1e3, 0, 0);
}

void KinematicCar::take_away(Engine& engine) {
  away_ = true;
  speed_ = 0;
  commands_[0] = commands_[1] = 0;
  const Motion motion = out_of_the_way(body_);
  engine.set_motion(body_, motion);
  show_wheels(engine, motion, 0);
}

void KinematicCar::act(Engine& engine, SimSpan dt, Wrenches&) {
  if (away_) return engine.set_motion(body_, out_of_the_way(body_));
  const double h = dt.seconds();
  const double steer = std::clamp(commands_[0], -1.0, 1.0) * settings_.max_steer;
  const double before = speed_;
  double bend = std::tan(steer) / settings_.wheelbase;
  const double most = grip(), sideways = std::min(before * before * std::fabs(bend), most);
  if (before > 0) bend = std::copysign(std::min(std::fabs(bend), most / (before * before)), bend);
  const double left = std::sqrt(most * most - sideways * sideways);
  speed_ = std::max(0.0, before + h * std::clamp(commands_[1], -left, std::min(left, settings_.acceleration)));
  const double mean = 0.5 * (before + speed_);
  const double yaw_rate = mean * bend;
  const double middle = yaw_ + 0.5 * h * yaw_rate;  // the chord of an arc has the heading of its middle
  x_ += h * mean * std::cos(middle);
  y_ += h * mean * std::sin(middle);
  yaw_ = std::remainder(yaw_ + h * yaw_rate, 6.283185307179586);

  rolled_ = std::remainder(rolled_ + h * mean / settings_.wheel_radius, 6.283185307179586);
  const double x = x_ - settings_.rear_axle * std::cos(yaw_), y = y_ - settings_.rear_axle * std::sin(yaw_);
  show(engine, x, y, engine.motion(body_).pose.position[2] + 1, yaw_rate, steer);
}

/// Its body there, on the ground below `from`.
void KinematicCar::show(Engine& engine, double x, double y, double from, double yaw_rate, double steer) {
  const double c = std::cos(yaw_), s = std::sin(yaw_);
  const auto ground = ground_->below(x, y, from);
  const double z = (ground ? ground->height : from - 1 - settings_.height) + settings_.height;
  if (ground) surface_ = ground->friction;
  const Vec3 velocity{speed_ * c - yaw_rate * (y - y_), speed_ * s + yaw_rate * (x - x_), 0};
  const Motion motion{{{x, y, z}, {std::cos(yaw_ / 2), 0, 0, std::sin(yaw_ / 2)}}, velocity, {0, 0, yaw_rate}};
  engine.set_motion(body_, motion);
  show_wheels(engine, motion, steer);
}

void KinematicCar::show_wheels(Engine& engine, const Motion& motion, double steer) const {
  const Quat& q = motion.pose.orientation;
  for (std::size_t i = 0; i < 4; ++i) {
    if (wheel_bodies_[i] == 0) continue;
    const bool front = i < 2;
    const Vec3 hub{settings_.rear_axle + (front ? settings_.wheelbase : 0),
                   i % 2 == 0 ? settings_.half_track : -settings_.half_track, settings_.axle_height};
    const double half = front ? steer / 2 : 0;
    const Quat turned = multiply(multiply(q, {std::cos(half), 0, 0, std::sin(half)}),
                                 {std::cos(rolled_ / 2), 0, std::sin(rolled_ / 2), 0});
    engine.set_motion(wheel_bodies_[i],
                      {{motion.pose.position + rotate(q, hub), turned}, motion.linear, motion.angular});
  }
}

void KinematicCar::save(std::span<double> state) const {
  const double values[]{x_, y_, yaw_, speed_, commands_[0], commands_[1], rolled_, surface_, away_ ? 1.0 : 0.0};
  std::copy(std::begin(values), std::end(values), state.begin());
}

void KinematicCar::restore(std::span<const double> state) {
  x_ = state[0];
  y_ = state[1];
  yaw_ = state[2];
  speed_ = state[3];
  commands_[0] = state[4];
  commands_[1] = state[5];
  rolled_ = state[6];
  surface_ = state[7];
  away_ = state[8] != 0;
}

}  // namespace isochron::world
