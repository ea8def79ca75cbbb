#pragma once
// Where the robot is and how it moves, from what it measures, once for each measurement. Joints and gyroscope pass
// first-order low-pass filters. The soles that carry weight stand still on a flat floor, so the legs tell where the
// pelvis is and how fast; a Kalman filter joins that with the accelerometer into position and velocity of the centre of
// mass, which balance depends on.
//
//     predict   p += v dt + ½ a dt²,  v += a dt          a: the pelvis's acceleration, for want of the centre's
//     correct   with p and v by the legs, weighted by how much each sole carries
//
// All axes have the same noise, so one 2×2 covariance serves the three.
//
// Promises: begins with the feet where the model's start has them.
// Threads:  owner. Cost: about 20 µs; no allocation after the constructor. Reads no clock.

#include "experiments/atlas/robot_model.hpp"

namespace atlas {

struct FilterSettings {
  double joint_position_hz = 300;
  double joint_velocity_hz = 150;
  double angular_velocity_hz = 150;
  double touch_n = 60, lift_n = 30;   // a sole carries weight above, until below
  double acceleration_noise = 4;      // m/s²: how far the pelvis's is from the centre's
  double leg_position_noise = 0.002;  // m
  double leg_velocity_noise = 0.02;   // m/s
};

/// Position and velocity of a point in space, three axes with the same noise.
class PointFilter {
 public:
  void reset(const Vector3& position);
  void predict(const Vector3& acceleration, double noise, double dt);
  void correct_position(const Vector3& measured, double noise);
  void correct_velocity(const Vector3& measured, double noise);
  [[nodiscard]] const Vector3& position() const { return position_; }
  [[nodiscard]] const Vector3& velocity() const { return velocity_; }
  [[nodiscard]] const Eigen::Matrix2d& covariance() const { return P_; }

 private:
  void correct(int which, const Vector3& innovation, double noise);
  Vector3 position_ = Vector3::Zero(), velocity_ = Vector3::Zero();
  Eigen::Matrix2d P_ = Eigen::Matrix2d::Zero();
};

class Estimator {
 public:
  explicit Estimator(const std::string& model_file, FilterSettings settings = {});

  /// `time_ns` by the robot's clock; dt is the time since the measurement before.
  const Estimate& update(const Sensors& sensors, std::int64_t time_ns, double dt);
  [[nodiscard]] const Estimate& estimate() const { return estimate_; }
  [[nodiscard]] const PointFilter& filter() const { return centre_; }

 private:
  void filter_joints(const Sensors& sensors, double dt);
  void find_contacts(const Sensors& sensors);
  void stand_on_legs(const Sensors& sensors);
  void write_pelvis();

  RobotModel model_;
  FilterSettings settings_;
  PointFilter centre_;
  Estimate estimate_;
  std::array<Vector3, 2> anchors_;  // where the soles stand
  std::array<bool, 2> stands_{true, true};
  bool first_ = true;
};

}  // namespace atlas
