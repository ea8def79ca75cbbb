#include "scenario/robot_node.hpp"

#include <algorithm>
#include <stdexcept>

#include "scenario/coordinator_specs.hpp"

namespace isochron {

/// Where the node and the coordinator's thread meet: whoever has the turn works, the other waits.
class RobotNode::Desk final : public coordinator::Plant, public coordinator::Recorder {
 public:
  struct Write {
    SimTime at;
    std::uint32_t variable;
    std::vector<double> values;
  };

  explicit Desk(RobotNode& node) : node_(node), plant_(node.mirror_.plant()), writables_(writables_of(plant_)) {
    thread_ = std::thread([this] { work(); });
  }
  ~Desk() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    stop_.request_stop();
    turn_changed_.notify_all();
    thread_.join();
  }

  /// Lets the coordinator go on until it needs the next state. Throws when it ended for another reason than the end.
  void give_turn() {
    std::unique_lock lock(mutex_);
    coordinators_turn_ = true;
    turn_changed_.notify_all();
    turn_changed_.wait(lock, [this] { return !coordinators_turn_ || over_; });
    if (!why_.empty()) throw std::runtime_error(why_);
  }

  std::vector<Write> writes;
  std::vector<std::pair<std::uint32_t, ProgramEvent>> did;

  [[nodiscard]] const std::vector<coordinator::Variable>& variables() const override { return plant_.variables(); }
  [[nodiscard]] SimTime time() const override { return plant_.time(); }
  SimTime asked(std::uint32_t variable, SimTime at) override { return plant_.asked(variable, at); }
  void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) override {
    plant_.read(variable, at, value);
  }
  coordinator::Sample sample(std::uint32_t variable, SimTime at, std::span<std::byte> room) override {
    return plant_.sample(variable, at, room);
  }
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t variable,
                                                std::span<const std::byte> value) const override {
    return plant_.check(variable, value);
  }
  void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) override {
    const auto* first = reinterpret_cast<const double*>(value.data());
    const auto place = std::find(writables_.begin(), writables_.end(), variable) - writables_.begin();
    writes.push_back(
        {at, static_cast<std::uint32_t>(place), std::vector<double>(first, first + value.size() / sizeof(double))});
    plant_.write(variable, at, value);  // so that the program reads back what it holds
  }
  Result<Done, std::string> advance_to(SimTime) override {
    std::unique_lock lock(mutex_);
    coordinators_turn_ = false;
    turn_changed_.notify_all();
    turn_changed_.wait(lock, [this] { return coordinators_turn_ || ending_; });
    return done();
  }
  void happened(const coordinator::Happening& h) override {
    ProgramEvent event = event_of(h, programs_, variables());
    did.emplace_back(h.program, std::move(event));
  }

 private:
  void work() {
    {
      std::unique_lock lock(mutex_);
      turn_changed_.wait(lock, [this] { return coordinators_turn_ || ending_; });
      if (ending_) return;
    }
    std::string why;
    try {
      for (const coordinator::ProgramSpec& program : node_.robot_.programs) {
        programs_.push_back(node_.robot_.name + "/" + program.name);
      }
      coordinator::Coordinator coordinator(*this, {node_.robot_}, node_.options_, this);
      const coordinator::Outcome outcome = coordinator.run(node_.until_, stop_.get_token());
      if (!outcome.completed) why = outcome.why_ended;
    } catch (const std::exception& error) {
      why = error.what();
    }
    const std::lock_guard lock(mutex_);
    over_ = true;
    why_ = std::move(why);
    turn_changed_.notify_all();
  }

  RobotNode& node_;
  WorldPlant& plant_;
  std::vector<std::uint32_t> writables_;  // places among the plant's variables
  std::vector<std::string> programs_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  bool coordinators_turn_ = false;
  bool ending_ = false;
  bool over_ = false;
  std::string why_;
  std::thread thread_;
};

RobotNode::RobotNode(const Scenario& scenario, coordinator::RobotSpec robot)
    : mirror_(scenario),
      robot_(std::move(robot)),
      options_(coordinator_options(scenario, mirror_.stage().step())),
      until_(SimTime::zero() + scenario.duration),
      tick_(output<&RobotNode::tick>("tick", flow::observes(mirror_.stage().step()))),
      writes_(event<WorldWrites>("writes", SimSpan::zero())) {
  options_.pace.reset();  // the flows keep it
  for (const coordinator::ProgramSpec& program : robot_.programs) {
    did_.push_back(event<ProgramEvent>(program.name, SimSpan::zero()));
  }
}

RobotNode::~RobotNode() = default;

void RobotNode::start(SimTime) { desk_ = std::make_unique<Desk>(*this); }

void RobotNode::finish(SimTime) { desk_.reset(); }

void RobotNode::tick(Tick& tick, SimTime now) {
  ++tick.number;
  desk_->give_turn();
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
