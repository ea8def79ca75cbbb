#pragma once
// Where the robot means to put its weight and its feet, as a function of time. A plan is a row of phases: in a *shift*
// both feet stand and the weight moves from one point to another; in a *swing* one foot carries all and the other goes
// to its next place. Standing is the phase after the last one.
//
// The reference for balance is the divergent component of motion ξ = x + ẋ/ω of a linear inverted pendulum. It must end
// where the weight ends, so it depends on the future only:
//
//     ξ(t) = ω ∫₀^∞ e^{−ωs} p(t + s) ds
//
// with p the planned centre of pressure. preview() is that integral over the next seconds, which is exact for the plan.
//
// Threads: owner. Cost: never allocates; preview() some 2 µs.

#include <Eigen/Core>
#include <array>
#include <span>

#include "experiments/atlas/signals.hpp"

namespace atlas {

using Vector2 = Eigen::Vector2d;
using Vector3 = Eigen::Vector3d;

struct StepTimes {
  double shift_s = 0.7;
  double swing_s = 0.8;
  double settle_s = 1.0;                 // the last shift, back to the middle
  double lift_m = 0.05;                  // how high a foot goes
  double inside_m = 0.01;                // the weight stays this far inside a foot's middle
  double reach_m = 0.35;                 // a foot goes at most this far in front of or behind the other one
  double narrow_m = 0.14, wide_m = 0.4;  // and stands so far beside it
};

struct Swing {
  bool active = false;
  Side side = left;
  Vector3 position, velocity, acceleration;  // of the sole that is in the air
};

class StepPlan {
 public:
  /// Stands on these soles.
  StepPlan(const Vector3& left_sole, const Vector3& right_sole, StepTimes times = {});

  /// So many steps from `now` on, from where the soles are, beginning with the left foot; the last brings the feet
  /// together. At most 31 of them. Returns false, and changes nothing, while there are steps to take.
  bool step(double now, int steps, double forward, const Vector3& left_sole, const Vector3& right_sole);

  /// The same with footsteps that somebody placed, one foot after the other. Returns false, and changes nothing, also
  /// where one cannot be reached from the one before.
  bool step_to(double now, std::span<const Footstep> footsteps, const Vector3& left_sole, const Vector3& right_sole);
  /// Whether each can be reached from the one before.
  [[nodiscard]] bool can_reach(std::span<const Footstep> footsteps, const Vector3& left_sole,
                               const Vector3& right_sole) const;

  [[nodiscard]] bool standing(double now) const;
  /// The planned centre of pressure.
  [[nodiscard]] Vector2 pressure(double t) const;
  /// ξ of the plan at time t.
  [[nodiscard]] Vector2 preview(double t, double omega) const;
  [[nodiscard]] Swing swing(double t) const;
  /// Where the sole stands at t, or stood before it was lifted.
  [[nodiscard]] Vector3 sole(Side side, double t) const;
  /// Where both soles are meant to be at t, the one in the air too.
  [[nodiscard]] std::array<Vector3, 2> soles(double t) const;
  /// The step that began last, from 0; −1 before the first.
  [[nodiscard]] int steps_done(double t) const;

 private:
  struct Phase {
    double begin = 0, end = 0;
    Vector2 from, to;  // weight
    bool swings = false;
    Side side = left;
    std::array<Vector3, 2> soles;  // when it ends
  };
  [[nodiscard]] const Phase* at(double t) const;
  void begin(double now, const Vector3& left_sole, const Vector3& right_sole);
  void add(double length, const Vector2& to);
  void add_swing(Side side, const Vector3& to);
  [[nodiscard]] Vector2 weight_on(Side side) const;
  [[nodiscard]] Vector2 middle() const;

  static constexpr std::size_t most_phases = 64;
  StepTimes times_;
  std::array<Phase, most_phases> phases_;
  std::size_t count_ = 0;
  std::array<Vector3, 2> first_soles_;
  std::array<Vector3, 2> soles_;  // after the last phase
  Vector2 weight_;                // after the last phase
};

}  // namespace atlas
