#pragma once
// The robot's equations of motion at one state, from its model file by way of MuJoCo:
//
//     M(q) v̇ + h(q, v) = S'τ + Σ J_i' f_i
//
// together with the Jacobians that tasks are made of. It is a calculator: it has no time and takes no steps.
//
// Threads: owner; models of one file are independent. Cost: update() about 40 µs; no allocation after the constructor.
// Fails:   the constructor throws std::runtime_error for a file that is not our robot.

#include <Eigen/Core>
#include <memory>
#include <span>
#include <string>

#include "experiments/atlas/signals.hpp"

struct mjModel_;
struct mjData_;

namespace atlas {

using Matrix3 = Eigen::Matrix3d;
using Vector3 = Eigen::Vector3d;
using Jacobian = Eigen::Matrix<double, 3, dof, Eigen::RowMajor>;
using MassMatrix = Eigen::Matrix<double, dof, dof, Eigen::RowMajor>;
using Velocity = Eigen::Matrix<double, dof, 1>;

/// Something on the robot whose motion matters: where it is, how it moves, and how joints move it.
struct Frame {
  Vector3 position;
  Matrix3 rotation;
  Vector3 linear, angular;            // velocity, world frame
  Vector3 linear_bias, angular_bias;  // acceleration at v̇ = 0
  Jacobian J_linear, J_angular;
};

class RobotModel {
 public:
  explicit RobotModel(const std::string& file);
  ~RobotModel();
  RobotModel(const RobotModel&) = delete;
  RobotModel& operator=(const RobotModel&) = delete;

  /// Where things are and how they move, but no equations of motion: centre(), centre_velocity() and the frames without
  /// their Jacobians. Twice as fast. `velocity` as MuJoCo has it.
  void move(std::span<const double, joints + 7> position, std::span<const double, dof> velocity);
  /// Everything.
  void update(std::span<const double, joints + 7> position, std::span<const double, dof> velocity);

  [[nodiscard]] double mass() const { return mass_; }
  [[nodiscard]] double gravity() const { return 9.81; }
  [[nodiscard]] Vector3 centre() const;
  [[nodiscard]] Vector3 centre_velocity() const;
  [[nodiscard]] const MassMatrix& M() const { return M_; }
  /// Coriolis, gravity and joint damping.
  [[nodiscard]] const Velocity& h() const { return h_; }

  [[nodiscard]] const Frame& sole(Side side) const { return soles_[side]; }
  [[nodiscard]] const Frame& pelvis() const { return pelvis_; }
  [[nodiscard]] const Frame& chest() const { return chest_; }
  [[nodiscard]] double torque_limit(int joint) const { return limits_[static_cast<std::size_t>(joint)]; }
  /// The pose that the model begins with.
  [[nodiscard]] std::array<double, joints + 7> start() const;

  static constexpr double half_length = 0.13, half_width = 0.06;  // of a sole

 private:
  void look(Frame& frame, int type, int id);
  void differentiate(Frame& frame, int type, int id);

  struct FreeModel {
    void operator()(mjModel_* m) const;
  };
  struct FreeData {
    void operator()(mjData_* d) const;
  };
  std::unique_ptr<mjModel_, FreeModel> model_;
  std::unique_ptr<mjData_, FreeData> data_;
  int sole_ids_[2] = {-1, -1};
  int pelvis_id_ = -1, chest_id_ = -1;
  double mass_ = 0;
  Joints limits_{};
  MassMatrix M_;
  Velocity h_;
  Frame soles_[2], pelvis_, chest_;
};

}  // namespace atlas
