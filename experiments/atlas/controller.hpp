#pragma once
// The whole-body controller. Each time it is given the newest estimate it
//
//   1. says how everything should accelerate: the centre of mass so that its divergent component ξ follows the plan's,
//      feet that stand not at all, the foot that swings along its curve, pelvis and chest upright, joints towards a
//      posture;
//   2. finds, by a quadratic program, the joint accelerations v̇ and contact forces ρ that come nearest to all of that,
//      under the pelvis's equations of motion (nothing drives it but the contacts) and contacts that only push, within
//      their friction;
//   3. computes the torques that belong to them.
//
//     minimise  Σ w_i |J_i v̇ + b_i − a_i|² + ε|ρ|²   such that   M_p v̇ + h_p = Σ J_c,p' ρ_c,   ρ ≥ 0
//
// ρ are the magnitudes along the four edges of a friction pyramid at each corner of each standing sole.
//
// Promises: the same estimates, times and orders give the same torques. It runs alike in callback, modelled and real
//           time: it reads no clock.
// Threads:  owner. Cost: no allocation after the constructor; see `bench atlas`.
// Fails:    where no solution is found the torques of the last one are held and counted.

#include <Eigen/Core>
#include <optional>

#include "experiments/atlas/quadratic_program.hpp"
#include "experiments/atlas/robot_model.hpp"
#include "experiments/atlas/step_plan.hpp"

namespace atlas {

/// The position controllers on board: what each motor does to hold its joint, by what it measures itself.
Torques hold_torques(const Hold& hold, const Sensors& sensors);

struct Gains {
  double capture = 3;                       // 1/s: how fast ξ comes back to its plan
  double height = 60, height_rate = 16;     // centre of mass, vertically
  double upright = 100, upright_rate = 20;  // pelvis and chest
  double posture = 60, posture_rate = 15;   // joints
  double swing = 400, swing_rate = 40;      // the foot in the air
  double stand_rate = 30;                   // damps the feet that stand
  double friction = 0.6;
  double arm_swing = 1.5;  // rad for each metre that the opposite foot is in front
};

/// What the controller found, for the log and the tests.
struct Thought {
  Vector3 wanted;       // acceleration of the centre of mass
  Vector2 xi, xi_plan;  // divergent component, and where it should be
  Vector2 pressure;     // where it pushes
  Vector3 force;        // on the ground, in all
  int qp_steps = 0;
  QpResult result = QpResult::solved;
};

class Controller {
 public:
  explicit Controller(const std::string& model_file, Gains gains = {}, StepTimes times = {});

  /// `now` in seconds of the robot's clock.
  const Torques& control(const Estimate& estimate, double now, const Order& order);

  /// What the robot is to hold while nobody controls it, from the last control() on. Only where it stands.
  [[nodiscard]] Hold hold() const;
  [[nodiscard]] bool standing(double now) const { return plan_ && plan_->standing(now); }
  /// For the operator.
  [[nodiscard]] Standing standing_of(double now) const;

  [[nodiscard]] const Thought& thought() const { return thought_; }
  [[nodiscard]] const StepPlan& plan() const { return *plan_; }
  [[nodiscard]] const RobotModel& model() const { return model_; }
  [[nodiscard]] const QuadraticProgram& problem() const { return qp_; }
  [[nodiscard]] const Torques& torques() const { return torques_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  void obey(const Order& order, double now);
  void set_up(const Swing& swing);
  void add_task(const Jacobian& J, const Vector3& bias, const Vector3& wanted, double weight);
  void add_centre(const Estimate& estimate, double now);
  void add_feet(const Swing& swing);
  void add_upright(const Frame& frame, const Matrix3& rotation, double weight);
  [[nodiscard]] Joints posture(double now) const;
  void add_posture(double now);
  void add_dynamics();
  void read_off();

  static constexpr int corners = 4, edges = 4, most_forces = 2 * corners * edges;
  RobotModel model_;
  Gains gains_;
  StepTimes times_;
  std::optional<StepPlan> plan_;
  QuadraticProgram qp_;
  Eigen::Matrix<double, dof, most_forces> generalised_;  // J_c' of each ρ
  Eigen::Matrix<double, 3, most_forces> directions_, places_;
  int forces_ = 0;
  std::array<double, joints + 7> posture_;
  Estimate estimate_;
  double height_ = 0;
  std::uint64_t obeyed_ = 0, refused_ = 0, failures_ = 0;
  Torques torques_;
  Thought thought_;
};

}  // namespace atlas
