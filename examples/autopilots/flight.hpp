#pragma once
// A small autopilot: a mission, and the cascade position → velocity → attitude → rate → motors that flies it. North,
// east, down; forward, right, down. It is told where the vehicle is, and knows how heavy it is.

#include <array>
#include <cmath>
#include <cstdio>

namespace flight {

using Vec = std::array<double, 3>;
using Quat = std::array<double, 4>;

struct State {
  double time = 0;
  Vec position{}, velocity{}, rate{};
  Quat attitude{1, 0, 0, 0};
};

inline Vec operator+(const Vec& a, const Vec& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vec operator-(const Vec& a, const Vec& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vec operator*(const Vec& a, double k) { return {a[0] * k, a[1] * k, a[2] * k}; }
inline double dot(const Vec& a, const Vec& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vec cross(const Vec& a, const Vec& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double length(const Vec& a) { return std::sqrt(dot(a, a)); }
inline Vec limited(const Vec& a, double most) { return length(a) > most ? a * (most / length(a)) : a; }
inline double limited(double a, double most) { return a > most ? most : a < -most ? -most : a; }
/// The body's axis in the world.
inline Vec axis(const Quat& q, int which) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  if (which == 0) return {1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)};
  if (which == 1) return {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)};
  return {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)};
}

/// Up, a square, down: where the vehicle should be at a time, and how fast it should move then.
class Mission {
 public:
  struct Goal {
    Vec position{}, velocity{};
    bool landing = false;
    bool done = false;
  };
  Mission(const Vec& home, double height, double side, double speed) : home_(home), speed_(speed) {
    const double half = side / 2, up = -height;
    const Vec corners[] = {{0, 0, up},        {0, 0, up},       {half, half, up}, {half, -half, up}, {-half, -half, up},
                           {-half, half, up}, {half, half, up}, {0, 0, up},       {0, 0, up},        {0, 0, 0.4}};
    Vec from{};
    double at = 1;
    int i = 0;
    for (const Vec& to : corners) {
      const double pace = i == 9 ? 0.5 : speed;
      const double takes = std::max(1.0, length(to - from) / pace);
      legs_[static_cast<std::size_t>(i++)] = {at, takes, from, to};
      at += takes;
      from = to;
    }
    end_ = at + 1;
  }
  [[nodiscard]] Goal at(double time) const {
    Goal goal{home_, {}, false, time >= end_};
    for (const Leg& leg : legs_) {
      if (time < leg.begin) break;
      const double part = std::min(1.0, (time - leg.begin) / leg.takes);
      goal.position = home_ + leg.from + (leg.to - leg.from) * part;
      goal.velocity = part < 1 ? (leg.to - leg.from) * (1 / leg.takes) : Vec{};
      goal.landing = &leg == &legs_.back();
    }
    return goal;
  }
  /// Whether it flies between these: then how well it follows is worth measuring.
  [[nodiscard]] bool cruises(double time) const { return time > legs_[1].begin && time < legs_.back().begin; }

 private:
  struct Leg {
    double begin = 0, takes = 0;
    Vec from{}, to{};
  };
  Vec home_;
  double speed_;
  std::array<Leg, 10> legs_{};
  double end_ = 0;
};

struct Airframe {
  double mass = 1.2;
  Vec inertia{0.005, 0.0065, 0.0105};
  double arm = 0.16;      // of each motor, forward and sideways
  double torque = 0.016;  // N m per N of thrust
  double most = 6;        // N of one motor
};

class Controller {
 public:
  explicit Controller(const Airframe& frame) : frame_(frame) {}

  /// Of the motors front right, rear left, front left, rear right: 0 to 1, thrust goes with the square.
  std::array<double, 4> fly(const State& state, const Mission::Goal& goal) {
    const double step = last_ < 0 ? 0 : limited(state.time - last_, 0.1);
    last_ = state.time;
    if (goal.done) return {};
    const Vec away = goal.position - state.position;
    const Vec wanted = limited(goal.velocity + away * 1.5, 2);
    const Vec slow = wanted - state.velocity;
    if (!goal.landing) sum_ = limited(sum_ + away * (0.6 * step), 2);
    Vec push = limited(slow * 4 + sum_, 6);
    push[2] -= 9.81;  // what the motors must give, per kilogramme
    const double force = std::max(0.0, -dot(push, axis(state.attitude, 2))) * frame_.mass;
    return mix(force, torque_for(state, push));
  }

 private:
  /// To turn the thrust to where it is wanted, and the nose to where it began.
  Vec torque_for(const State& state, const Vec& push) {
    const Vec down = push * (-1 / length(push));
    const Vec z = axis(state.attitude, 2), x = axis(state.attitude, 0), y = axis(state.attitude, 1);
    const Vec tilt = cross(z, down);  // in the world
    if (!heading_known_) {
      heading_ = std::atan2(x[1], x[0]);
      heading_known_ = true;
    }
    double turn = heading_ - std::atan2(x[1], x[0]);
    turn = std::atan2(std::sin(turn), std::cos(turn));
    const Vec rate{10 * dot(tilt, x), 10 * dot(tilt, y), limited(2 * turn, 0.8)};
    const Vec more{25 * (limited(rate[0], 4) - state.rate[0]), 25 * (limited(rate[1], 4) - state.rate[1]),
                   8 * (rate[2] - state.rate[2])};
    return {more[0] * frame_.inertia[0], more[1] * frame_.inertia[1], more[2] * frame_.inertia[2]};
  }

  [[nodiscard]] std::array<double, 4> mix(double force, const Vec& torque) const {
    const double roll = limited(torque[0] / (4 * frame_.arm), 1.5);
    const double pitch = limited(torque[1] / (4 * frame_.arm), 1.5);
    const double yaw = limited(torque[2] / (4 * frame_.torque), 0.8);
    const double all = force / 4;
    const std::array<double, 4> forces{all - roll + pitch + yaw, all + roll - pitch + yaw, all + roll + pitch - yaw,
                                       all - roll - pitch - yaw};
    std::array<double, 4> motors{};
    for (std::size_t i = 0; i < 4; ++i) motors[i] = std::sqrt(std::min(1.0, std::max(0.0, forces[i] / frame_.most)));
    return motors;
  }

  Airframe frame_;
  double last_ = -1;
  Vec sum_{};
  double heading_ = 0;
  bool heading_known_ = false;
};

/// How far from where it should have been.
class Error {
 public:
  void add(double distance) {
    sum_ += distance * distance;
    most_ = std::max(most_, distance);
    ++count_;
  }
  [[nodiscard]] double rms() const { return count_ == 0 ? 0 : std::sqrt(sum_ / static_cast<double>(count_)); }
  [[nodiscard]] double most() const { return most_; }

 private:
  double sum_ = 0, most_ = 0;
  long count_ = 0;
};

/// What an estimator of 24 states would compute in each loop: P = F P Fᵀ + Q.
class Burden {
 public:
  void carry(int times) {
    for (int n = 0; n < times; ++n) {
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
          double sum = i == j ? 1e-6 : 0;
          for (std::size_t k = 0; k < size; ++k) sum += p_[i][k] * p_[j][k];
          q_[i][j] = sum / (1 + std::fabs(sum));
        }
      }
      std::swap(p_, q_);
    }
  }

 private:
  static constexpr std::size_t size = 24;
  std::array<std::array<double, size>, size> p_ = identity(), q_{};
  static std::array<std::array<double, size>, size> identity() {
    std::array<std::array<double, size>, size> p{};
    for (std::size_t i = 0; i < size; ++i) p[i][i] = 1;
    return p;
  }
};

}  // namespace flight
