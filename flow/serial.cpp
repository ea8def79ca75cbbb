#include "flow/serial.hpp"

#include "flow/crash.hpp"

namespace isochron::flow {
namespace {
constexpr std::uint32_t turn_budget = 64;        // steps of one node before others get a turn
constexpr std::uint32_t visits_at_a_time = 256;  // between two looks at `cancel`
}  // namespace

SerialRun::SerialRun(Assembly& assembly, const Options& options)
    : assembly_(assembly),
      options_(options),
      ready_(assembly.nodes().size()),
      statuses_(assembly.nodes().size()),
      beat_(1) {}

void SerialRun::fail(std::uint32_t node, const char* what) {
  for (std::uint32_t n = 0; n < statuses_.size(); ++n) statuses_[n].post(*assembly_.nodes()[n]);
  statuses_[node].failed.store(1);
  failures_.push_back(make_failure(assembly_.graph(), node, what, statuses_));
}

void SerialRun::set_stop(SimTime t) {
  for (std::uint32_t n = 0; n < assembly_.nodes().size() && !failed(); ++n) {
    Node& node = *assembly_.nodes()[n];
    node_runs(n);
    try {
      if (!started_) node.start(assembly_.graph().start);
    } catch (const std::exception& error) {
      fail(n, error.what());
    }
    node.set_stop(t);
    ready_.wake(n);
  }
  started_ = true;
}

void SerialRun::visit(std::uint32_t n) {
  node_runs(n);
  beat_[0].state.store(n, std::memory_order_relaxed);
  beat_[0].at.store(assembly_.nodes()[n]->at().ns(), std::memory_order_relaxed);
  beat_[0].steps.store(++turns_, std::memory_order_relaxed);
  Node& node = *assembly_.nodes()[n];
  const std::uint64_t steps = node.steps();
  if (node.run(ready_, turn_budget) == Moved::on) ready_.wake(n);
  idle_ = node.steps() != steps ? 0 : idle_ + 1;
  if (idle_ > 4 * assembly_.nodes().size() + 16) stop_creeping();
}

void SerialRun::stop_creeping() {
  idle_ = 0;
  SimTime first = SimTime::never();
  for (const Node* node : assembly_.nodes()) first = std::min(first, node->first_certain());
  for (Node* node : assembly_.nodes()) node->promise_at_least(first);
  for (std::uint32_t n = 0; n < assembly_.nodes().size(); ++n) {
    if (assembly_.nodes()[n]->news()) ready_.wake(n);
  }
}

bool SerialRun::some(std::uint32_t visits) {
  std::uint32_t node = 0;
  try {
    for (; visits > 0; --visits) {
      if (ready_.empty()) return false;
      node = ready_.pop();
      visit(node);
    }
  } catch (const std::exception& error) {
    fail(node, error.what());
    return false;
  } catch (...) {
    fail(node, "it threw something that is not an exception");
    return false;
  }
  return true;
}

RunReport SerialRun::until(SimTime t) {
  return watched([&] {
    set_stop(t);
    while (!failed() && some(visits_at_a_time)) {
      if (options_.cancel != nullptr && options_.cancel->load()) break;
    }
  });
}

RunReport SerialRun::watched(const std::function<void()>& loop) {
  const auto text = [this](const std::vector<WallSpan>& since) { return who_has_the_turn(since[0]); };
  std::string told;
  std::mutex mutex;
  {
    Watchdog::Wishes wishes = watchdog_wishes(options_, [&](const WaitForGraph& stall) {
      const std::lock_guard lock(mutex);
      told = to_string(stall);
      if (options_.on_stall) options_.on_stall(stall);
    });
    wishes.on_look = {};  // the nodes' states are the runner's
    const Watchdog watchdog(beat_, clock_of(options_), text, std::move(wishes));
    loop();
  }
  RunReport result = report();
  if (result.stall.empty()) result.stall = told;
  return result;
}

RunReport SerialRun::report() const {
  RunReport report;
  report.failures = failures_;
  report.complete = failures_.empty();
  for (const Node* node : assembly_.nodes()) report.complete = report.complete && node->finished();
  if (report.complete || failed() || !ready_.empty()) return report;
  std::vector<NodeStatus> statuses(assembly_.nodes().size());
  for (std::uint32_t n = 0; n < statuses.size(); ++n) statuses[n].post(*assembly_.nodes()[n]);
  const WaitForGraph graph = wait_for_graph(assembly_.graph(), statuses);
  report.stall = to_string(graph);
  if (options_.on_stall) options_.on_stall(graph);
  return report;
}

/// One of them computes and does not come back; the nodes' own states are the runner's and cannot be read meanwhile.
WaitForGraph SerialRun::who_has_the_turn(WallSpan since) const {
  WaitForGraph graph;
  for (std::uint32_t n = 0; n < assembly_.nodes().size(); ++n) {
    const bool its_turn = n == beat_[0].state.load();
    Waiting waiting;
    waiting.node = assembly_.graph().nodes[n].name;
    waiting.what = its_turn ? Waiting::For::own_code : Waiting::For::turn;
    waiting.since = since;
    if (its_turn) waiting.at = SimTime::from_ns(beat_[0].at.load());
    graph.push_back(waiting);
  }
  put_causes_first(graph);
  return graph;
}

void SerialRun::finish() {
  for (std::uint32_t n = 0; n < assembly_.nodes().size(); ++n) {
    node_runs(n);
    try {
      assembly_.nodes()[n]->finish();
    } catch (const std::exception& error) {
      fail(n, error.what());
    }
  }
}

RunReport run_serial(Assembly& assembly, const Options& options) {
  SerialRun serial(assembly, options);
  RunReport report = serial.until(options.until);
  serial.finish();
  if (serial.failed()) report = serial.report();
  return report;
}

}  // namespace isochron::flow
