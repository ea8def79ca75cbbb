#include "run/ros2_services.hpp"

#include <algorithm>
#include <chrono>

#include "core/cdr.hpp"
#include "core/foreign_text.hpp"
#include "msg/ros_service_messages.hpp"
#include "run/ros_variables.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
namespace sim = simulation_interfaces;
namespace rcl = rcl_interfaces;

constexpr const char* sim_time = "use_sim_time";
constexpr std::uint64_t most_steps = 1'000'000;
constexpr WallSpan longest_wait = 10s;  // for steps that were asked for

/// A service from its typed function.
template <Message Request, class F>
void add(ros2::Graph& graph, const std::string& name, const std::string& type, F answer) {
  graph.serve(name, type, [answer](std::span<const std::byte> cdr) -> std::optional<std::vector<std::byte>> {
    const auto request = cdr_read<Request>(cdr);
    if (!request.ok()) return std::nullopt;
    return cdr_bytes(answer(*request));
  });
}

class Services {
 public:
  Services(ros2::Graph& graph, std::string node, const RosHost& host, bool use_sim_time)
      : graph_(graph), node_(std::move(node)), host_(host), use_sim_time_(use_sim_time) {}

  void triggers() {
    for (const RosTrigger& trigger : ros_triggers()) {
      add<std_srvs::EmptyRequest>(graph_, node_ + "/" + trigger.name, "std_srvs/srv/Trigger",
                                  [host = host_, answer = trigger.answer](const auto&) {
                                    return std_srvs::TriggerResponse{true, answer(host)};
                                  });
    }
  }

  void simulation() {
    const RosHost host = host_;
    add<std_srvs::EmptyRequest>(graph_, node_ + "/get_simulation_state", "simulation_interfaces/srv/GetSimulationState",
                                [host](const auto&) {
                                  return sim::GetSimulationStateResponse{state_of(host), {}};
                                });
    add<sim::SetSimulationStateRequest>(
        graph_, node_ + "/set_simulation_state", "simulation_interfaces/srv/SetSimulationState",
        [host](const auto& request) { return sim::ResultResponse{set_state(host, request.state.state)}; });
    add<sim::StepSimulationRequest>(
        graph_, node_ + "/step_simulation", "simulation_interfaces/srv/StepSimulation",
        [host](const auto& request) { return sim::ResultResponse{step(host, request.steps)}; });
    add<sim::ResetSimulationRequest>(
        graph_, node_ + "/reset_simulation", "simulation_interfaces/srv/ResetSimulation", [](const auto&) {
          return sim::ResultResponse{{sim::Result::unsupported, "a run begins once; start another `isochron run`"}};
        });
    add<std_srvs::EmptyRequest>(
        graph_, node_ + "/get_simulator_features", "simulation_interfaces/srv/GetSimulatorFeatures", [](const auto&) {
          constexpr std::uint16_t entity_state_getting = 10, state_getting = 24, state_setting = 25, pause = 26,
                                  step_single = 31, step_multiple = 32;
          return sim::GetSimulatorFeaturesResponse{
              {{entity_state_getting, state_getting, state_setting, pause, step_single, step_multiple},
               {},
               "Isochron"}};
        });
    add<sim::GetEntitiesRequest>(graph_, node_ + "/get_entities", "simulation_interfaces/srv/GetEntities",
                                 [host](const auto& request) { return entities(host, request); });
    add<sim::GetEntityStateRequest>(graph_, node_ + "/get_entity_state", "simulation_interfaces/srv/GetEntityState",
                                    [host](const auto& request) { return entity_state(host, request.entity); });
  }

  void parameters() {
    const bool simulated = use_sim_time_;
    const auto value = [simulated](const std::string& name) {
      rcl::ParameterValue found;
      if (name == sim_time) found.type = rcl::ParameterValue::boolean, found.bool_value = simulated;
      return found;
    };
    add<rcl::NamesRequest>(graph_, node_ + "/get_parameters", "rcl_interfaces/srv/GetParameters",
                           [value](const auto& request) {
                             rcl::GetParametersResponse all;
                             for (const std::string& name : request.names) all.values.push_back(value(name));
                             return all;
                           });
    add<rcl::NamesRequest>(graph_, node_ + "/get_parameter_types", "rcl_interfaces/srv/GetParameterTypes",
                           [value](const auto& request) {
                             rcl::GetParameterTypesResponse all;
                             for (const std::string& name : request.names) all.types.push_back(value(name).type);
                             return all;
                           });
    add<rcl::NamesRequest>(graph_, node_ + "/describe_parameters", "rcl_interfaces/srv/DescribeParameters",
                           [value](const auto& request) {
                             rcl::DescribeParametersResponse all;
                             for (const std::string& name : request.names) {
                               all.descriptors.push_back({name, value(name).type, "", "", true, false, {}, {}});
                             }
                             return all;
                           });
    add<rcl::ListParametersRequest>(graph_, node_ + "/list_parameters", "rcl_interfaces/srv/ListParameters",
                                    [](const auto&) {
                                      return rcl::ListParametersResponse{{sim_time}, {}};
                                    });
    add<rcl::SetParametersRequest>(
        graph_, node_ + "/set_parameters", "rcl_interfaces/srv/SetParameters", [](const auto& request) {
          rcl::SetParametersResponse all;
          all.results.assign(request.parameters.size(), {false, "the scenario says it: ros2: {use_sim_time: …}"});
          return all;
        });
  }

 private:
  static sim::SimulationState state_of(const RosHost& host) {
    if (host.watch.stopping()) return {sim::SimulationState::quitting};
    return {host.watch.control().paused() ? sim::SimulationState::paused : sim::SimulationState::playing};
  }

  static sim::Result set_state(const RosHost& host, std::uint8_t wanted) {
    constexpr std::uint8_t already = 101;
    if (wanted == state_of(host).state) return {already, "it is in that state already"};
    if (wanted == sim::SimulationState::playing) return host.watch.control().resume(), sim::Result{};
    if (wanted == sim::SimulationState::paused) return host.watch.control().pause(), sim::Result{};
    if (wanted == sim::SimulationState::quitting) return host.watch.stop(), sim::Result{};
    return {sim::Result::unsupported, "a run is playing, paused or quitting"};
  }

  static sim::Result step(const RosHost& host, std::uint64_t steps) {
    RunControl& control = host.watch.control();
    if (!control.paused()) return {sim::Result::incorrect_state, "pause it first"};
    if (steps == 0 || steps > most_steps) return {sim::Result::failed, "between 1 and 1000000 steps"};
    control.step(static_cast<int>(steps));
    const WallTime until = host.clock.now() + longest_wait;
    while (!control.standing() && !host.watch.stopping()) {
      if (host.clock.now() > until) return {sim::Result::failed, "the steps are not done after 10 s; they go on"};
      host.clock.sleep_until(host.clock.now() + WallSpan(1ms));
    }
    return {};
  }

  static sim::GetEntitiesResponse entities(const RosHost& host, const sim::GetEntitiesRequest& request) {
    sim::GetEntitiesResponse all;
    const bool filtered = !request.categories.empty() || !request.tags.tags.empty() || request.bounds.type != 0;
    if (filtered || !request.filter.empty()) {
      all.result = {sim::Result::unsupported, "all robots are listed; there are no filters"};
      return all;
    }
    for (const auto& [robot, motion] : host.robots.get().second) all.entities.push_back(robot);
    return all;
  }

  static sim::GetEntityStateResponse entity_state(const RosHost& host, const std::string& entity) {
    const auto [now, all] = host.robots.get();
    const auto found = std::ranges::find(all, entity, &RobotStates::State::robot);
    if (found == all.end()) return {{sim::Result::not_found, "no robot is called " + foreign_name(entity)}, {}};
    const Motion& m = found->motion;
    using namespace ros_variables;
    return {{}, {{now, "world"}, pose_of(m), {vector3(m.linear), vector3(m.angular)}, {}}};
  }

  ros2::Graph& graph_;
  std::string node_;
  RosHost host_;
  bool use_sim_time_;
};

}  // namespace

void serve_ros2(ros2::Graph& graph, const std::string& node, const RosHost& host, bool use_sim_time) {
  Services services(graph, node, host, use_sim_time);
  services.triggers();
  services.simulation();
  services.parameters();
}

std::vector<std::byte> use_sim_time_request() {
  rcl::SetParametersRequest request;
  request.parameters.resize(1);
  request.parameters[0].name = sim_time;
  request.parameters[0].value.type = rcl::ParameterValue::boolean;
  request.parameters[0].value.bool_value = true;
  return cdr_bytes(request);
}

}  // namespace isochron
