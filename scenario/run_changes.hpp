#pragma once
// What of a scenario can be changed while its run goes on, between two steps of the world: the mark `change` with
// "KEY=VALUE" (scenario/mark.hpp). Everything else was used when the run was set up, and cannot.
//
//     world.wind.…  world.walls.…                     the fields that act on free bodies
//     robots.R.sensors.S.…  robots.R.actuators.A.…    noise, offsets, delays, limits; what they remember stays
//     time.cpu_speed  robots.R.programs.P.cpu_speed   what computing costs from then on
//
// Threads: owner thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

/// Which part of the run a key is for.
enum class ChangedPart { fields, sensors, actuators, speed };
/// Nothing: it cannot be changed in the middle of a run.
std::optional<ChangedPart> changed_part(std::string_view key);

/// "KEY=VALUE" in two.
std::optional<Override> override_of(std::string_view text);

/// Whether the run of this scenario could take the change; else what is wrong with it, and what to do.
Result<Done, std::string> check_change(const Scenario& scenario, const Override& set);

/// A scenario and what was changed in it, some of it for a while.
class ChangedScenario {
 public:
  explicit ChangedScenario(const Scenario& scenario) : base_(scenario) {}
  [[nodiscard]] const Scenario& base() const { return base_; }
  /// Nothing is in force, and nothing will end.
  [[nodiscard]] bool empty() const { return settings_.empty(); }
  void add(Override set, SimTime until) { settings_.push_back({std::move(set), until}); }
  /// Whether something ended by `now`.
  bool expire(SimTime now);
  /// As it is now. Throws InputError.
  [[nodiscard]] Scenario now() const;
  /// What a program computes costs now, times this.
  [[nodiscard]] static double slowness(const Scenario& base, const Scenario& now, const std::string& robot,
                                       const std::string& program);

 private:
  struct Setting {
    Override set;
    SimTime until;
  };
  Scenario base_;
  std::vector<Setting> settings_;
};

}  // namespace isochron
