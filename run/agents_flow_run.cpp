// Mode repeatable for agents: each client is a node, its agents' states a flow that speaks every heartbeat. What a
// client does until t + heartbeat depends on what others said up to t, and on nothing else: one digest, whoever runs
// it.

#include <algorithm>
#include <map>

#include "agents/state_cache.hpp"
#include "bridge/sumo/node.hpp"
#include "flow/check.hpp"
#include "flow/dynamic_node.hpp"
#include "flow/system.hpp"
#include "run/agent_world.hpp"
#include "run/agents_traffic.hpp"
#include "run/program_record.hpp"
#include "run/runners.hpp"
#include "scenario/timed_faults.hpp"
#include "traffic/v2x_node.hpp"
#include "world/messages.hpp"

namespace isochron {
namespace {

class AgentNode final : public flow::DynamicNode {
 public:
  AgentNode(const Scenario& scenario, const std::string& client, const std::vector<std::string>& others, bool seen,
            const PlanOutside& outside)
      : world_(scenario, client),
        heartbeat_(scenario.agents->heartbeat),
        state_(world_.stage().world().make_state()),
        outside_(outside) {
    for (const std::string& other : others) input<&AgentNode::hear>(other);
    if (scenario.v2x) input<&AgentNode::hear_radio>("radio");
    output<&AgentNode::tell>("states", flow::every(heartbeat_));
    if (seen) output<&AgentNode::show>("tf", flow::every(heartbeat_));
    if (seen && !planned_marks(scenario).empty()) marks_ = event<Mark>("marks", SimSpan::zero());
    if (scenario.v2x) output<&AgentNode::tell_radio>("said", flow::every(heartbeat_));
    if (world_.programs() == nullptr) return;
    until_ = SimTime::zero() + scenario.duration;
    did_ = std::make_unique<ProgramsSaid>(*world_.programs());
    programs_.assign(did_->names.begin(), did_->names.begin() + static_cast<std::ptrdiff_t>(did_->programs));
    for (const std::string& program : programs_) events_.push_back(event<ProgramEvent>(program, SimSpan::zero()));
    world_.programs()->record_with(*did_);
    for (const auto& post : world_.programs()->ros()) add_ros(*post);
  }

  void start(SimTime now) override {
    if (!did_) return;
    world_.programs()->open(outside_.watch, outside_.clock);
    world_.programs()->start(now, until_);
  }
  void finish(SimTime) override {
    if (!did_) return;
    RunReport ignored;
    world_.programs()->finish(ignored);
  }
  [[nodiscard]] const std::vector<std::string>& programs() const { return programs_; }
  /// What its bridges to nodes of ROS record, in the order of its last outputs.
  [[nodiscard]] const std::vector<ChannelDefinition>& ros() const { return ros_; }
  /// What its world looks like, which is everybody's.
  [[nodiscard]] scene::SceneUpdate scene() { return scene::scene_for_journal(world_.stage().world().engine()); }

 private:
  void heard(std::uint32_t, const void*, SimTime) override {}
  void fill(std::uint32_t, void*, SimTime) override {}

  void add_ros(RosPost& post) {
    const auto first = static_cast<std::uint32_t>(output_count());
    const std::vector<const flow::PayloadType*> types = post.payloads();
    std::size_t next = 0;
    for (ChannelDefinition& channel : post.channels()) {
      add_output({channel.topic.substr(1), flow::FlowKind::event, {}, {}, {}, 16, types[next++]}, nullptr);
      ros_.push_back(std::move(channel));
    }
    post.record([this, first](std::size_t channel, SimTime, std::span<const std::byte> cdr) {
      from_ros_.emplace_back(first + static_cast<std::uint32_t>(channel), std::vector(cdr.begin(), cdr.end()));
    });
  }

  /// What the programs did since it was sent.
  struct ProgramsSaid final : programs::Recorder {
    explicit ProgramsSaid(const AgentPrograms& all)
        : names(all.numbered().names), programs(all.numbered().speeds.size()), variables(all.plant().variables()) {}
    void happened(const programs::Happening& h) override {
      if (h.program < programs)
        isochron::fill(events.emplace_back(h.program, ProgramEvent{}).second, h, names, variables);
    }
    std::vector<std::string> names;
    std::size_t programs;  // the first of them
    const std::vector<Variable>& variables;
    std::vector<std::pair<std::uint32_t, ProgramEvent>> events;
  };

  void hear(const AgentStates& states, SimTime, flow::InputId from) {
    if (heard_.size() <= from.index) heard_.resize(from.index + 1);
    for (const AgentState& before : heard_[from.index].agents) {  // who is not there any more
      if (std::ranges::find(states.agents, before.name, &AgentState::name) == states.agents.end()) {
        world_.remove(before.name);
      }
    }
    heard_[from.index] = states;
  }

  /// Whichever output comes first at t takes the steps.
  void advance(SimTime t) {
    while (world_.time() < t) {
      place_others();
      const auto stepped = world_.take_step();
      if (!stepped.ok()) throw std::runtime_error(stepped.error());
      for (const Mark& done : world_.stage().take_done()) {
        if (marks_) marks_->fill(t, [&](Mark& mark) { mark = done; });
      }
    }
    if (!did_) return;
    for (const auto& [program, event] : did_->events) events_[program].send(t, event);
    did_->events.clear();
    for (const auto& [output, cdr] : from_ros_) (void)send_cdr(output, t, cdr);  // it was checked when it came
    from_ros_.clear();
  }

  void show(tf2_msgs::TFMessage& transforms, SimTime t) {
    advance(t);
    world_.stage().world().read(state_);
    world::fill(transforms, state_, world_.stage().world().catalog());
  }

  void tell(AgentStates& states, SimTime t) {
    advance(t);
    states.stamp = t;
    states.agents.resize(world_.own().size());
    for (std::size_t i = 0; i < states.agents.size(); ++i) world_.fill(i, states.agents[i]);
  }

  void hear_radio(const v2x::AirNews& news) { world_.radio()->hear(news); }
  /// After the states of that time: what is sent from then on.
  void tell_radio(v2x::AirUp& up) { up = world_.report_radio(heartbeat_); }

  /// From where they were said to be, straight on.
  void place_others() {
    for (const AgentStates& states : heard_) {
      const SimSpan age = world_.time() - states.stamp;
      for (AgentState state : states.agents) {
        const auto body = agents::extrapolate({state.position, state.orientation, state.linear, state.angular}, age);
        state.position = body.position;
        state.orientation = body.orientation;
        world_.place(state);
      }
    }
  }

  AgentWorld world_;
  SimSpan heartbeat_;
  world::State state_;
  std::vector<AgentStates> heard_;
  SimTime until_;
  std::unique_ptr<ProgramsSaid> did_;  // null: no program drives its agents
  std::vector<std::string> programs_;
  std::vector<flow::Event<ProgramEvent>> events_;
  const PlanOutside& outside_;
  std::vector<ChannelDefinition> ros_;
  std::vector<std::pair<std::uint32_t, std::vector<std::byte>>> from_ros_;  // since it was sent: the output
  std::optional<flow::Event<Mark>> marks_;  // of the world that is seen, if something is done to it
};

/// The air between the clients, as one more node.
void add_air(FlowPlan& plan, const Scenario& scenario, std::vector<std::string> clients,
             const std::map<std::string, SumoTies>& traffic, const std::function<void(const void*)>& on_log) {
  for (const auto& [name, ties] : traffic) clients.push_back(name);
  plan.system.add("air", std::make_unique<V2xNode>(scenario, clients));
  plan.places.push_back(scenario.v2x->place);
  // What each client receives is in the log once, for all.
  for (const std::string& client : clients) plan.topics.push_back({"/v2x/to/" + client, false, false});
  plan.topics.push_back({"/v2x/air", true, true, "", on_log});
  for (const std::string& client : clients) {
    const std::string node = traffic.contains(client) ? client + "_radio" : client;
    plan.system.connect(node + ".said", "air." + client);
    plan.system.connect("air.to_" + client, node + ".radio");
  }
}

/// Of "car01/pilot"; zero: none is declared.
SimSpan period_of(const Scenario& scenario, const std::string& program) {
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, found] : section.programs) {
      if (robot + "/" + name == program) return found.every.value_or(SimSpan::zero());
    }
  }
  return SimSpan::zero();
}

/// SUMO nodes are clients like the others, but for who runs them.
void add_traffic(FlowPlan& plan, const Scenario& scenario, const std::map<std::string, SumoTies>& traffic) {
  for (const auto& [name, node] : scenario.nodes) {
    const SumoTies& ties = traffic.at(name);
    try {
      plan.system.add(name, make_sumo_node(scenario, name, node, ties));
    } catch (const InputError& error) {
      std::vector<Mistake> mistakes = error.mistakes();
      for (Mistake& mistake : mistakes) {
        if (mistake.place.line == 0) mistake.place = node.place;
      }
      throw InputError(std::move(mistakes));
    }
    plan.places.push_back(node.place);
    for (const char* flow : {sumo::states_flow, sumo::signals_flow, sumo::traffic_flow}) {
      plan.topics.push_back({"/" + name + "." + flow});
    }
    if (!scenario.v2x) continue;
    plan.system.add(name + "_radio", std::make_unique<TrafficRadio>(scenario, name, ties.slots));
    plan.places.push_back(node.place);
    plan.topics.push_back({"/v2x/said/" + name});
    plan.system.connect(name + "." + sumo::states_flow, name + "_radio.states");
    plan.system.connect(name + "." + sumo::traffic_flow, name + "_radio.traffic");
  }
}

FlowPlan plan_agents(const Scenario& asked, const PlanOutside& outside,
                     const std::function<void(const void*)>& on_log) {
  check_agents(asked);
  const auto clients = agent_clients(asked);
  const auto traffic = traffic_of_agents(asked, clients);
  const Scenario scenario = with_traffic(asked, traffic);
  FlowPlan plan;
  flow::System& system = plan.system;
  for (const std::string& client : clients) {
    std::vector<std::string> others;
    for (const std::string& other : clients) {
      if (other != client) others.push_back(other);
    }
    for (const auto& [name, ties] : traffic) others.push_back(name);
    const bool seen = client == clients.front();  // all are in every world: one of them is seen
    auto node = std::make_unique<AgentNode>(scenario, client, others, seen, outside);
    const std::vector<std::string> programs = node->programs();
    const std::vector<ChannelDefinition> ros = node->ros();
    if (seen) plan.scene = node->scene();
    system.add(client, std::move(node));
    plan.topics.push_back({"/agents/" + client});
    if (seen) plan.topics.push_back({"/tf", true, false});
    if (seen && !planned_marks(scenario).empty()) plan.topics.push_back({marks_topic});
    if (scenario.v2x) plan.topics.push_back({"/v2x/said/" + client});
    for (const std::string& program : programs) {
      plan.topics.push_back({"/programs/" + program, true, true, program});
      plan.programs.emplace_back(program, period_of(scenario, program));
    }
    for (const ChannelDefinition& channel : ros)
      plan.topics.push_back({channel.topic, true, channel.options.in_digest});
    plan.places.push_back(scenario.agents->place);
  }
  add_traffic(plan, scenario, traffic);
  for (const std::string& client : clients) {
    for (const std::string& other : clients) {
      if (other != client) system.connect(other + ".states", client + "." + other);
    }
    for (const auto& [name, ties] : traffic) {
      system.connect(name + "." + sumo::states_flow, client + "." + name);
      system.connect(client + ".states", name + "." + client);
    }
  }
  if (scenario.v2x) add_air(plan, scenario, clients, traffic, on_log);
  return plan;
}

}  // namespace

void check_agent_flows(const Scenario& scenario) {
  check_agents(scenario);
  (void)traffic_of_agents(scenario, agent_clients(scenario));
}

RunReport run_agent_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                          RunWatch& watch) {
  v2x::AirFigures figures;
  const PlanOutside outside{watch, clock};
  FlowPlan plan = plan_agents(scenario, outside,
                              [&figures](const void* value) { figures.take(*static_cast<const v2x::AirLog*>(value)); });
  if (scenario.v2x) plan.conclude = [&figures](RunReport& report) { report.v2x = figures; };
  return run_plan(std::move(plan), scenario, options, clock, disk, watch);
}

}  // namespace isochron
