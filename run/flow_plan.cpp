#include "run/flow_plan.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "bridge/fmi/node.hpp"
#include "bridge/ros2/player.hpp"
#include "bridge/sumo/node.hpp"
#include "flow/check.hpp"
#include "flow/dynamic_node.hpp"
#include "flow/node_library.hpp"
#include "flow/program_node.hpp"
#include "run/coordinator_specs.hpp"
#include "run/expectations.hpp"
#include "run/fmu_nodes.hpp"
#include "run/robot_node.hpp"
#include "run/ros_node.hpp"
#include "run/run_record.hpp"
#include "run/sumo_nodes.hpp"
#include "run/world_nodes.hpp"
#include "scenario/find_file.hpp"
#include "traffic/v2x_unit.hpp"

namespace isochron {
namespace {

/// A node that runs elsewhere: its ports, and nothing behind them.
class Elsewhere final : public flow::DynamicNode {
 public:
  explicit Elsewhere(const flow::NodeInfo& info) {
    for (const flow::InputInfo& input : info.inputs) add_input(input.name, *input.type);
    for (const flow::OutputInfo& output : info.outputs) add_output(output);
  }

 private:
  void heard(std::uint32_t, const void*, SimTime) override {}
  void fill(std::uint32_t, void*, SimTime) override {}
};

class Planner {
 public:
  Planner(const Scenario& scenario, const PlanOutside* outside)
      : scenario_(scenario), outside_(outside), fmus_(scenario) {}

  FlowPlan plan() {
    check_repeatable(scenario_);
    if (scenario_.world) add_world();
    for (const auto& [name, section] : scenario_.nodes) {
      if (section.fmu.empty()) add_node(name, section);
    }
    connect_traffic();
    settle();
    for (const auto& [name, section] : scenario_.nodes) {
      if (!section.fmu.empty()) add_fmu(name, section, plan_.system.graph());
    }
    settle();
    for (const RosPart& part : ros_parts(scenario_)) add_ros(part);
    for (const auto& [name, section] : scenario_.nodes) connect_node(name, section);
    set_capacity();
    for (const auto& [name, section] : scenario_.nodes) change_flows(name, section);
    name_topics();
    settle();
    check();
    check_expectations(scenario_, names_of_flows(), true);
    return std::move(plan_);
  }

  FlowPlan plan_one(const std::string& only, const flow::Graph& graph) {
    for (const flow::NodeInfo& info : graph.nodes) {
      if (info.name != only) {
        add(info.name, {}, std::make_unique<Elsewhere>(info));
        continue;
      }
      for (const auto& [name, section] : scenario_.nodes) {
        if (name == only && section.fmu.empty()) add_node(name, section);
        if (name == only && !section.fmu.empty()) add_fmu(name, section, graph);
      }
      settle();
    }
    for (const flow::Connection& connection : graph.connections) {
      plan_.system.connect(connection.output, connection.input);
    }
    for (const flow::PortRef flow : plan_.system.flows()) {
      plan_.system.set_output(flow, graph.nodes[flow.node].outputs[flow.port]);
    }
    name_topics();
    return std::move(plan_);
  }

 private:
  using Mistakes = std::vector<Mistake>;

  /// What is wrong inside is said at `place`, unless it knows a better one.
  void try_at(const Place& place, const std::string& about, const std::function<void()>& what) {
    try {
      what();
    } catch (const InputError& error) {
      for (const Mistake& mistake : error.mistakes()) {
        const bool placed = !mistake.place.file.empty() && mistake.place.line > 0;
        mistakes_.push_back({placed ? mistake.place : place, about + mistake.what, mistake.hint});
      }
    }
  }
  void settle() {
    if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
  }

  void add(const std::string& name, const Place& place, std::unique_ptr<flow::UserNode> node) {
    plan_.system.add(name, std::move(node));
    plan_.places.push_back(place);
  }

  void add_world() {
    std::vector<std::string> writers;
    for (const auto& [robot, section] : scenario_.robots) {
      if (!section.programs.empty()) writers.push_back(robot);
    }
    for (const RosPart& part : ros_parts(scenario_)) {
      if (part.writes()) writers.push_back(part.name);
    }
    const bool gateway = outside_ != nullptr && outside_->gateway;
    if (gateway) writers.emplace_back("gateway");
    auto world = std::make_unique<WorldNode>(scenario_, writers);
    state_names_ = world->names();
    plan_.scene = world->scene();
    for (const TrafficBodies& traffic : world->traffic()) {
      traffic_[traffic.node()] = {{"world"}, traffic.ours(), traffic.bodies()};
    }
    add("world", scenario_.world->place, std::move(world));
    for (const auto& [robot, section] : scenario_.robots) {
      for (const auto& [name, sensor] : section.sensors) add_sensor(robot, name, sensor);
    }
    for (const auto& [robot, section] : scenario_.robots) {
      if (std::find(writers.begin(), writers.end(), robot) != writers.end()) add_robot(robot, section);
    }
    if (gateway) {
      add("gateway", {}, outside_->gateway());
      plan_.system.connect("world.state", "gateway.state");
    }
    if (!robots_.empty()) {
      plan_.conclude = [robots = robots_](RunReport& report) {
        for (const RobotNode* robot : robots) {
          if (robot->outcome()) take_programs(*robot->outcome(), report);
          if (robot->wires() != nullptr) robot->wires()->finish(report);
        }
      };
    }
    settle();
    for (const std::string& writer : writers) {
      if (writer == "ros" || writer == "ros2") continue;  // they are not there yet
      plan_.system.connect(writer + ".writes", "world." + writer);
    }
  }

  void add_sensor(const std::string& robot, const std::string& name, const SensorSection& sensor) {
    if (sensor.every <= SimSpan::zero()) return;  // it waits to be asked
    const std::string full = robot + "/" + name;
    try_at(sensor.place, "", [&] {
      add(full, sensor.place, std::make_unique<SensorNode>(scenario_, robot, name));
      plan_.system.connect("world.snapshot", full + ".world");
    });
  }

  void add_robot(const std::string& name, const RobotSection& section) {
    try_at(section.place, "", [&] {
      auto robot = std::make_unique<RobotNode>(scenario_, name);
      for (const auto& [program, spec] : section.programs) {
        plan_.programs.emplace_back(name + "/" + program, spec.every.value_or(SimSpan::zero()));
      }
      robots_.push_back(robot.get());
      add(name, section.place, std::move(robot));
      plan_.system.connect("world.snapshot", name + ".world");
    });
  }

  void add_node(const std::string& name, const NodeSection& section) {
    flow::Parameters::Values values;
    for (const auto& [key, value] : section.with) values.emplace(key, value);
    try_at(section.place, "node `" + name + "`: ", [&] {
      if (section.play) return add(name, section.place, make_player(*section.play));
      if (section.sumo) return add(name, section.place, make_sumo_node(scenario_, name, section, ties_of(name)));
      add(name, section.place, make_node(section, flow::Parameters(std::move(values))));
    });
  }

  static std::unique_ptr<flow::UserNode> make_player(const PlaySection& play) {
    return std::make_unique<ros2::Player>(
        ros2::PlaySpec{play.file.path, play.topics, play.from, play.speed, play.restamp});
  }

  /// A part of a system that runs elsewhere is known by its ports only; then the world is made again to ask it.
  SumoTies ties_of(const std::string& name) {
    if (!scenario_.world) return {};
    if (!traffic_.contains(name)) {
      Stage stage(scenario_);
      const TrafficBodies traffic(scenario_, name, stage.world());
      traffic_[name] = {{"world"}, traffic.ours(), traffic.bodies()};
    }
    return traffic_.at(name);
  }

  /// Traffic hears of ours from the world, and the world shows it.
  void connect_traffic() {
    if (!mistakes_.empty()) return;
    for (const auto& [name, ties] : traffic_) {
      plan_.system.connect("world.ours", name + ".world");
      plan_.system.connect(name + "." + sumo::states_flow, "world." + name);
    }
  }

  /// After the others, because it takes fields from their messages.
  void add_fmu(const std::string& name, const NodeSection& section, const flow::Graph& graph) {
    try_at(section.place, "node `" + name + "`: ", [&] { add(name, section.place, fmus_.make(name, graph)); });
  }

  std::unique_ptr<flow::UserNode> make_node(const NodeSection& section, const flow::Parameters& parameters) const {
    if (section.run.empty()) return open_library(section).make(section.type, parameters);
    const auto program = find_program(section.run[0], scenario_.folder);
    if (!program) {
      throw InputError(section.place_of("run"),
                       "there is no program `" + section.run[0] + "` next to the scenario file or on the PATH");
    }
    flow::ProgramCommand command{section.run, scenario_.folder};
    command.words[0] = *program;
    return flow::make_program_node(command, section.type, parameters);
  }

  [[nodiscard]] flow::NodeLibrary open_library(const NodeSection& section) const {
    const auto library = find_library(section.library, scenario_.folder);
    if (library) return flow::NodeLibrary::open(*library);
    throw InputError(section.place_of("library"), "there is no shared library `" + section.library + "`",
                     "it is looked for next to the scenario file and in Isochron's own lib folder");
  }

  /// Last, because it may listen to everybody.
  void add_ros(const RosPart& ros) {
    const Place& place = ros.section.place;
    try_at(place, "", [&] {
      add(ros.name, place, std::make_unique<RosNode>(scenario_, ros, plan_.system.graph(), outside_));
      if (scenario_.world) plan_.system.connect("world.snapshot", ros.name + ".world");
      if (ros.writes()) plan_.system.connect(ros.name + ".writes", "world." + ros.name);
      for (const auto& [name, section] : ros.section.publish) {
        if (!section.from.empty()) plan_.system.connect(section.from, ros.name + "." + name);
      }
    });
    settle();
  }

  void connect_fmu(const std::string& name, const NodeSection& section) {
    const flow::Graph& graph = plan_.system.graph();
    const auto node = std::ranges::find(graph.nodes, name, &flow::NodeInfo::name) - graph.nodes.begin();
    std::uint32_t input = 0;
    for (const std::string& flow : fmus_.heard_by(name)) {
      try_at(section.place_of("inputs"), "", [&] {
        plan_.system.connect(plan_.system.find_output(flow), {static_cast<std::uint32_t>(node), input});
      });
      ++input;
    }
  }

  void connect_node(const std::string& name, const NodeSection& section) {
    if (!section.fmu.empty()) connect_fmu(name, section);
    for (const auto& [input, output] : section.inputs) {
      if (!section.fmu.empty()) break;
      try_at(section.place_of("inputs"), "",
             [&, &from = output, &to = input] { plan_.system.connect(from, name + "." + to); });
    }
    for (const auto& [output, actuator] : section.drives) {
      try_at(section.place_of("drives"), "", [&, &from = output, &to = actuator] {
        if (!scenario_.world) throw InputError({}, "there is no `world` to drive");
        plan_.system.connect(name + "." + from, "world." + to);
      });
    }
  }

  /// What the scenario changes of the flows that its nodes declare.
  void change_flows(const std::string& name, const NodeSection& section) {
    for (const auto& [output, change] : section.flows) {
      try_at(change.place, "", [&, &flow = output, &wanted = change] {
        const flow::PortRef port = plan_.system.find_output(name + "." + flow);
        flow::OutputInfo info = plan_.system.graph().nodes[port.node].outputs[port.port];
        const bool event = info.kind == flow::FlowKind::event;
        if (event && (wanted.period || wanted.first))
          throw InputError({}, "flow " + name + "." + flow + " has events, which have no period");
        if (!event && wanted.lookahead)
          throw InputError({}, "flow " + name + "." + flow + " has no events, so no lookahead");
        if (wanted.period) info.period = *wanted.period;
        if (wanted.first) info.first = SimTime::zero() + *wanted.first;
        if (wanted.lookahead) info.lookahead = *wanted.lookahead;
        if (wanted.capacity) info.capacity = *wanted.capacity;
        plan_.system.set_output(port, info);
      });
    }
  }

  void set_capacity() {
    if (!scenario_.flows.capacity) return;
    for (const flow::PortRef flow : plan_.system.flows()) {
      flow::OutputInfo info = plan_.system.graph().nodes[flow.node].outputs[flow.port];
      info.capacity = static_cast<std::uint32_t>(*scenario_.flows.capacity);
      plan_.system.set_output(flow, info);
    }
  }

  /// The world's own flows stand where the other modes put them, so that everything reads them alike.
  void name_topics() {
    const flow::Graph& graph = plan_.system.graph();
    std::set<std::string> written, fmus;  // by the user
    for (const auto& [name, section] : scenario_.nodes) {
      written.insert(name);
      if (!section.fmu.empty()) fmus.insert(name);
    }
    for (const flow::PortRef flow : plan_.system.flows()) {
      const std::string& node = graph.nodes[flow.node].name;
      const std::string& output = graph.nodes[flow.node].outputs[flow.port].name;
      const bool own = written.contains(node);
      plan_.topics.push_back(own ? FlowPlan::Topic{"/" + node + "." + output} : part_topic(node, output));
      // What an FMU says in words may hold addresses and wall times.
      if (fmus.contains(node) && output == fmi::log_flow) plan_.topics.back().in_digest = false;
      if (!own && output == "state") plan_.topics.back().metadata = state_names_;
    }
  }

  /// What the journal's numbers are going to be called.
  [[nodiscard]] Names names_of_flows() const {
    Names names;
    const auto flows = plan_.system.flows();
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const flow::PayloadType& type = *plan_.system.graph().nodes[flows[i].node].outputs[flows[i].port].type;
      if (!plan_.topics[i].journaled) continue;
      names.add(i, ChannelDefinition{plan_.topics[i].name, {type.name, type.schema}, {true, plan_.topics[i].metadata}});
    }
    names.add(flows.size(),
              ChannelDefinition{"/isochron/drift", {message_name<DriftRecord>(), ros2msg_schema<DriftRecord>()}, {}});
    return names;
  }

  static FlowPlan::Topic part_topic(const std::string& node, const std::string& output) {
    if (output == "state") return {"/world/state"};
    if (output == "marks") return {marks_topic};
    if (output == "tf") return {"/tf", true, false};
    if (output == "joints") return {"/joint_states", true, false};
    if (output == "reading") return {"/" + node};
    if (output == "writes") return {"/" + node + "/writes"};
    if (output == "snapshot" || output == "sample" || output == "tick" || output == "ours") return {"", false};
    if (node == "ros" || node == "ros2") return {"/" + node + "/" + output, true, output != "log"};
    const bool camera = output == "image" || output == "depth" || output == "segmentation";
    const std::string full = node + "/" + output;
    return camera ? FlowPlan::Topic{"/" + full} : FlowPlan::Topic{"/programs/" + full, true, true, full};
  }

  void check() {
    for (const flow::Problem& problem : flow::check(plan_.system.graph(), SimTime::zero() + scenario_.duration)) {
      mistakes_.push_back({plan_.places[problem.node], problem.what, problem.hint});
    }
    settle();
  }

  const Scenario& scenario_;
  const PlanOutside* outside_;
  FmuNodes fmus_;
  std::map<std::string, SumoTies> traffic_;
  FlowPlan plan_;
  std::vector<const RobotNode*> robots_;  // the plan's
  Mistakes mistakes_;
  mcap::TextMap state_names_;
};

}  // namespace

FlowPlan plan_flows(const Scenario& scenario, const PlanOutside* outside) {
  if (!scenario.agents) check_v2x(scenario);
  return Planner(scenario, outside).plan();
}

FlowPlan plan_one_node(const Scenario& scenario, const PlanOutside* outside, const std::string& node,
                       const flow::Graph& graph) {
  const bool own =
      std::any_of(scenario.nodes.begin(), scenario.nodes.end(), [&](const auto& entry) { return entry.first == node; });
  return own ? Planner(scenario, outside).plan_one(node, graph) : plan_flows(scenario, outside);
}

}  // namespace isochron
