// A thread for each node (run.hpp).

#include <exception>
#include <mutex>
#include <thread>

#include "flow/crash.hpp"
#include "flow/executor.hpp"
#include "flow/signal_hub.hpp"

namespace isochron::flow {
namespace {

class Threads {
 public:
  Threads(Assembly& assembly, const Options& options)
      : assembly_(assembly), options_(options), statuses_(assembly.nodes().size()), board_(assembly) {}

  RunReport run() {
    std::vector<std::thread> threads;
    {
      const Watchdog watchdog(
          statuses_, clock_of(options_),
          [this](const std::vector<WallSpan>& since) { return wait_for_graph(assembly_.graph(), statuses_, since); },
          watchdog_wishes(options_, [this](const WaitForGraph& graph) { stalled(graph); }));
      for (std::uint32_t n = 0; n < statuses_.size(); ++n) threads.emplace_back([this, n] { live(n); });
      if (options_.cancel != nullptr) await_cancel();
      for (std::thread& thread : threads) thread.join();
    }
    report_.complete = report_.failures.empty();
    for (const Node* node : assembly_.nodes()) report_.complete = report_.complete && node->finished();
    return std::move(report_);
  }

 private:
  void live(std::uint32_t n) {
    const SignalStack stack;
    node_runs(n);
    Node& node = *assembly_.nodes()[n];
    SignalHub hub(statuses_, control_, board_, n, clock_of(options_), options_.disturb);
    try {
      node.start(assembly_.graph().start);
      node.set_stop(options_.until);
      Node* const alone[] = {&node};
      hub.loop(alone, {});
      node.finish();
    } catch (const std::exception& error) {
      failed(n, error.what());
    } catch (...) {
      failed(n, "it threw something that is not an exception");
    }
    control_.finished.fetch_add(1);
    futex_wake(control_.finished);
  }

  void failed(std::uint32_t n, const char* what) {
    statuses_[n].failed.store(1);
    const std::lock_guard lock(mutex_);
    report_.failures.push_back(make_failure(assembly_.graph(), n, what, statuses_));
    SignalHub::end_all(statuses_, control_);
  }

  void stalled(const WaitForGraph& graph) {
    const std::lock_guard lock(mutex_);
    report_.stall = to_string(graph);
    if (options_.on_stall) options_.on_stall(graph);
    if (options_.end_on_stall) SignalHub::end_all(statuses_, control_);
  }

  void await_cancel() {
    std::uint32_t finished = control_.finished.load();
    while (finished < statuses_.size()) {
      if (options_.cancel->load()) SignalHub::end_all(statuses_, control_);
      futex_wait(control_.finished, finished, std::chrono::milliseconds(5));
      finished = control_.finished.load();
    }
  }

  Assembly& assembly_;
  const Options& options_;
  std::vector<NodeStatus> statuses_;
  RunControl control_;
  StatementBoard board_;
  std::mutex mutex_;
  RunReport report_;
};

}  // namespace

RunReport run_threads(Assembly& assembly, const Options& options) { return Threads(assembly, options).run(); }

}  // namespace isochron::flow
