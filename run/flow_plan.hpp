#pragma once
// From a scenario to a system of flows: its `nodes`, and its world, sensors and programs as nodes too. Names:
//
//     world            the world            snapshot, state, tf, joints
//     ROBOT/SENSOR     a sensor             reading, or image, depth, … of a camera
//     ROBOT/PROGRAM    a library's program  writes, did
//     ROBOT            executables          writes, and one for each program
//     ros, ros2        ordinary ROS nodes   writes, and one for each topic that they speak on
//
// Fails: plan_flows() throws InputError with every mistake, placed in the scenario.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "flow/system.hpp"
#include "flow/user_node.hpp"
#include "run/scene_messages.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

struct RunReport;
class RunWatch;

/// How a run is steered, and the wall clock: what parts that meet the world outside need. Outlives the plan.
struct PlanOutside {
  RunWatch& watch;
  Clock& clock;
  /// A node that writes to the world and hears its state, in place of somebody outside: outputs `writes` and `tick`,
  /// input `state`.
  std::function<std::unique_ptr<flow::UserNode>()> gateway = {};
};

struct FlowPlan {
  /// How a flow stands in the journal.
  struct Topic {
    std::string name;
    bool journaled = true;
    bool in_digest = true;
    std::string program = {};                           // whose doings it tells
    std::function<void(const void* value)> watch = {};  // is shown each message as it is recorded
    std::map<std::string, std::string> metadata = {};   // of its channel
  };
  flow::System system;
  std::vector<Topic> topics;                      // of each flow
  std::vector<Place> places;                      // of each node
  Named<SimSpan> programs;                        // and their periods; zero = none
  std::optional<scene::SceneUpdate> scene = {};   // what the world looks like, if there is one
  std::function<void(RunReport&)> conclude = {};  // adds what it knows to the report
};

/// Without `outside` the plan can be checked; run, if nothing in it needs the outside.
FlowPlan plan_flows(const Scenario& scenario, const PlanOutside* outside = nullptr);
/// The same system, known from `graph`, of which only that node is made: of the others nothing but their ports is
/// needed. All of them are made where the node is not one of the scenario's `nodes`.
FlowPlan plan_one_node(const Scenario& scenario, const PlanOutside* outside, const std::string& node,
                       const flow::Graph& graph);

}  // namespace isochron
