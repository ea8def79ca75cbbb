#pragma once
// What a person or a timeline broke in a running simulation, and until when: sensors that give nothing new, robots
// whose commands do not arrive, programs that compute longer, stand still or end, links that lose messages. Each begins
// between two steps of the world, at a time that the journal has, so that a replay breaks the same things again.
//
//     blind  ROBOT/SENSOR   whoever reads it gets what it had last, as long as the sensor keeps that
//     cut    ROBOT          commands to its actuators are lost; the last ones hold
//     delay  PROGRAM        computes that much longer at its next request; a controller in a library misses releases
//     stop   PROGRAM        stands still from its next request on, and leaves its CPU to others
//     slow   PROGRAM        computing costs it so many times as much, for a while
//     kill   PROGRAM        ends at its next request, as if it had crashed
//     unplug PROGRAM        a board whose connection breaks
//     link   A or A, B      messages of robot or program A to all others, or between A and B, are lost or late
//
// Threads: the stage's. Cost: without a fault, one look at an empty list.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/trouble.hpp"
#include "run/run_control.hpp"

namespace isochron {

class InjectedFaults final : public programs::Trouble {
 public:
  [[nodiscard]] static bool is_fault(std::string_view what);
  explicit InjectedFaults(std::uint64_t seed = 1) : seed_(seed) {}
  void add(const Mark& mark);
  /// How far the programs' time is ahead of the stage's.
  void set_ahead(SimSpan ahead) { ahead_ = ahead; }

  /// Since when a sensor is blind at `at`; nothing if it sees.
  [[nodiscard]] std::optional<SimTime> blind_since(std::string_view sensor, SimTime at) const;
  /// `name` is the robot, or begins with it: "predator/wrench".
  [[nodiscard]] bool cut_off(std::string_view name, SimTime at) const;

  SimSpan take_delay(const std::string& program, SimTime at) override;
  SimTime stopped_until(const std::string& program, SimTime at) override;
  bool take_end(const std::string& program, SimTime at) override;
  std::optional<SimSpan> carry(const std::string& from, const std::string& to, SimTime at,
                               std::uint64_t number) override;

  /// How many times as much computing costs the program; kept up to date by slow_down().
  std::shared_ptr<const double> slowness(const std::string& program);
  /// Before each step. `speed` says what a program's changed cpu_speed makes of it.
  template <class Speed>
  void slow_down(SimTime now, Speed&& speed) {
    for (auto& [program, factor] : slowness_) {
      *factor = speed(program);
      for (const Fault& fault : faults_) {
        if (fault.what == "slow" && fault.about == program && fault.lasts(now)) *factor *= fault.amount;
      }
    }
  }

 private:
  struct Fault {
    std::string what, about;
    SimTime from, until;
    double amount = 0;  // slow: how many times as much; link: the share that is lost
    SimSpan late;       // link
    [[nodiscard]] bool lasts(SimTime at) const { return from <= at && at < until; }
  };

  std::uint64_t seed_;
  SimSpan ahead_;
  std::vector<Fault> faults_;
  std::map<std::string, std::shared_ptr<double>> slowness_;
};

}  // namespace isochron
