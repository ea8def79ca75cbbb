#include "scenario/agent_programs.hpp"

#include <algorithm>

#include "core/ensure.hpp"
#include "scenario/coordinator_specs.hpp"
#include "scenario/library_program.hpp"

namespace isochron {

/// The stage's time, which begins at zero, as the client's, which may begin later.
class AgentPrograms::ShiftedPlant final : public ForwardingPlant {
 public:
  ShiftedPlant(Plant& plant, SimSpan shift) : ForwardingPlant(plant), shift_(shift) {}

  [[nodiscard]] SimTime time() const override { return ForwardingPlant::time() + shift_; }
  Result<Done, std::string> advance_to(SimTime t) override { return ForwardingPlant::advance_to(t - shift_); }
  SimTime asked(std::uint32_t variable, SimTime at) override {
    return ForwardingPlant::asked(variable, at - shift_) + shift_;
  }
  void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) override {
    ForwardingPlant::read(variable, at - shift_, value);
  }
  Sample sample(std::uint32_t variable, SimTime at, std::span<std::byte> room) override {
    Sample sample = ForwardingPlant::sample(variable, at - shift_, room);
    sample.stamp += shift_;
    return sample;
  }
  [[nodiscard]] SimTime holds_until(std::uint32_t variable, SimTime at) const override {
    const SimTime until = ForwardingPlant::holds_until(variable, at - shift_);
    return until == SimTime::never() ? until : until + shift_;
  }
  void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) override {
    ForwardingPlant::write(variable, at - shift_, value);
  }

 private:
  SimSpan shift_;
};

AgentPrograms::AgentPrograms(const Scenario& scenario, Stage& stage)
    : scenario_(scenario), stage_(stage), plant_(stage, scenario) {
  check_repeatable(scenario_);
  check_executables(scenario_);
  robots_ = robot_specs(scenario_, libraries_of(scenario_, stage, plant_));
  std::erase_if(robots_, [](const coordinator::RobotSpec& robot) { return robot.programs.empty(); });
  numbered_ = coordinator::numbered(robots_);
}

AgentPrograms::~AgentPrograms() = default;

std::vector<OutputRecord> AgentPrograms::outputs() const { return outputs_of(scenario_); }

void AgentPrograms::start(SimTime begin, SimTime until, std::function<bool()> stopping) {
  ENSURE(recorder_ != nullptr, "programs of agents that nobody records");
  coordinator::CoordinatorOptions how = coordinator_options(scenario_, stage_.step());
  how.delay = [this](const std::string& program) { return stage_.faults().take_delay(program); };
  how.stopping = std::move(stopping);
  shifted_ = std::make_unique<ShiftedPlant>(plant_, begin - stage_.world().time());
  companions_.emplace(*shifted_, robots_, std::move(how), *recorder_, until);
}

Result<Done, std::string> AgentPrograms::take_turn() {
  ENSURE(started(), "programs of agents take turns before they are started");
  plant_.refresh();  // others were placed since the last step
  return companions_->take_turn();
}

void AgentPrograms::finish(RunReport& report) {
  if (!companions_) return;
  fill_programs(companions_->finish(), report);
}

bool has_programs(const Scenario& scenario, const std::string& body) {
  return std::any_of(scenario.robots.begin(), scenario.robots.end(), [&](const auto& robot) {
    return (robot.second.body.empty() ? robot.first : robot.second.body) == body && !robot.second.programs.empty();
  });
}

}  // namespace isochron
