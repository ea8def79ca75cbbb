// Nodes that exchange stamped messages, run by one of flow's executors. Every message goes into the journal, a channel
// for each flow, so that the digest says whether two runs were the same.

#include <unistd.h>

#include <thread>

#include "core/log.hpp"
#include "core/nearest_name.hpp"
#include "link/dds/dds_carrier.hpp"
#include "link/faults.hpp"
#include "link/reactor.hpp"
#include "link/ros/ros_carrier.hpp"
#include "link/tcp_carrier.hpp"
#include "run/flow_plan.hpp"
#include "run/flow_record.hpp"
#include "run/node_places.hpp"
#include "run/remote_node.hpp"
#include "run/runners.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

/// Keeps the display and the drift ledger fresh while the nodes run, and ends a run that cannot be recorded any more.
class Observer {
 public:
  Observer(RunRecord& record, RunWatch& watch, FlowRecorder& recorder)
      : thread_([this, &record, &watch, &recorder] {
          while (!done_.load(std::memory_order_relaxed)) {
            record.look(watch, recorder.newest());
            if (recorder.drift()) watch.drift(recorder.drift()->max());
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
                           std::vector<std::string>& notes, std::size_t nodes, const RunOptions& run) {
  flow::Options options;
  if (run.poison != 0) options.poison = run.poison;
  options.until = SimTime::zero() + scenario.duration;
  options.how = scenario.flows.executor;
  options.workers = static_cast<std::uint32_t>(scenario.flows.workers);
  options.disturb = scenario.flows.disturb;
  options.stall_after = scenario.time.stall;
  options.end_on_stall = scenario.time.on_stall == OnEnd::end;
  options.catch_crashes = true;
  // Nodes in processes of their own may be held back by another one's message too: there nobody can be told apart.
  const bool together = options.how != flow::How::processes && options.how != flow::How::tcp;
  options.excused = [&recorder, together](std::string_view node) { return recorder.holds(together ? node : ""); };
  options.on_stall = [&notes, &recorder, &watch, nodes](const flow::WaitForGraph& graph) {
    const std::string text = to_string(graph);
    const bool all = graph.size() >= nodes;
    warn("flows",
         std::string(all ? "nothing moves" : "a part of the nodes does not move") + "; who waits for whom:\n" + text);
    watch.control().stalled(text);
    notes.push_back((all ? "nothing moved:\n" : "a part of the nodes did not move:\n") + text);
    recorder.stalled(graph);
  };
  if (run.tap != nullptr)
    options.on_look = [&watch](const flow::WaitForGraph& graph) { watch.control().waiting(to_string(graph)); };
  options.observer = &recorder;
  options.in_step = scenario.time.pace.factor || run.tap != nullptr;  // who is held back must not be far ahead
  options.processes = scenario.flows.processes;
  options.digest = false;  // the journal has one
  options.cancel = &watch.stop_flag();
  options.clock = &clock;
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

/// A number for all that must be the same on every host for a run to be one run.
std::uint64_t hash_of_run(const Scenario& scenario, const flow::Graph& graph) {
  std::uint64_t hash =
      flow::mix(flow::hash_of(graph), static_cast<std::uint64_t>(scenario.duration.ns()), scenario.seed);
  const auto text = [&](const std::string& word) { hash = flow::mix_bytes(hash, word.data(), word.size()); };
  const auto pairs = [&](const Named<std::string>& all) {
    for (const auto& [key, value] : all) text(key), text(value);
  };
  for (const auto& [name, node] : scenario.nodes) {
    text(name), text(node.type), text(node.fmu);
    pairs(node.with);
    pairs(node.parameters);
    pairs(node.drives);
  }
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) text(name), pairs(program.with);
  }
  return hash;
}

/// The way to the other nodes, as the scenario's `network` says.
class Network {
 public:
  Network(const Scenario& scenario, const flow::Graph& graph, std::uint32_t self, const RunOptions& options)
      : places_(options.places) {
    roster_.federation = scenario.network.federation.empty() ? scenario.name : scenario.network.federation;
    roster_.runs = hash_of_run(scenario, graph);
    for (const flow::NodeInfo& node : graph.nodes) roster_.names.push_back(node.name);
    roster_.self = self;
    roster_.peers = flow::Island::neighbours(graph, self);
    options_.timing.lost = scenario.network.lost_after;
    options_.key = scenario.network.key.empty() ? link::Key::from_environment("ISOCHRON_KEY")
                                                : link::Key::from_file(scenario.network.key.path);
    if (options.rendezvous != nullptr) options_.life = options.rendezvous->life();
    make_carrier(scenario, graph);
  }
  [[nodiscard]] const link::Roster& roster() const { return roster_; }
  [[nodiscard]] const link::Federation::Options& options() const { return options_; }
  [[nodiscard]] link::Carrier& carrier() { return *carrier_; }

 private:
  void make_carrier(const Scenario& scenario, const flow::Graph& graph) {
    const NetworkSection& network = scenario.network;
    check_carrier(scenario);
    if (network.carrier != CarrierKind::tcp && to_faults(scenario.faults, 1).any()) {
      throw InputError(scenario.faults.place, "faults work on TCP links only",
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
    for (const NodePlace& place : node_places(scenario, graph, options_.key.has_value(), places_)) {
      all.push_back(place.address);
    }
    return all;
  }

  const std::map<std::string, std::string>& places_;
  link::Roster roster_;
  link::Federation::Options options_;
  std::unique_ptr<link::EpollReactor> reactor_;
  std::unique_ptr<link::FaultyReactor> faulty_;
  std::unique_ptr<link::Carrier> carrier_;
};

void describe_end(const flow::FlowOutcome& outcome, const RunWatch& watch, RunReport& report) {
  if (outcome.complete) return;
  report.end = watch.stopping() ? RunReport::End::interrupted : RunReport::End::failed;
  for (const flow::NodeFailure& failure : outcome.failures) {
    report.why += (report.why.empty() ? "" : "\n") + to_string(failure);
  }
  if (!outcome.stall.empty()) report.why += (report.why.empty() ? "" : "\n") + ("it stood still:\n" + outcome.stall);
}

/// What a node sends, next to its journal, for others that are started again. The file goes with the run; of a node
/// that is killed the launcher removes it.
class KeptSent {
 public:
  KeptSent(const RunOptions& options, const Scenario& scenario, Disk& disk, flow::SentObserver& next)
      : disk_(disk), path_((options.journal.empty() ? scenario.name : options.journal) + ".sent") {
    if (options.rendezvous == nullptr) return;
    auto file = disk.create(path_);
    if (!file) throw InputError({path_, 0, 0}, file.error().what, "choose another place with --journal");
    log_ = std::make_unique<flow::SentLog>(std::move(*file), &next);
  }
  ~KeptSent() {
    if (log_) (void)disk_.remove(path_);
  }
  KeptSent(const KeptSent&) = delete;
  KeptSent& operator=(const KeptSent&) = delete;
  [[nodiscard]] flow::SentLog* log() const { return log_.get(); }

 private:
  Disk& disk_;
  std::string path_;
  std::unique_ptr<flow::SentLog> log_;
};

}  // namespace

void check_flows(const Scenario& scenario) {
  check_restarts(scenario);
  (void)plan_flows(scenario);
}

RunReport run_flow_node(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                        RunWatch& watch) {
  const PlanOutside outside{watch, clock};
  FlowPlan plan = options.graph == nullptr ? plan_flows(scenario, &outside)
                                           : plan_one_node(scenario, &outside, options.node, *options.graph);
  const std::uint32_t self = node_called(plan.system.graph(), options.node);
  Network network(scenario, plan.system.graph(), self, options);
  RunRecord record(scenario, options, clock, disk, {options.node});
  if (plan.system.graph().nodes[self].outputs.empty()) record.leave(ParticipantId(0));
  FlowRecorder recorder(plan, scenario, record, watch, self);
  RunReport report = report_of(scenario);
  report.in_order = scenario.flows.executor != flow::How::free;
  flow::Options how = flow_options(scenario, watch, recorder, clock, report.notes, 1, options);
  const KeptSent kept(options, scenario, disk, recorder);
  if (kept.log() != nullptr) how.observer = kept.log();
  if (options.rendezvous != nullptr) recorder.expect_behind(options.rendezvous->behind());
  flow::FlowOutcome outcome;
  {
    const Observer observer(record, watch, recorder);
    link::Federation federation(network.carrier(), clock, network.roster(), network.options());
    outcome = RemoteNode(plan.system, self, how, federation, network.carrier(), clock, {options.rendezvous, kept.log()})
                  .run();
    if (federation.resent() > 0) {
      report.notes.push_back(std::to_string(federation.resent()) + " packets had to be sent again");
    }
  }
  report.simulated = outcome.complete ? scenario.duration : recorder.newest().since_zero();
  describe_end(outcome, watch, report);
  report.programs = recorder.programs();
  report.notes.push_back("node " + options.node + " only; `isochron journal merge` makes one journal of all nodes'");
  record.finish(report);
  report.shares.programs = report.wall;
  return report;
}

RunReport run_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  const PlanOutside outside{watch, clock};
  FlowPlan plan = plan_flows(scenario, &outside);
  return run_plan(std::move(plan), scenario, options, clock, disk, watch);
}

namespace {

/// All that a run of nodes uses. It stays for ever where a thread stays behind in a node's code.
struct FlowRun {
  FlowRun(FlowPlan&& planned, const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
          RunWatch& watch)
      : plan(std::move(planned)),
        record(scenario, options, clock, disk, names_of(plan.system.graph())),
        recorder(plan, scenario, record, watch) {
    if (!plan.scene) return;
    const ChannelId channel = record.journal().channel<scene::SceneUpdate>("/scene", {.in_digest = false});
    record.producer().write(channel, SimTime::zero(), *plan.scene);
  }
  FlowPlan plan;
  RunRecord record;
  FlowRecorder recorder;

 private:
  static std::vector<std::string> names_of(const flow::Graph& graph) {
    std::vector<std::string> names;
    for (const flow::NodeInfo& node : graph.nodes) names.push_back(node.name);
    return names;
  }
};

}  // namespace

RunReport run_plan(FlowPlan plan, const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                   RunWatch& watch) {
  auto run = std::make_unique<FlowRun>(std::move(plan), scenario, options, clock, disk, watch);
  const flow::Graph& graph = run->plan.system.graph();
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {  // who sends nothing has no progress that others could see
    if (graph.nodes[i].outputs.empty()) run->record.leave(ParticipantId(i));
  }
  if (scenario.flows.executor == flow::How::thread) {
    run->recorder.expect_one_thread(static_cast<std::uint32_t>(graph.nodes.size()));
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].outputs.empty()) run->recorder.drift()->leave(i);
    }
  }
  RunReport report = report_of(scenario);
  report.in_order = scenario.flows.executor != flow::How::free;
  flow::FlowOutcome outcome;
  const flow::Options how =
      flow_options(scenario, watch, run->recorder, clock, report.notes, graph.nodes.size(), options);
  {
    const Observer observer(run->record, watch, run->recorder);
    outcome = flow::run(run->plan.system, how);
  }
  report.simulated = outcome.complete ? scenario.duration : run->recorder.newest().since_zero();
  describe_end(outcome, watch, report);
  report.programs = run->recorder.programs();
  for (std::string& late : run->recorder.lateness()) report.notes.push_back(std::move(late));
  if (how.how == flow::How::free) report.notes.push_back("free-running: no time management, this run does not repeat");
  if (run->plan.conclude && !outcome.given_up) run->plan.conclude(report);
  for (std::string& fault : run->recorder.faults()) {  // a coordinator in this process has told of its own
    if (std::ranges::find(report.notes, fault) == report.notes.end()) report.notes.push_back(std::move(fault));
  }
  for (const Mark& mark : watch.control().take(SimTime::never())) {
    if (mark.what == "marker") continue;
    report.notes.push_back("not done: " + mark.what + " " + mark.about +
                           "; a world that is a node of flows takes nothing from outside while it runs");
  }
  report.given_up = outcome.given_up;
  if (const auto& drift = run->recorder.drift()) {
    run->record.set_drift(drift->max(), drift->p99(), drift->p999(), true, drift->series());
  }
  run->record.finish(report);
  report.shares.programs = report.wall;
  if (outcome.given_up) (void)run.release();
  if (outcome.given_up) alarm(0);  // the record is whole: no need to be killed (flow/crash.hpp)
  return report;
}

}  // namespace isochron
