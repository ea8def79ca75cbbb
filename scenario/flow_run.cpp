// Nodes that exchange stamped messages, run by one of flow's executors. Every message goes into the journal, a channel
// for each flow, so that the digest says whether two runs were the same.

#include <algorithm>
#include <thread>

#include "flow/check.hpp"
#include "flow/node_library.hpp"
#include "flow/run.hpp"
#include "scenario/run_record.hpp"
#include "scenario/runners.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

/// Adds one node; its mistakes are placed at its section.
void add_node(flow::System& system, const std::string& name, const NodeSection& section,
              std::vector<Mistake>& mistakes) {
  flow::Parameters::Values values;
  for (const auto& [key, value] : section.with) values.emplace(key, value);
  try {
    const auto library = flow::NodeLibrary::open(section.library.path);
    system.add(name, library.make(section.type, flow::Parameters(std::move(values))));
  } catch (const InputError& error) {
    mistakes.push_back({section.place, "node `" + name + "`: " + error.what(), ""});
  }
}

void connect_node(flow::System& system, const std::string& name, const NodeSection& section,
                  std::vector<Mistake>& mistakes) {
  for (const auto& [input, output] : section.inputs) {
    try {
      system.connect(output, name + "." + input);
    } catch (const InputError& error) {
      mistakes.push_back({section.place_of("inputs"), error.what(), ""});
    }
  }
}

flow::System build_system(const Scenario& scenario) {
  if (scenario.world) {
    throw InputError(scenario.place_of("nodes"), "a scenario has either a `world` with `robots`, or `nodes`", "");
  }
  flow::System system;
  std::vector<Mistake> mistakes;
  for (const auto& [name, section] : scenario.nodes) add_node(system, name, section, mistakes);
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  for (const auto& [name, section] : scenario.nodes) connect_node(system, name, section, mistakes);
  if (scenario.flows.capacity) {
    for (const flow::PortRef flow : system.flows()) {
      flow::OutputInfo info = system.graph().nodes[flow.node].outputs[flow.port];
      info.capacity = static_cast<std::uint32_t>(*scenario.flows.capacity);
      system.set_output(flow, info);
    }
  }
  for (const flow::Problem& problem : flow::check(system.graph(), SimTime::zero() + scenario.duration)) {
    mistakes.push_back({scenario.nodes[problem.node].second.place, problem.what, problem.hint});
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return system;
}

/// Writes every message into the journal and its node's progress into the ledger. Each flow has a producer and a pacer
/// of its own, because flows may be told from different threads.
class FlowRecorder final : public flow::Recorder {
 public:
  FlowRecorder(const flow::System& system, const Scenario& scenario, RunRecord& record, const RunWatch& watch)
      : record_(record) {
    const std::size_t ring = std::clamp<std::size_t>((64U << 20U) / system.flow_count(), 64U << 10U, 8U << 20U);
    for (const flow::PortRef flow : system.flows()) {
      const flow::OutputInfo& output = system.graph().nodes[flow.node].outputs[flow.port];
      const bool described = !output.type->schema.empty();
      ChannelOptions options;
      options.metadata["isochron.participant"] = system.graph().nodes[flow.node].name;
      options.message_encoding = described ? "cdr" : "raw";
      const std::string topic = "/" + system.graph().output_name(flow);
      lanes_.push_back(
          Lane{record.journal().channel(topic, {output.type->name, output.type->schema, described ? "ros2msg" : "raw"},
                                        options),
               &record.journal().producer(topic, ring), ParticipantId(flow.node),
               Pacer(scenario.time.pace, record.clock(), watch)});
    }
  }

  void sent(const flow::Sent& message) override {
    Lane& lane = lanes_[message.flow];
    lane.pacer.wait_for(message.time);
    const std::size_t size = message.type->encoded_size(message.value);
    const std::span<std::byte> room = lane.producer->reserve(lane.channel, message.time, size);
    if (room.data() != nullptr) {
      message.type->encode(message.value, room);
      lane.producer->commit();
    }
    record_.progress(lane.node, message.time);
    newest_.store(message.time.ns(), std::memory_order_relaxed);
  }
  [[nodiscard]] SimTime newest() const { return SimTime::from_ns(newest_.load(std::memory_order_relaxed)); }

 private:
  struct Lane {
    ChannelId channel;
    Producer* producer;
    ParticipantId node;
    Pacer pacer;
  };
  RunRecord& record_;
  std::vector<Lane> lanes_;
  std::atomic<std::int64_t> newest_{0};
};

/// Keeps the display and the drift ledger fresh while the nodes run.
class Observer {
 public:
  Observer(RunRecord& record, RunWatch& watch, const FlowRecorder& recorder)
      : thread_([this, &record, &watch, &recorder] {
          while (!done_.load(std::memory_order_relaxed)) {
            record.look(watch, recorder.newest());
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

flow::Options flow_options(const Scenario& scenario, const RunWatch& watch, flow::Recorder& recorder,
                           std::vector<std::string>& stalls) {
  flow::Options options;
  options.until = SimTime::zero() + scenario.duration;
  options.how = scenario.flows.executor;
  options.workers = static_cast<std::uint32_t>(scenario.flows.workers);
  options.stall_after = scenario.time.stall;
  options.on_stall = [&stalls](const std::string& graph) {
    std::fprintf(stderr, "nothing moves; who waits for whom:\n%s\n", graph.c_str());
    stalls.push_back("nothing moved:\n" + graph);
  };
  options.recorder = &recorder;
  options.digest = false;  // the journal has one
  options.cancel = &watch.stop_flag();
  return options;
}

}  // namespace

void check_flows(const Scenario& scenario) { (void)build_system(scenario); }

RunReport run_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  flow::System system = build_system(scenario);
  std::vector<std::string> names;
  for (const auto& [name, section] : scenario.nodes) names.push_back(name);
  return run_system(system, names, scenario, options, clock, disk, watch);
}

RunReport run_system(flow::System& system, const std::vector<std::string>& names, const Scenario& scenario,
                     const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  RunRecord record(scenario, options, clock, disk, names);
  for (std::uint32_t i = 0; i < system.node_count(); ++i) {  // who sends nothing has no progress that others could see
    if (system.graph().nodes[i].outputs.empty()) record.leave(ParticipantId(i));
  }
  FlowRecorder recorder(system, scenario, record, watch);
  RunReport report = report_of(scenario);
  flow::Outcome outcome;
  const flow::Options how = flow_options(scenario, watch, recorder, report.notes);
  {
    const Observer observer(record, watch, recorder);
    outcome = flow::run(system, how);
  }
  report.simulated = outcome.complete ? scenario.duration : recorder.newest().since_zero();
  if (!outcome.complete) {
    report.end = watch.stopping() ? RunReport::End::interrupted : RunReport::End::failed;
    for (const flow::NodeFailure& failure : outcome.failures)
      report.why += (report.why.empty() ? "" : "\n") + to_string(failure);
    if (!outcome.stall.empty()) report.why += outcome.stall;
  }
  if (how.how == flow::How::free) report.notes.push_back("free-running: no time management, this run does not repeat");
  record.finish(report);
  report.shares.programs = report.wall;
  return report;
}

}  // namespace isochron
