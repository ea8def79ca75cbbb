#include "experiments/atlas/controller.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace atlas {
namespace {

// How much each wish counts, for one (m/s²)² or (rad/s²)².
constexpr double centre_weight = 20;
constexpr double stand_weight = 500;
constexpr double swing_weight = 100;
constexpr double upright_weight = 10;
constexpr double posture_weight = 1;
constexpr double leg_weight = 0.02;  // legs go where feet and pelvis need them
constexpr double force_weight = 1e-5;
constexpr std::size_t first_leg_joint = 16;
constexpr std::size_t elbow_pitch[2] = {6, 12};  // l_elbow_y, r_elbow_y: a hand goes forwards as the angle falls
constexpr double arm_swing_most = 0.5;           // rad

Vector3 vector(const Vec3& v) { return {v[0], v[1], v[2]}; }

/// The rotation vector that turns `from` into `to`, for small ones.
Vector3 turn(const Matrix3& from, const Matrix3& to) {
  return 0.5 * (from.col(0).cross(to.col(0)) + from.col(1).cross(to.col(1)) + from.col(2).cross(to.col(2)));
}

}  // namespace

/// Stiff enough in legs and back to carry the robot like a statue; nobody balances it.
Torques hold_torques(const Hold& hold, const Sensors& sensors) {
  Torques torques;
  for (std::size_t i = 0; i < joints; ++i) {
    const bool carries = i < 3 || i >= first_leg_joint;
    const double stiffness = carries ? 3000 : 200, damping = carries ? 60 : 10;  // N m/rad, N m s/rad
    torques.torque[i] =
        hold.torque[i] + stiffness * (hold.position[i] - sensors.position[i]) - damping * sensors.velocity[i];
  }
  return torques;
}

Controller::Controller(const std::string& model_file, Gains gains, StepTimes times)
    : model_(model_file),
      gains_(gains),
      times_(times),
      qp_(dof + most_forces, 6 + most_forces),
      posture_(model_.start()) {
  model_.update(posture_, std::array<double, dof>{});
  height_ = model_.centre().z() - 0.5 * (model_.sole(left).position + model_.sole(right).position).z();
}

void Controller::obey(const Order& order, double now) {
  if (order.number == obeyed_ || order.number == refused_) return;
  const Vector3 &l = model_.sole(left).position, &r = model_.sole(right).position;
  if (order.freeze > 0) {  // whoever runs us freezes it; see control_side.cpp
    if (plan_->standing(now)) obeyed_ = order.number;
    return;
  }
  if (order.placed > 0) {
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(order.placed), footsteps_max);
    const auto places = std::span(order.places).first(count);
    if (!plan_->standing(now)) return;
    (plan_->step_to(now, places, l, r) ? obeyed_ : refused_) = order.number;
    return;
  }
  if (plan_->step(now, static_cast<int>(order.steps), order.forward, l, r)) obeyed_ = order.number;
}

Hold Controller::hold() const {
  Hold hold{1, {}, torques_.torque};
  std::copy_n(estimate_.position.begin() + 7, joints, hold.position.begin());
  return hold;
}

Standing Controller::standing_of(double now) const {
  Standing found{obeyed_, refused_, standing(now) ? 0.0 : 1.0, 0, {}};
  for (const Side side : {left, right}) {
    const Vector3& at = model_.sole(side).position;
    found.soles[side] = {static_cast<double>(side), at.x(), at.y()};
  }
  return found;
}

const Torques& Controller::control(const Estimate& estimate, double now, const Order& order) {
  estimate_ = estimate;
  model_.update(estimate_.position, estimate_.velocity);
  if (!plan_) plan_.emplace(model_.sole(left).position, model_.sole(right).position, times_);
  obey(order, now);
  const Swing swing = plan_->swing(now);
  set_up(swing);
  add_centre(estimate, now);
  add_feet(swing);
  add_upright(model_.pelvis(), Matrix3::Identity(), upright_weight);
  add_upright(model_.chest(), Matrix3::Identity(), upright_weight);
  add_posture(now);
  add_dynamics();
  thought_.result = qp_.solve();
  thought_.qp_steps = qp_.steps();
  if (thought_.result == QpResult::solved) {
    read_off();
  } else {
    ++failures_;
  }
  return torques_;
}

/// Sizes the problem: a ρ for each edge of each corner of each sole that stands.
void Controller::set_up(const Swing& swing) {
  forces_ = 0;
  const double norm = std::sqrt(1 + gains_.friction * gains_.friction);
  for (const Side side : {left, right}) {
    if (swing.active && swing.side == side) continue;
    const Frame& sole = model_.sole(side);
    for (int corner = 0; corner < corners; ++corner) {
      const Vector3 local((corner & 1) != 0 ? RobotModel::half_length : -RobotModel::half_length,
                          (corner & 2) != 0 ? RobotModel::half_width : -RobotModel::half_width, 0);
      const Vector3 arm = sole.rotation * (0.9 * local);
      for (int edge = 0; edge < edges; ++edge, ++forces_) {
        const double angle = 0.25 * M_PI + 0.5 * M_PI * edge;
        const Vector3 direction =
            Vector3(gains_.friction * std::cos(angle), gains_.friction * std::sin(angle), 1) / norm;
        directions_.col(forces_) = direction;
        places_.col(forces_) = sole.position + arm;
        generalised_.col(forces_) = sole.J_linear.transpose().lazyProduct(direction) +
                                    sole.J_angular.transpose().lazyProduct(arm.cross(direction));
      }
    }
  }
  qp_.resize(dof + forces_, 6, forces_);
}

/// + w |J v̇ + bias − wanted|²
void Controller::add_task(const Jacobian& J, const Vector3& bias, const Vector3& wanted, double weight) {
  const Vector3 rest = bias - wanted;
  for (int row = 0; row < 3; ++row) {
    const auto r = J.row(row).transpose();
    for (int j = 0; j < dof; ++j) {
      const double scaled = weight * r[j];
      if (scaled == 0) continue;
      qp_.H.col(j).segment(j, dof - j) += scaled * r.segment(j, dof - j);
      qp_.g[j] += scaled * rest[row];
    }
  }
}

void Controller::add_centre(const Estimate& estimate, double now) {
  const double omega = std::sqrt(model_.gravity() / height_);
  const Vector3 x = vector(estimate.centre), v = vector(estimate.centre_velocity);
  thought_.xi = x.head<2>() + v.head<2>() / omega;
  thought_.xi_plan = plan_->preview(now, omega);
  const Vector2 pressure = plan_->pressure(now) + (1 + gains_.capture / omega) * (thought_.xi - thought_.xi_plan);
  const double floor = 0.5 * (plan_->sole(left, now) + plan_->sole(right, now)).z();
  Vector3 wanted;
  wanted.head<2>() = omega * omega * (x.head<2>() - pressure);
  wanted.z() = gains_.height * (floor + height_ - x.z()) - gains_.height_rate * v.z();
  thought_.wanted = wanted;
  // m ẍ = M₀₋₂ v̇ + h₀₋₂ − m g: the first rows of the equations of motion are the total linear momentum's.
  const Jacobian J = model_.M().topRows<3>() / model_.mass();
  const Vector3 bias = model_.h().head<3>() / model_.mass() - Vector3(0, 0, model_.gravity());
  add_task(J, bias, wanted, centre_weight);
}

void Controller::add_feet(const Swing& swing) {
  for (const Side side : {left, right}) {
    const Frame& sole = model_.sole(side);
    if (swing.active && swing.side == side) {
      const Vector3 wanted = swing.acceleration + gains_.swing * (swing.position - sole.position) +
                             gains_.swing_rate * (swing.velocity - sole.linear);
      add_task(sole.J_linear, sole.linear_bias, wanted, swing_weight);
      const Vector3 level = gains_.swing * turn(sole.rotation, Matrix3::Identity()) - gains_.swing_rate * sole.angular;
      add_task(sole.J_angular, sole.angular_bias, level, swing_weight);
    } else {
      add_task(sole.J_linear, sole.linear_bias, -gains_.stand_rate * sole.linear, stand_weight);
      add_task(sole.J_angular, sole.angular_bias, -gains_.stand_rate * sole.angular, stand_weight);
    }
  }
}

void Controller::add_upright(const Frame& frame, const Matrix3& rotation, double weight) {
  const Vector3 wanted = gains_.upright * turn(frame.rotation, rotation) - gains_.upright_rate * frame.angular;
  add_task(frame.J_angular, frame.angular_bias, wanted, weight);
}

/// Each arm goes with the opposite foot, as the plan has it: that is smooth, and stands when the feet stand.
Joints Controller::posture(double now) const {
  Joints wanted;
  std::copy_n(posture_.begin() + 7, joints, wanted.begin());
  const auto soles = plan_->soles(now);
  const double ahead = soles[left].x() - soles[right].x();
  const double angle = std::clamp(gains_.arm_swing * ahead, -arm_swing_most, arm_swing_most);
  wanted[elbow_pitch[left]] += angle;
  wanted[elbow_pitch[right]] -= angle;
  return wanted;
}

void Controller::add_posture(double now) {
  const Joints posture = this->posture(now);
  for (int i = 0; i < joints; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double weight = k < first_leg_joint ? posture_weight : leg_weight;
    const double wanted =
        gains_.posture * (posture[k] - estimate_.position[k + 7]) - gains_.posture_rate * estimate_.velocity[k + 6];
    qp_.H(i + 6, i + 6) += weight;
    qp_.g[i + 6] -= weight * wanted;
  }
  for (int i = 0; i < 6; ++i) qp_.H(i, i) += 1e-4;
  for (int i = 0; i < forces_; ++i) qp_.H(dof + i, dof + i) = force_weight;
}

void Controller::add_dynamics() {
  for (int row = 0; row < 6; ++row) {
    qp_.A.col(row).head<dof>() = model_.M().row(row).transpose();
    for (int k = 0; k < forces_; ++k) qp_.A(dof + k, row) = -generalised_(row, k);
    qp_.b[row] = -model_.h()[row];
  }
  for (int k = 0; k < forces_; ++k) qp_.A(dof + k, 6 + k) = 1;
}

/// τ = M v̇ + h − J'ρ, in the rows that have motors.
void Controller::read_off() {
  const auto acceleration = qp_.x().head<dof>();
  Velocity all = model_.M().lazyProduct(acceleration) + model_.h();
  thought_.force.setZero();
  Vector2 moment = Vector2::Zero();
  for (int k = 0; k < forces_; ++k) {
    const double rho = std::max(0.0, qp_.x()[dof + k]);
    all -= rho * generalised_.col(k);
    thought_.force += rho * directions_.col(k);
    moment += rho * directions_(2, k) * places_.col(k).head<2>();
  }
  if (thought_.force.z() > 1) thought_.pressure = moment / thought_.force.z();
  for (int i = 0; i < joints; ++i) {
    const double limit = model_.torque_limit(i);
    torques_.torque[static_cast<std::size_t>(i)] = std::clamp(all[i + 6], -limit, limit);
  }
}

}  // namespace atlas
