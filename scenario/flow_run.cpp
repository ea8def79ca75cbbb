// Nodes that exchange stamped messages, run by one of flow's executors. Every message goes into the journal, a channel
// for each flow, so that the digest says whether two runs were the same.

#include <thread>

#include "core/nearest_name.hpp"
#include "link/dds/dds_carrier.hpp"
#include "link/faults.hpp"
#include "link/reactor.hpp"
#include "link/ros/ros_carrier.hpp"
#include "link/tcp_carrier.hpp"
#include "scenario/flow_plan.hpp"
#include "scenario/flow_record.hpp"
#include "scenario/node_places.hpp"
#include "scenario/remote_node.hpp"
#include "scenario/ros_bridge.hpp"
#include "scenario/runners.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t largest_state = 256U << 10U;  // between processes: a world of two thousand bodies
constexpr std::size_t largest_picture = 4U << 20U;  // 1024 × 1024 in colour

bool has_pictures(const Scenario& scenario) {
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, sensor] : section.sensors) {
      if (sensor.type == world::SensorType::camera || sensor.type == world::SensorType::lidar) return true;
    }
  }
  return false;
}

/// Keeps the display and the drift ledger fresh while the nodes run, and ends a run that cannot be recorded any more.
class Observer {
 public:
  Observer(RunRecord& record, RunWatch& watch, const FlowRecorder& recorder)
      : thread_([this, &record, &watch, &recorder] {
          while (!done_.load(std::memory_order_relaxed)) {
            record.look(watch, recorder.newest());
            if (record.journal().failed()) watch.stop();
            std::this_thread::sleep_for(5ms);
          }
        }) {}
  ~Observer() {
    done_.store(true, std::memory_order_relaxed);
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

flow::Options flow_options(const Scenario& scenario, RunWatch& watch, FlowRecorder& recorder, Clock& clock,
                           std::vector<std::string>& notes, bool looked_at) {
  flow::Options options;
  options.until = SimTime::zero() + scenario.duration;
  options.how = scenario.flows.executor;
  options.workers = static_cast<std::uint32_t>(scenario.flows.workers);
  options.disturb = scenario.flows.disturb;
  options.stall_after = scenario.time.stall;
  options.on_stall = [&notes, &recorder, &watch](const flow::WaitForGraph& graph) {
    const std::string text = to_string(graph);
    std::fprintf(stderr, "nothing moves; who waits for whom:\n%s\n", text.c_str());
    watch.control().stalled(text);
    notes.push_back("nothing moved:\n" + text);
    recorder.stalled(graph);
  };
  if (looked_at)
    options.on_look = [&watch](const flow::WaitForGraph& graph) { watch.control().waiting(to_string(graph)); };
  options.recorder = &recorder;
  options.digest = false;  // the journal has one
  options.cancel = &watch.stop_flag();
  options.clock = &clock;
  if (scenario.world) options.largest_message = has_pictures(scenario) ? largest_picture : largest_state;
  return options;
}

std::uint32_t node_called(const flow::Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].name == name) return i;
    names.push_back(graph.nodes[i].name);
  }
  throw InputError({"--node " + name, 0, 0}, "there is no such node", nearest_hint(name, names));
}

/// The way to the other nodes, as the scenario's `network` says.
class Network {
 public:
  Network(const Scenario& scenario, const flow::Graph& graph, std::uint32_t self) {
    roster_.federation = scenario.network.federation.empty() ? scenario.name : scenario.network.federation;
    roster_.runs = flow::hash_of(graph);
    for (const flow::NodeInfo& node : graph.nodes) roster_.names.push_back(node.name);
    roster_.self = self;
    roster_.peers = flow::Island::neighbours(graph, self);
    options_.timing.lost = scenario.network.lost_after;
    options_.key = scenario.network.key.empty() ? link::Key::from_environment("ISOCHRON_KEY")
                                                : link::Key::from_file(scenario.network.key.path);
    make_carrier(scenario, graph);
  }
  [[nodiscard]] const link::Roster& roster() const { return roster_; }
  [[nodiscard]] const link::Federation::Options& options() const { return options_; }
  [[nodiscard]] link::Carrier& carrier() { return *carrier_; }

 private:
  void make_carrier(const Scenario& scenario, const flow::Graph& graph) {
    const NetworkSection& network = scenario.network;
    if (network.carrier != CarrierKind::tcp && to_faults(scenario.faults, 1).any()) {
      throw InputError(scenario.faults.place, "only links over TCP can be made bad",
                       "set `network: {carrier: tcp}`, or leave `faults` out");
    }
    switch (network.carrier) {
      case CarrierKind::tcp:
        reactor_ = std::make_unique<link::EpollReactor>();
        faulty_ =
            std::make_unique<link::FaultyReactor>(*reactor_, to_faults(scenario.faults, scenario.seed),
                                                  roster_.names[roster_.self], link::FaultyReactor::Streams::connected);
        carrier_ =
            std::make_unique<link::TcpCarrier>(*faulty_, addresses(scenario, graph), roster_.self, roster_.peers);
        return;
      case CarrierKind::dds:
        carrier_ =
            std::make_unique<link::DdsCarrier>(roster_.federation, roster_.names, roster_.self, roster_.peers,
                                               link::DdsOptions{network.domain, network.interface, network.hosts});
        return;
      case CarrierKind::ros:
        carrier_ = std::make_unique<link::RosCarrier>(roster_.federation, roster_.names, roster_.self, roster_.peers);
        return;
    }
  }

  std::vector<Address> addresses(const Scenario& scenario, const flow::Graph& graph) const {
    std::vector<Address> all;
    for (const NodePlace& place : node_places(scenario, graph, options_.key.has_value())) all.push_back(place.address);
    return all;
  }

  link::Roster roster_;
  link::Federation::Options options_;
  std::unique_ptr<link::EpollReactor> reactor_;
  std::unique_ptr<link::FaultyReactor> faulty_;
  std::unique_ptr<link::Carrier> carrier_;
};

void describe_end(const flow::Outcome& outcome, const RunWatch& watch, RunReport& report) {
  if (outcome.complete) return;
  report.end = watch.stopping() ? RunReport::End::interrupted : RunReport::End::failed;
  for (const flow::NodeFailure& failure : outcome.failures) {
    report.why += (report.why.empty() ? "" : "\n") + to_string(failure);
  }
  if (!outcome.stall.empty()) report.why += outcome.stall;
}

}  // namespace

void check_flows(const Scenario& scenario) { (void)plan_flows(scenario); }

RunReport run_flow_node(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                        RunWatch& watch) {
  const PlanOutside outside{watch, clock};
  FlowPlan plan = plan_flows(scenario, &outside);
  const std::uint32_t self = node_called(plan.system.graph(), options.node);
  Network network(scenario, plan.system.graph(), self);
  RunRecord record(scenario, options, clock, disk, {options.node});
  if (plan.system.graph().nodes[self].outputs.empty()) record.leave(ParticipantId(0));
  FlowRecorder recorder(plan, scenario, record, watch, self);
  RunReport report = report_of(scenario);
  const flow::Options how = flow_options(scenario, watch, recorder, clock, report.notes, options.tap != nullptr);
  flow::Outcome outcome;
  {
    const Observer observer(record, watch, recorder);
    link::Federation federation(network.carrier(), clock, network.roster(), network.options());
    outcome = RemoteNode(plan.system, self, how, federation, network.carrier(), clock).run();
    if (federation.resent() > 0) {
      report.notes.push_back(std::to_string(federation.resent()) + " packets had to be sent again");
    }
  }
  report.simulated = outcome.complete ? scenario.duration : recorder.newest().since_zero();
  describe_end(outcome, watch, report);
  report.programs = recorder.programs();
  for (std::string& note : RosBridge::notes(scenario)) report.notes.push_back(std::move(note));
  report.notes.push_back("node " + options.node + " only; `isochron journal merge` makes one journal of all nodes'");
  record.finish(report);
  report.shares.programs = report.wall;
  return report;
}

RunReport run_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  const PlanOutside outside{watch, clock};
  FlowPlan plan = plan_flows(scenario, &outside);
  return run_plan(plan, scenario, options, clock, disk, watch);
}

RunReport run_plan(FlowPlan& plan, const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                   RunWatch& watch) {
  const flow::Graph& graph = plan.system.graph();
  std::vector<std::string> names;
  for (const flow::NodeInfo& node : graph.nodes) names.push_back(node.name);
  RunRecord record(scenario, options, clock, disk, names);
  for (std::uint32_t i = 0; i < names.size(); ++i) {  // who sends nothing has no progress that others could see
    if (graph.nodes[i].outputs.empty()) record.leave(ParticipantId(i));
  }
  FlowRecorder recorder(plan, scenario, record, watch);
  RunReport report = report_of(scenario);
  flow::Outcome outcome;
  const flow::Options how = flow_options(scenario, watch, recorder, clock, report.notes, options.tap != nullptr);
  {
    const Observer observer(record, watch, recorder);
    outcome = flow::run(plan.system, how);
  }
  report.simulated = outcome.complete ? scenario.duration : recorder.newest().since_zero();
  describe_end(outcome, watch, report);
  report.programs = recorder.programs();
  for (std::string& late : recorder.lateness()) report.notes.push_back(std::move(late));
  for (std::string& note : RosBridge::notes(scenario)) report.notes.push_back(std::move(note));
  if (how.how == flow::How::free) report.notes.push_back("free-running: no time management, this run does not repeat");
  if (plan.conclude) plan.conclude(report);
  record.finish(report);
  report.shares.programs = report.wall;
  return report;
}

}  // namespace isochron
