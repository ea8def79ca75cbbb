#include "experiments/atlas/estimator.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace atlas {
namespace {

/// The share of a step that a first-order low-pass takes over.
double share(double hz, double dt) { return 1 - std::exp(-2 * M_PI * hz * dt); }

Vector3 vector(const Vec3& v) { return {v[0], v[1], v[2]}; }

Matrix3 rotation(const Quaternion& q) {
  return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
}

}  // namespace

void PointFilter::reset(const Vector3& position) {
  position_ = position;
  velocity_.setZero();
  P_ << 1e-6, 0, 0, 1e-4;
}

void PointFilter::predict(const Vector3& acceleration, double noise, double dt) {
  position_ += dt * velocity_ + 0.5 * dt * dt * acceleration;
  velocity_ += dt * acceleration;
  const Eigen::Vector2d input(0.5 * dt * dt, dt);
  Eigen::Matrix2d F;
  F << 1, dt, 0, 1;
  P_ = F.lazyProduct(P_).eval().lazyProduct(F.transpose()) + noise * noise * input.lazyProduct(input.transpose());
}

void PointFilter::correct_position(const Vector3& measured, double noise) { correct(0, measured - position_, noise); }
void PointFilter::correct_velocity(const Vector3& measured, double noise) { correct(1, measured - velocity_, noise); }

void PointFilter::correct(int which, const Vector3& innovation, double noise) {
  const Eigen::Vector2d gain = P_.col(which) / (P_(which, which) + noise * noise);
  position_ += gain[0] * innovation;
  velocity_ += gain[1] * innovation;
  const Eigen::RowVector2d row = P_.row(which);
  P_ -= gain.lazyProduct(row);
}

Estimator::Estimator(const std::string& model_file, FilterSettings settings) : model_(model_file), settings_(settings) {
  model_.move(model_.start(), std::array<double, dof>{});
  for (const Side side : {left, right}) {
    anchors_[side] = model_.sole(side).position;
    anchors_[side].z() = 0;
  }
  estimate_.position = model_.start();
  centre_.reset(model_.centre());
}

const Estimate& Estimator::update(const Sensors& sensors, std::int64_t time_ns, double dt) {
  estimate_.time_ns = time_ns;
  filter_joints(sensors, dt);
  // The robot as if its pelvis were at the origin and at rest: what the legs say is relative to that.
  std::fill_n(estimate_.position.begin(), 3, 0.0);
  std::fill_n(estimate_.velocity.begin(), 3, 0.0);
  model_.move(estimate_.position, estimate_.velocity);
  const Vector3 acceleration =
      rotation(sensors.orientation) * vector(sensors.acceleration) - Vector3(0, 0, model_.gravity());
  centre_.predict(acceleration, settings_.acceleration_noise, dt);
  find_contacts(sensors);
  stand_on_legs(sensors);
  write_pelvis();
  first_ = false;
  return estimate_;
}

void Estimator::filter_joints(const Sensors& sensors, double dt) {
  const double p = first_ ? 1 : share(settings_.joint_position_hz, dt);
  const double v = first_ ? 1 : share(settings_.joint_velocity_hz, dt);
  const double w = first_ ? 1 : share(settings_.angular_velocity_hz, dt);
  for (std::size_t i = 0; i < joints; ++i) {
    estimate_.position[i + 7] += p * (sensors.position[i] - estimate_.position[i + 7]);
    estimate_.velocity[i + 6] += v * (sensors.velocity[i] - estimate_.velocity[i + 6]);
  }
  std::copy(sensors.orientation.begin(), sensors.orientation.end(), estimate_.position.begin() + 3);
  for (std::size_t i = 0; i < 3; ++i)
    estimate_.velocity[i + 3] += w * (sensors.angular_velocity[i] - estimate_.velocity[i + 3]);
}

/// A sole that comes to carry weight stands where it is by the estimate so far, on the floor.
void Estimator::find_contacts(const Sensors& sensors) {
  for (const Side side : {left, right}) {
    const double force = sensors.foot_force[side];
    const bool stood = stands_[side];
    stands_[side] = force > (stood ? settings_.lift_n : settings_.touch_n);
    if (stands_[side] && !stood) {
      anchors_[side] = centre_.position() - model_.centre() + model_.sole(side).position;
      anchors_[side].z() = 0;
    }
    estimate_.contact[side] = stands_[side] ? 1 : 0;
  }
}

void Estimator::stand_on_legs(const Sensors& sensors) {
  Vector3 position = Vector3::Zero(), velocity = Vector3::Zero();
  double total = 0;
  for (const Side side : {left, right}) {
    if (!stands_[side]) continue;
    const double weight = sensors.foot_force[side];
    const Frame& sole = model_.sole(side);
    position += weight * (anchors_[side] - sole.position);
    velocity -= weight * sole.linear;
    total += weight;
  }
  if (total <= 0) return;  // in the air: what the accelerometer says must do
  centre_.correct_position(position / total + model_.centre(), settings_.leg_position_noise);
  centre_.correct_velocity(velocity / total + model_.centre_velocity(), settings_.leg_velocity_noise);
}

void Estimator::write_pelvis() {
  const Vector3 position = centre_.position() - model_.centre();
  const Vector3 velocity = centre_.velocity() - model_.centre_velocity();
  for (int i = 0; i < 3; ++i) {
    const auto k = static_cast<std::size_t>(i);
    estimate_.position[k] = position[i];
    estimate_.velocity[k] = velocity[i];
    estimate_.centre[k] = centre_.position()[i];
    estimate_.centre_velocity[k] = centre_.velocity()[i];
  }
}

}  // namespace atlas
