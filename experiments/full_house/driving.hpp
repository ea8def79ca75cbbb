#pragma once
// How the cars of the full house are driven by programs: straight along a lane, at a speed, to the stop line when the
// signal, as heard by radio, does not let them go, and slower when somebody who is heard comes near. The same for the
// measured executable, the board, the library and the node of ROS 2; what differs is how they are run.
//
// Threads: one instance at a time. Fails: frames that are not understood are passed over.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "v2x/codec/codec.hpp"

namespace full_house {

/// One way into the crossing: the origin of the world is its middle, x east, y north.
struct Approach {
  double heading = 0;     // rad, of who drives in
  double aside = 1.75;    // m, of the lane to the right of the road's middle
  int signal_group = 0;   // as SPaT numbers it
  double stop_at = 16.5;  // m before the middle
};

/// "south" drives north, in the lane next to the middle; "south 2" in the outer one.
inline Approach approach_of(const std::string& name) {
  constexpr double quarter = 1.5707963267948966;
  static const std::map<std::string, std::pair<double, int>> arms{
      {"south", {quarter, 1}}, {"north", {-quarter, 2}}, {"east", {2 * quarter, 3}}, {"west", {0, 4}}};
  const auto arm = arms.find(name.substr(0, name.find(' ')));
  if (arm == arms.end()) return {};
  return {arm->second.first, name.ends_with(" 2") ? 5.25 : 1.75, arm->second.second};
}

struct Controls {
  double steer = 0, throttle = 0, brake = 0;
};

class Driving {
 public:
  Driving(Approach approach, double speed) : approach_(approach), wanted_(speed) {}

  /// What the radio heard.
  void hear(std::span<const std::uint8_t> octets) {
    const auto frame = isochron::v2x::decode(octets);
    if (!frame.ok()) return;
    if (const auto* bsm = std::get_if<isochron::v2x::Bsm>(&frame->message)) {
      speeds_[bsm->core.id] = bsm->core.speed_m_s.value_or(0);
    }
    const auto* spat = std::get_if<isochron::v2x::Spat>(&frame->message);
    if (spat == nullptr) return;
    for (const auto& intersection : spat->intersections) {
      for (const auto& movement : intersection.movements) {
        if (movement.signal_group != approach_.signal_group || movement.events.empty()) continue;
        using State = isochron::v2x::SignalState;
        const State state = movement.events[0].state;
        green_ = state == State::protected_movement_allowed || state == State::permissive_movement_allowed;
        heard_signal_ = true;
        const auto& timing = movement.events[0].timing;
        change_s_ = timing && timing->min_end_s ? *timing->min_end_s : -1;
      }
    }
  }
  /// How many others it has heard.
  [[nodiscard]] std::size_t others() const { return speeds_.size(); }
  [[nodiscard]] bool green() const { return heard_signal_ && green_; }
  /// When that changes, as messages say it: the second of the hour; negative = it was not said.
  [[nodiscard]] double change_s() const { return change_s_; }
  /// How far it is to the stop line, m.
  [[nodiscard]] double to_line(double x, double y) const {
    return -approach_.stop_at - (std::cos(approach_.heading) * x + std::sin(approach_.heading) * y);
  }
  /// Until a planner says something else.
  void want(double speed) { wanted_ = speed; }

  /// `heading` of the car, rad.
  [[nodiscard]] Controls drive(double x, double y, double heading, double speed) const {
    const double c = std::cos(approach_.heading), s = std::sin(approach_.heading);
    const double aside = (s * x - c * y) - approach_.aside;  // to the right of the lane
    const double turned = std::remainder(heading - approach_.heading, 6.283185307179586);
    Controls controls;
    controls.steer = std::clamp(0.12 * aside - 1.2 * turned, -1.0, 1.0);
    double target = wanted_;
    const double left = to_line(x, y);
    // Who hears no signal does not know that it may go; who can no longer stop goes on.
    if (!green() && left > -1 && speed * speed / (2 * 5.0) < left + 1) {
      target = std::min(target, std::sqrt(std::max(0.0, 2 * 2.0 * (left - 0.5))));
    }
    const double more = target - speed;
    controls.throttle = std::clamp(0.35 * more, 0.0, 0.8);
    controls.brake = more < -0.1 ? std::clamp(-0.3 * more, 0.0, 1.0) : target < 0.1 ? 0.4 : 0.0;
    return controls;
  }

 private:
  Approach approach_;
  double wanted_;
  bool green_ = false, heard_signal_ = false;
  double change_s_ = -1;
  std::map<std::uint32_t, double> speeds_;  // of others, by their temporary names
};

/// Of a quaternion w x y z, about the vertical.
inline double heading_of(const std::array<double, 4>& q) {
  return std::atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
}

}  // namespace full_house
