#include "run/agent_programs.hpp"

#include <algorithm>

#include "core/ensure.hpp"
#include "run/coordinator_specs.hpp"
#include "run/library_program.hpp"

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

AgentPrograms::AgentPrograms(const Scenario& scenario, Stage& stage, V2xUnit* radio)
    : scenario_(scenario), stage_(stage), plant_(stage, scenario) {
  check_repeatable(scenario_);
  check_boards(scenario_);
  const Scenario here = without_targets(scenario_);
  check_executables(here);
  robots_ = robot_specs(here, libraries_of(here, stage, plant_));
  std::erase_if(robots_, [](const programs::RobotSpec& robot) { return robot.programs.empty(); });
  for (programs::RobotSpec& robot : robots_) tie_to_faults(robot, stage.faults());
  numbered_ = programs::numbered(robots_);
  for (const programs::TargetSpec& target : target_specs(scenario_)) {
    numbered_.names.push_back(target.name);
    numbered_.speeds.emplace_back();
  }
  if (radio != nullptr) radio_.emplace(scenario_, *radio);
  if (has_wires(scenario_)) wires_.emplace(scenario_, stage, plant_);
  ros_ = ros_posts(scenario_, stage, plant_, radio_ ? radio_->names() : std::vector<std::string>());
  if (radio_) {
    radio_->tell_frames([this](const std::string& name, SimTime arrives, std::span<const std::uint8_t> octets) {
      for (const auto& post : ros_) post->frame(name, arrives, octets);
      if (wires_) wires_->frame(name.substr(0, name.find('/')), arrives, octets);
    });
    if (wires_) {
      wires_->set_radio([this](const auto& robot, SimTime at, auto octets) { return radio_->say(robot, at, octets); });
    }
  }
  for (const programs::Correspondent* one : correspondents()) {
    numbered_.names.insert(numbered_.names.end(), one->names().begin(), one->names().end());
  }
}

AgentPrograms::~AgentPrograms() = default;

std::vector<programs::Correspondent*> AgentPrograms::correspondents() {
  std::vector<programs::Correspondent*> all;
  if (radio_) all.push_back(&*radio_);
  if (wires_) all.push_back(&*wires_);
  for (const auto& post : ros_) all.push_back(post.get());
  return all;
}

void AgentPrograms::record_with(programs::Recorder& recorder, RunRecord* journal, Producer* producer) {
  recorder_ = &recorder;
  journal_ = journal;
  producer_ = producer;
  if (journal == nullptr) return;
  for (const auto& post : ros_) post->record(journal->journal(), *producer);
}

void AgentPrograms::open(RunWatch& watch, Clock& clock) {
  for (const auto& post : ros_) post->open(watch, clock);
}

std::vector<OutputRecord> AgentPrograms::outputs() const { return outputs_of(without_targets(scenario_)); }

void AgentPrograms::start(SimTime begin, SimTime until, std::function<bool()> stopping,
                          const BoardHost::Listening& on_listening) {
  ENSURE(recorder_ != nullptr, "programs of agents that nobody records");
  programs::CoordinatorOptions how = coordinator_options(scenario_, stage_.step());
  how.trouble = &stage_.faults();
  stage_.faults().set_ahead(begin - stage_.world().time());
  how.stopping = std::move(stopping);
  if (has_boards(scenario_)) {
    boards_.emplace(scenario_, journal_, producer_, how.trouble);
    boards_->begin(on_listening);
    how.boards = &boards_->boards();
  }
  how.correspondents = correspondents();
  shifted_ = std::make_unique<ShiftedPlant>(plant_, begin - stage_.world().time());
  if (wires_) wires_->look_through(*shifted_);
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
  if (boards_) boards_->finish(report);
  if (wires_) wires_->finish(report);
}

bool has_programs(const Scenario& scenario, const std::string& body) {
  return std::any_of(scenario.robots.begin(), scenario.robots.end(), [&](const auto& robot) {
    return (robot.second.body.empty() ? robot.first : robot.second.body) == body && !robot.second.programs.empty();
  });
}

}  // namespace isochron
