#include "scenario/flow_plan.hpp"

#include <algorithm>
#include <functional>

#include "flow/check.hpp"
#include "flow/node_library.hpp"
#include "scenario/coordinator_specs.hpp"
#include "scenario/robot_node.hpp"
#include "scenario/ros_bridge.hpp"
#include "scenario/world_nodes.hpp"

namespace isochron {
namespace {

class Planner {
 public:
  Planner(const Scenario& scenario, const PlanOutside* outside) : scenario_(scenario), outside_(outside) {}

  FlowPlan plan() {
    if (scenario_.world) add_world();
    for (const auto& [name, section] : scenario_.nodes) add_node(name, section);
    settle();
    if (scenario_.ros) add_ros();
    for (const auto& [name, section] : scenario_.nodes) connect_node(name, section);
    set_capacity();
    name_topics();
    settle();
    check();
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
    check_repeatable(scenario_);
    std::vector<std::string> writers;
    for (const auto& [robot, section] : scenario_.robots) {
      const bool executables = std::any_of(section.programs.begin(), section.programs.end(),
                                           [](const auto& program) { return !program.second.run.empty(); });
      if (executables) writers.push_back(robot);
      for (const auto& [name, program] : section.programs) {
        if (program.run.empty()) writers.push_back(robot + "/" + name);
      }
    }
    if (RosBridge::writes(scenario_)) writers.emplace_back("ros");
    add("world", scenario_.world->place, std::make_unique<WorldNode>(scenario_, writers));
    for (const auto& [robot, section] : scenario_.robots) {
      for (const auto& [name, sensor] : section.sensors) add_sensor(robot, name, sensor);
      for (const auto& [name, program] : section.programs) {
        if (program.run.empty()) add_controller(robot, name, program);
      }
    }
    for (coordinator::RobotSpec& robot : robot_specs(scenario_)) {
      if (!robot.programs.empty()) add_robot(std::move(robot));
    }
    settle();
    for (const std::string& writer : writers) {
      if (writer != "ros") plan_.system.connect(writer + ".writes", "world." + writer);  // it is not there yet
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

  void add_controller(const std::string& robot, const std::string& name, const ProgramSection& program) {
    const std::string full = robot + "/" + name;
    try_at(program.place_of("library"), "", [&] {
      add(full, program.place, std::make_unique<ControllerNode>(scenario_, robot, name, program));
      plan_.system.connect("world.snapshot", full + ".world");
      plan_.programs.emplace_back(full, *program.every);
    });
  }

  void add_robot(coordinator::RobotSpec robot) {
    const auto section = std::find_if(scenario_.robots.begin(), scenario_.robots.end(),
                                      [&](const auto& entry) { return entry.first == robot.name; });
    for (const coordinator::ProgramSpec& program : robot.programs) {
      plan_.programs.emplace_back(robot.name + "/" + program.name, program.every);
    }
    const std::string name = robot.name;
    try_at(section->second.place, "", [&] {
      add(name, section->second.place, std::make_unique<RobotNode>(scenario_, std::move(robot)));
      plan_.system.connect("world.snapshot", name + ".world");
    });
  }

  void add_node(const std::string& name, const NodeSection& section) {
    flow::Parameters::Values values;
    for (const auto& [key, value] : section.with) values.emplace(key, value);
    try_at(section.place, "node `" + name + "`: ", [&] {
      const auto library = flow::NodeLibrary::open(section.library.path);
      add(name, section.place, library.make(section.type, flow::Parameters(std::move(values))));
    });
  }

  /// Last, because it may listen to everybody.
  void add_ros() {
    const RosSection& ros = *scenario_.ros;
    try_at(ros.place, "", [&] {
      add("ros", ros.place, std::make_unique<RosBridge>(scenario_, plan_.system.graph(), outside_));
      if (scenario_.world) plan_.system.connect("world.snapshot", "ros.world");
      if (RosBridge::writes(scenario_)) plan_.system.connect("ros.writes", "world.ros");
      for (const auto& [name, section] : ros.publish) {
        if (!section.from.empty()) plan_.system.connect(section.from, "ros." + name);
      }
    });
    settle();
  }

  void connect_node(const std::string& name, const NodeSection& section) {
    for (const auto& [input, output] : section.inputs) {
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
    for (const flow::PortRef flow : plan_.system.flows()) {
      const std::string& node = graph.nodes[flow.node].name;
      const std::string& output = graph.nodes[flow.node].outputs[flow.port].name;
      const bool own = std::any_of(scenario_.nodes.begin(), scenario_.nodes.end(),
                                   [&](const auto& entry) { return entry.first == node; });
      plan_.topics.push_back(own ? FlowPlan::Topic{"/" + node + "." + output} : part_topic(node, output));
    }
  }

  static FlowPlan::Topic part_topic(const std::string& node, const std::string& output) {
    if (output == "state") return {"/world/state"};
    if (output == "tf") return {"/tf", true, false};
    if (output == "joints") return {"/joint_states", true, false};
    if (output == "reading") return {"/" + node};
    if (output == "writes") return {"/" + node + "/writes"};
    if (output == "did") return {"/programs/" + node, true, true, node};
    if (output == "snapshot" || output == "sample" || output == "release" || output == "tick") return {"", false};
    if (node == "ros") return {"/ros/" + output};
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
  FlowPlan plan_;
  Mistakes mistakes_;
};

}  // namespace

FlowPlan plan_flows(const Scenario& scenario, const PlanOutside* outside) { return Planner(scenario, outside).plan(); }

}  // namespace isochron
