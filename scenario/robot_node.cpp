#include "scenario/robot_node.hpp"

#include <algorithm>
#include <stdexcept>

#include "scenario/coordinator_specs.hpp"
#include "scenario/library_program.hpp"

namespace isochron {

/// The mirror of the world as the programs write to it: what they do is kept for the node to send.
class RobotNode::Desk final : public ForwardingPlant, public coordinator::Recorder {
 public:
  struct Write {
    SimTime at;
    std::uint32_t variable;
    std::vector<double> values;
  };

  Desk(WorldPlant& plant, std::vector<std::string> programs)
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
  void happened(const coordinator::Happening& h) override {
    did.emplace_back(h.program, event_of(h, programs_, variables()));
  }

 private:
  std::vector<std::uint32_t> writables_;  // places among the plant's variables
  std::vector<std::string> programs_;
};

namespace {

coordinator::RobotSpec spec_of(const Scenario& scenario, const std::string& robot, WorldMirror& mirror,
                               bool libraries) {
  Scenario one = scenario;
  std::erase_if(one.robots, [&](const auto& other) { return other.first != robot; });
  const MakeCalled make = libraries ? libraries_of(one, mirror.stage(), mirror.plant()) : MakeCalled();
  return robot_specs(one, make).at(0);
}

}  // namespace

RobotNode::RobotNode(const Scenario& scenario, const std::string& robot, bool libraries)
    : mirror_(scenario),
      robot_(spec_of(scenario, robot, mirror_, libraries)),
      options_(coordinator_options(scenario, mirror_.stage().step())),
      until_(SimTime::zero() + scenario.duration),
      tick_(output<&RobotNode::tick>("tick", flow::observes(mirror_.stage().step()))),
      writes_(event<WorldWrites>("writes", SimSpan::zero())) {
  for (const std::string& program : coordinator::numbered({robot_}).names) {
    did_.push_back(event<ProgramEvent>(program.substr(robot.size() + 1), SimSpan::zero()));
  }
}

RobotNode::~RobotNode() = default;

void RobotNode::start(SimTime) {
  desk_ = std::make_unique<Desk>(mirror_.plant(), coordinator::numbered({robot_}).names);
  companions_ =
      std::make_unique<Companions>(*desk_, std::vector<coordinator::RobotSpec>{robot_}, options_, *desk_, until_);
}

void RobotNode::finish(SimTime) {
  if (!companions_) return;
  outcome_ = companions_->finish();
  companions_.reset();
}

void RobotNode::tick(Tick& tick, SimTime now) {
  ++tick.number;
  if (const auto turn = companions_->take_turn(); !turn.ok()) throw std::runtime_error(turn.error());
  send(now);
}

/// What happened is told when the step is over: the coordinator orders it first. Its own times are inside.
void RobotNode::send(SimTime now) {
  for (const Desk::Write& write : desk_->writes) {
    writes_.fill(std::max(write.at, now), [&](WorldWrites& out) {
      out.variables.assign(1, write.variable);
      out.values = write.values;
    });
  }
  for (auto& [program, event] : desk_->did) did_[program].send(now, event);
  desk_->writes.clear();
  desk_->did.clear();
}

}  // namespace isochron
