#pragma once
// What a person broke in a running simulation, and until when: sensors that give nothing new, robots whose commands do
// not arrive, programs that compute longer. Each begins between two steps of the world, at a time that the journal has,
// so that a replay breaks the same things again.
//
//     blind  ROBOT/SENSOR   whoever reads it gets what it had last, as long as the sensor keeps that
//     cut    ROBOT          commands to its actuators are lost; the last ones hold
//     delay  PROGRAM        computes that much longer at its next request; a controller in a library misses releases
//
// Threads: the stage's. Cost: without a fault, one look at an empty list.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/run_control.hpp"

namespace isochron {

class InjectedFaults {
 public:
  [[nodiscard]] static bool is_fault(std::string_view what) {
    return what == "blind" || what == "cut" || what == "delay";
  }
  void add(const Mark& mark) { faults_.push_back({mark.what, mark.about, mark.at, mark.at + span_of(mark)}); }

  /// Since when a sensor is blind at `at`; nothing if it sees.
  [[nodiscard]] std::optional<SimTime> blind_since(std::string_view sensor, SimTime at) const {
    for (const Fault& fault : faults_) {
      if (fault.what == "blind" && fault.about == sensor && fault.from <= at && at < fault.until) return fault.from;
    }
    return std::nullopt;
  }
  /// `name` is the robot, or begins with it: "predator/wrench".
  [[nodiscard]] bool cut_off(std::string_view name, SimTime at) const {
    return std::ranges::any_of(faults_, [&](const Fault& fault) {
      return fault.what == "cut" && fault.from <= at && at < fault.until && belongs(name, fault.about);
    });
  }
  /// What a program owes for it; each is taken once.
  SimSpan take_delay(std::string_view program) {
    SimSpan all;
    std::erase_if(faults_, [&](const Fault& fault) {
      if (fault.what != "delay" || fault.about != program) return false;
      all += fault.until - fault.from;
      return true;
    });
    return all;
  }

 private:
  struct Fault {
    std::string what, about;
    SimTime from, until;
  };
  static SimSpan span_of(const Mark& mark) { return SimSpan::from_ns(static_cast<std::int64_t>(mark.seconds * 1e9)); }
  static bool belongs(std::string_view name, std::string_view robot) {
    return name == robot || (name.starts_with(robot) && name.substr(robot.size()).starts_with('/'));
  }
  std::vector<Fault> faults_;
};

}  // namespace isochron
