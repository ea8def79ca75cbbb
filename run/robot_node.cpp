#include "run/robot_node.hpp"

#include <algorithm>
#include <stdexcept>

#include "run/coordinator_specs.hpp"
#include "run/library_program.hpp"

namespace isochron {

/// The mirror of the world as the programs write to it: what they do is kept for the node to send.
class RobotNode::Notes final : public ForwardingPlant, public programs::Recorder {
 public:
  struct Write {
    SimTime at;
    std::uint32_t variable;
    std::vector<double> values;
  };

  Notes(WorldPlant& plant, std::vector<std::string> programs)
      : ForwardingPlant(plant), writables_(writables_of(plant)), programs_(std::move(programs)) {}

  std::vector<Write> writes;
  std::vector<std::pair<std::uint32_t, ProgramEvent>> did;

  void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) override {
    const auto* first = reinterpret_cast<const double*>(value.data());
    const auto place = std::find(writables_.begin(), writables_.end(), variable) - writables_.begin();
    writes.push_back(
        {at, static_cast<std::uint32_t>(place), std::vector<double>(first, first + value.size() / sizeof(double))});
    ForwardingPlant::write(variable, at, value);  // so that the program reads back what it holds
  }
  void happened(const programs::Happening& h) override {
    fill(did.emplace_back(h.program, ProgramEvent{}).second, h, programs_, variables());
  }

 private:
  std::vector<std::uint32_t> writables_;  // places among the plant's variables
  std::vector<std::string> programs_;
};

namespace {

Scenario with_only(const Scenario& scenario, const std::string& robot) {
  Scenario one = scenario;
  std::erase_if(one.robots, [&](const auto& other) { return other.first != robot; });
  return one;
}

programs::RobotSpec spec_of(const Scenario& own, WorldMirror& mirror) {
  const Scenario here = without_targets(own);
  std::vector<programs::RobotSpec> robots = robot_specs(here, libraries_of(here, mirror.stage(), mirror.plant()));
  return robots.empty() ? programs::RobotSpec{own.robots.begin()->first, 1, {}, {}} : std::move(robots[0]);
}

/// Executables, libraries, boards, wires: in the order in which the coordinator numbers them.
std::vector<std::string> names_of(const Scenario& own, const programs::RobotSpec& robot,
                                  const std::optional<RobotWires>& wires) {
  std::vector<std::string> names = programs::numbered({robot}).names;
  for (const programs::TargetSpec& target : target_specs(own)) names.push_back(target.name);
  if (wires) names.insert(names.end(), wires->names().begin(), wires->names().end());
  return names;
}

}  // namespace

RobotNode::RobotNode(const Scenario& scenario, const std::string& robot)
    : mirror_(scenario),
      own_(with_only(scenario, robot)),
      robot_(spec_of(own_, mirror_)),
      options_(coordinator_options(scenario, mirror_.stage().step())),
      until_(SimTime::zero() + scenario.duration),
      tick_(output<&RobotNode::tick>("tick", flow::observes(mirror_.stage().step()))),
      writes_(event<WorldWrites>("writes", SimSpan::zero())) {
  options_.trouble = &mirror_.stage().faults();
  tie_to_faults(robot_, mirror_.stage().faults());
  if (has_wires(own_)) wires_.emplace(own_, mirror_.stage(), mirror_.plant());
  for (const std::string& program : names_of(own_, robot_, wires_)) {
    did_.push_back(event<ProgramEvent>(program.substr(robot.size() + 1), SimSpan::zero()));
  }
}

RobotNode::~RobotNode() = default;

void RobotNode::start(SimTime) {
  notes_ = std::make_unique<Notes>(mirror_.plant(), names_of(own_, robot_, wires_));
  if (has_boards(own_)) {
    boards_.emplace(own_, nullptr, nullptr, options_.trouble);
    boards_->begin();
    options_.boards = &boards_->boards();
  }
  if (wires_) {
    wires_->look_through(*notes_);
    options_.correspondents.push_back(&*wires_);
  }
  companions_ = std::make_unique<programs::Companions>(*notes_, std::vector<programs::RobotSpec>{robot_}, options_,
                                                       *notes_, until_);
}

void RobotNode::finish(SimTime) {
  if (!companions_) return;
  outcome_ = companions_->finish();
  companions_.reset();
  if (RunReport ignored; boards_) boards_->finish(ignored);
}

void RobotNode::tick(Tick& tick, SimTime now) {
  ++tick.number;
  mirror_.stage().slow_down(now);
  if (const auto turn = companions_->take_turn(); !turn.ok()) throw std::runtime_error(turn.error());
  send(now);
}

/// What happened is told when the step is over: the coordinator orders it first. Its own times are inside.
void RobotNode::send(SimTime now) {
  for (const Notes::Write& write : notes_->writes) {
    writes_.fill(std::max(write.at, now), [&](WorldWrites& out) {
      out.variables.assign(1, write.variable);
      out.values = write.values;
    });
  }
  for (auto& [program, event] : notes_->did) did_[program].send(now, event);
  notes_->writes.clear();
  notes_->did.clear();
}

}  // namespace isochron
