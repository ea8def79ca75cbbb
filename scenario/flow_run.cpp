// Nodes that exchange stamped messages, run by one of flow's executors. Every message goes into the journal, a channel
// for each flow, so that the digest says whether two runs were the same.

#include <thread>

#include "scenario/flow_plan.hpp"
#include "scenario/flow_record.hpp"
#include "scenario/runners.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t largest_message = 4U << 20U;  // between processes: a picture of 1024 × 1024 in colour

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

flow::Options flow_options(const Scenario& scenario, const RunWatch& watch, FlowRecorder& recorder, Clock& clock,
                           std::vector<std::string>& notes) {
  flow::Options options;
  options.until = SimTime::zero() + scenario.duration;
  options.how = scenario.flows.executor;
  options.workers = static_cast<std::uint32_t>(scenario.flows.workers);
  options.disturb = scenario.flows.disturb;
  options.stall_after = scenario.time.stall;
  options.on_stall = [&notes, &recorder](const flow::WaitForGraph& graph) {
    const std::string text = to_string(graph);
    std::fprintf(stderr, "nothing moves; who waits for whom:\n%s\n", text.c_str());
    notes.push_back("nothing moved:\n" + text);
    recorder.stalled(graph);
  };
  options.recorder = &recorder;
  options.digest = false;  // the journal has one
  options.cancel = &watch.stop_flag();
  options.clock = &clock;
  if (scenario.world) options.largest_message = largest_message;
  return options;
}

void take_outcome(const flow::Outcome& outcome, const RunWatch& watch, RunReport& report) {
  if (outcome.complete) return;
  report.end = watch.stopping() ? RunReport::End::interrupted : RunReport::End::failed;
  for (const flow::NodeFailure& failure : outcome.failures) {
    report.why += (report.why.empty() ? "" : "\n") + to_string(failure);
  }
  if (!outcome.stall.empty()) report.why += outcome.stall;
}

}  // namespace

void check_flows(const Scenario& scenario) { (void)plan_flows(scenario); }

RunReport run_flows(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  FlowPlan plan = plan_flows(scenario);
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
  const flow::Options how = flow_options(scenario, watch, recorder, clock, report.notes);
  {
    const Observer observer(record, watch, recorder);
    outcome = flow::run(plan.system, how);
  }
  report.simulated = outcome.complete ? scenario.duration : recorder.newest().since_zero();
  take_outcome(outcome, watch, report);
  report.programs = recorder.programs();
  for (std::string& late : recorder.lateness()) report.notes.push_back(std::move(late));
  if (how.how == flow::How::free) report.notes.push_back("free-running: no time management, this run does not repeat");
  record.finish(report);
  report.shares.programs = report.wall;
  return report;
}

}  // namespace isochron
