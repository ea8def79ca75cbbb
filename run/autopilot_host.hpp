#pragma once
// The autopilots of a scenario: makes a link for each, starts those that run outside and have a `run`, and says at the
// end how they did. They stand at the desk together, each as ROBOT/PROGRAM.link: at a step all are told their states
// before the controls of any are waited for, so that autopilots outside compute at the same time.
//
// Requires: begin() before the run, finish() after it. Threads: the run's.

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "programs/board/local_target.hpp"
#include "programs/spec.hpp"
#include "run/autopilot_link.hpp"
#include "run/run.hpp"

namespace isochron {

[[nodiscard]] bool has_autopilots(const Scenario& scenario);
/// The port of each link, in the scenario's order; counted up where the scenario says none.
[[nodiscard]] std::vector<std::uint16_t> autopilot_ports(const Scenario& scenario);

class AutopilotHost final : public programs::Correspondent {
 public:
  /// Throws InputError: a port that is taken, a name that is none. With `open` false ports stay closed: for checks.
  AutopilotHost(const Scenario& scenario, Stage& stage, WorldPlant& plant, std::function<bool()> stopping,
                bool open = true);

  [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
  void enter(programs::System* system) override;
  void leave() override;
  void exchange(programs::Post& post, SimTime now, SimTime until) override;
  [[nodiscard]] bool waits_outside() const override { return waits_; }
  [[nodiscard]] std::optional<std::string> over() const override;

  /// Told when one keeps the world waiting for long.
  void set_on_stall(std::function<void(const std::vector<programs::CoordinatorOptions::Standing>& all)> on_stall) {
    on_stall_ = std::move(on_stall);
  }
  /// Starts those that have a `run` and are outside. Throws InputError.
  void begin();
  void finish(RunReport& report);

 private:
  void add(const std::string& robot, const std::string& name, const ProgramSection& program, std::uint16_t port,
           Stage& stage, WorldPlant& plant, bool open);

  const Scenario& scenario_;
  std::function<bool()> stopping_;
  std::function<void(const std::vector<programs::CoordinatorOptions::Standing>& all)> on_stall_;
  std::vector<std::unique_ptr<AutopilotLink>> links_;
  std::vector<std::string> names_, ideal_;
  bool waits_ = false;  // one of them is outside
  std::list<programs::LocalTarget> local_;
};

}  // namespace isochron
