#include "experiments/atlas/step_plan.hpp"

#include <algorithm>
#include <cmath>

namespace atlas {
namespace {

/// From 0 to 1 without a jump in velocity or acceleration.
struct Ease {
  double value, slope, bend;
};
Ease ease(double s) {
  s = std::clamp(s, 0.0, 1.0);
  return {s * s * s * (10 + s * (-15 + 6 * s)), s * s * (30 + s * (-60 + 30 * s)), s * (60 + s * (-180 + 120 * s))};
}

}  // namespace

StepPlan::StepPlan(const Vector3& left_sole, const Vector3& right_sole, StepTimes times)
    : times_(times), first_soles_{left_sole, right_sole}, soles_(first_soles_) {
  weight_ = middle();
}

Vector2 StepPlan::middle() const { return 0.5 * (soles_[left] + soles_[right]).head<2>(); }

Vector2 StepPlan::weight_on(Side side) const {
  const Vector2 own = soles_[side].head<2>();
  const Vector2 across = soles_[other(side)].head<2>() - own;
  return own + times_.inside_m * Vector2(0, across.y() > 0 ? 1 : -1);
}

void StepPlan::add(double length, const Vector2& to) {
  const double begin = phases_[count_ - 1].end;
  phases_[count_++] = {begin, begin + length, weight_, to, false, left, soles_};
  weight_ = to;
}

void StepPlan::add_swing(Side side, const Vector3& to) {
  add(times_.swing_s, weight_);
  soles_[side] = to;
  phases_[count_ - 1].swings = true;
  phases_[count_ - 1].side = side;
  phases_[count_ - 1].soles = soles_;
}

void StepPlan::begin(double now, const Vector3& left_sole, const Vector3& right_sole) {
  first_soles_ = soles_ = {left_sole, right_sole};
  phases_[0] = {now, now, weight_, weight_, false, left, soles_};
  count_ = 1;
}

bool StepPlan::step(double now, int steps, double forward, const Vector3& left_sole, const Vector3& right_sole) {
  if (!standing(now) || steps <= 0) return false;
  begin(now, left_sole, right_sole);
  steps = std::min(steps, static_cast<int>(most_phases - 2) / 2);
  Side side = left;
  for (int i = 0; i < steps; ++i, side = other(side)) {
    const Side stance = other(side);
    add(times_.shift_s, weight_on(stance));
    Vector3 to = soles_[side];
    to.x() = soles_[stance].x() + (i + 1 < steps ? forward : 0);
    add_swing(side, to);
  }
  add(times_.settle_s, middle());
  return true;
}

bool StepPlan::can_reach(std::span<const Footstep> footsteps, const Vector3& left_sole,
                         const Vector3& right_sole) const {
  std::array<Vector2, 2> soles{left_sole.head<2>(), right_sole.head<2>()};
  for (const Footstep& step : footsteps) {
    const Side side = side_of(step);
    const Vector2 way = Vector2(step.x, step.y) - soles[other(side)];
    const double beside = side == left ? way.y() : -way.y();
    if (!(std::abs(way.x()) <= times_.reach_m && beside >= times_.narrow_m && beside <= times_.wide_m)) return false;
    soles[side] = {step.x, step.y};
  }
  return !footsteps.empty() && 2 * footsteps.size() + 2 <= most_phases;
}

bool StepPlan::step_to(double now, std::span<const Footstep> footsteps, const Vector3& left_sole,
                       const Vector3& right_sole) {
  if (!standing(now) || !can_reach(footsteps, left_sole, right_sole)) return false;
  begin(now, left_sole, right_sole);
  for (const Footstep& step : footsteps) {
    const Side side = side_of(step);
    add(times_.shift_s, weight_on(other(side)));
    add_swing(side, {step.x, step.y, soles_[side].z()});
  }
  add(times_.settle_s, middle());
  return true;
}

bool StepPlan::standing(double now) const { return count_ == 0 || now >= phases_[count_ - 1].end; }

const StepPlan::Phase* StepPlan::at(double t) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (t < phases_[i].end) return &phases_[i];
  }
  return nullptr;
}

Vector2 StepPlan::pressure(double t) const {
  const Phase* phase = at(t);
  if (phase == nullptr) return weight_;
  const double s = (t - phase->begin) / (phase->end - phase->begin);
  return phase->from + ease(s).value * (phase->to - phase->from);
}

Vector2 StepPlan::preview(double t, double omega) const {
  constexpr double step = 0.02;
  constexpr int samples = 100;
  Vector2 sum = Vector2::Zero();
  const double keep = std::exp(-omega * step);
  double weight = 1;
  for (int k = 0; k < samples; ++k, weight *= keep) sum += weight * (1 - keep) * pressure(t + (k + 0.5) * step);
  return sum + weight * pressure(t + samples * step);
}

Swing StepPlan::swing(double t) const {
  Swing swing;
  const Phase* phase = at(t);
  if (phase == nullptr || !phase->swings) return swing;
  swing.active = true;
  swing.side = phase->side;
  const double length = phase->end - phase->begin;
  const double s = (t - phase->begin) / length;
  const Vector3 from = sole(phase->side, phase->begin - 1e-9);
  const Vector3 way = phase->soles[phase->side] - from;
  // Sideways in the middle of the swing, up in its first and down in its second half.
  const Ease across = ease((s - 0.2) / 0.6);
  const bool up = s < 0.5;
  const Ease lift = ease(up ? 2 * s : 2 - 2 * s);
  swing.position = from + across.value * way;
  swing.velocity = across.slope / (0.6 * length) * way;
  swing.acceleration = across.bend / (0.36 * length * length) * way;
  swing.position.z() += times_.lift_m * lift.value;
  swing.velocity.z() += times_.lift_m * lift.slope * (up ? 2 : -2) / length;
  swing.acceleration.z() += times_.lift_m * lift.bend * 4 / (length * length);
  return swing;
}

Vector3 StepPlan::sole(Side side, double t) const {
  Vector3 where = first_soles_[side];
  for (std::size_t i = 0; i < count_ && phases_[i].end <= t; ++i) where = phases_[i].soles[side];
  return where;
}

std::array<Vector3, 2> StepPlan::soles(double t) const {
  std::array<Vector3, 2> all{sole(left, t), sole(right, t)};
  if (const Swing now = swing(t); now.active) all[now.side] = now.position;
  return all;
}

int StepPlan::steps_done(double t) const {
  int steps = -1;
  for (std::size_t i = 0; i < count_ && phases_[i].begin <= t; ++i) steps += phases_[i].swings ? 1 : 0;
  return steps;
}

}  // namespace atlas
