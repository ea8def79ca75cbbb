// N workers share the nodes (run.hpp).
//
// Handing a node to another core costs hundreds of nanoseconds, waking that core tens of microseconds. So the pool
// starts on the calling thread alone, exactly as `thread` does, and looks at what a node's turn costs. Only when that
// is more than the grain do the helpers join, and then for good: from there on nodes with news wait in one queue, and
// whoever is free takes the next.
//
//   state of a node: idle ──wake──► queued ──taken──► running ──no news──► idle
//                                                        │ wake while running
//                                                        ▼
//                                                     again ──turn over──► queued
//
// Threads: a node runs on one worker at a time; the queue's lock orders one turn before the next.

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <random>
#include <thread>

#include "flow/serial.hpp"

namespace isochron::flow {
namespace {

constexpr std::uint32_t turn_budget = 256;
enum State : std::uint32_t { idle, queued, running, again };

class Pool {
 public:
  static constexpr bool concurrent = true;
  [[nodiscard]] static bool sleepy() { return true; }

  Pool(Assembly& assembly, const Options& options)
      : assembly_(assembly), options_(options), statuses_(assembly.nodes().size()) {}

  /// Everybody whom `ready` names has news.
  RunReport run(ReadyQueue& ready, std::uint32_t workers) {
    while (!ready.empty()) wake(ready.pop());
    {
      const Watchdog watchdog(
          statuses_, options_.stall_after,
          [this](const std::vector<WallSpan>& since) { return wait_for_graph(assembly_.graph(), statuses_, since); },
          [this](const std::string& text) { stalled(text); });
      std::vector<std::thread> helpers;
      for (std::uint32_t i = 1; i < workers; ++i) helpers.emplace_back([this, i] { work(i); });
      work(0);
      for (std::thread& helper : helpers) helper.join();
    }
    return finish();
  }

  void wake(std::uint32_t node) {
    std::atomic<std::uint32_t>& state = statuses_[node].state;
    std::uint32_t now = state.load();
    while (true) {
      if (now == queued || now == again) return;
      if (state.compare_exchange_weak(now, now == idle ? queued : again)) break;
    }
    if (now == idle) enqueue(node);
  }

 private:
  void enqueue(std::uint32_t node) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(node);
    if (sleepers_ != 0) news_.notify_one();
  }

  void work(std::uint32_t worker) {
    std::minstd_rand random(static_cast<std::uint32_t>(options_.disturb + worker));
    std::unique_lock lock(mutex_);
    while (next(lock)) {
      const std::uint32_t node = queue_.front();
      queue_.pop_front();
      ++busy_;
      lock.unlock();
      turn(node);
      if (options_.disturb != 0 && random() % 8 == 0) std::this_thread::yield();
      lock.lock();
      --busy_;
    }
    ending_ = true;
    news_.notify_all();
  }

  /// Whether there is a node to run; false = the end. Nobody runs and nothing is queued: nothing can happen any more.
  bool next(std::unique_lock<std::mutex>& lock) {
    while (queue_.empty() && !ending_) {
      if (busy_ == 0) return false;
      ++sleepers_;
      news_.wait_for(lock, std::chrono::milliseconds(50));
      --sleepers_;
    }
    if (options_.cancel != nullptr && options_.cancel->load()) return false;
    return !ending_;
  }

  void turn(std::uint32_t n) {
    Node& node = *assembly_.nodes()[n];
    NodeStatus& status = statuses_[n];
    status.state.store(running);
    status.post_running();
    Moved moved = Moved::done;
    try {
      moved = node.run(*this, turn_budget);
    } catch (const std::exception& error) {
      failed(n, error.what());
    } catch (...) {
      failed(n, "it threw something that is not an exception");
    }
    status.post(node);
    std::uint32_t expected = running;
    if (moved != Moved::on && status.state.compare_exchange_strong(expected, idle)) return;
    status.state.store(queued);
    enqueue(n);
  }

  void failed(std::uint32_t n, const char* what) {
    const std::lock_guard lock(mutex_);
    statuses_[n].failed.store(1);
    report_.failures.push_back(make_failure(assembly_.graph(), n, what, statuses_));
    ending_ = true;
    news_.notify_all();
  }

  void stalled(const std::string& text) {
    const std::lock_guard lock(mutex_);
    report_.stall = text;
    if (options_.on_stall) options_.on_stall(text);
    if (!options_.end_on_stall) return;
    ending_ = true;
    news_.notify_all();
  }

  RunReport finish() {
    report_.complete = report_.failures.empty();
    for (const Node* node : assembly_.nodes()) report_.complete = report_.complete && node->finished();
    const bool cancelled = options_.cancel != nullptr && options_.cancel->load();
    if (!report_.complete && report_.failures.empty() && report_.stall.empty() && !cancelled) {
      report_.stall = wait_for_graph(assembly_.graph(), statuses_);
      if (options_.on_stall) options_.on_stall(report_.stall);
    }
    return std::move(report_);
  }

  Assembly& assembly_;
  const Options& options_;
  std::vector<NodeStatus> statuses_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::uint32_t> queue_;
  std::uint32_t sleepers_ = 0;
  std::uint32_t busy_ = 0;
  bool ending_ = false;
  RunReport report_;
};

using WallClock = std::chrono::steady_clock;

/// Runs alone until the end, or until turns turn out to cost more than the grain. True = helpers would pay.
bool run_alone(SerialRun& serial, const Options& options) {
  constexpr std::uint32_t turns = 128;
  int above = 0;
  while (true) {
    const auto start = WallClock::now();
    if (!serial.some(turns)) return false;
    if (options.cancel != nullptr && options.cancel->load()) return false;
    const WallSpan cost = WallSpan(WallClock::now() - start) / turns;
    above = cost > options.grain ? above + 1 : 0;
    if (above == 3) return true;  // one or two may be the host's noise
  }
}

}  // namespace

RunReport run_pool(Assembly& assembly, const Options& options) {
  const std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint32_t workers = options.workers == 0 ? cores : options.workers;
  SerialRun serial(assembly, options);
  if (workers == 1) return run_serial(assembly, options);
  serial.set_stop(options.until);
  RunReport report;
  const bool at_once = options.grain <= WallSpan::zero();
  if (!serial.failed() && (at_once || run_alone(serial, options))) {
    report = Pool(assembly, options).run(serial.ready(), workers);
  } else {
    report = serial.report();
  }
  serial.finish();
  if (serial.failed()) report.failures = serial.report().failures;
  return report;
}

}  // namespace isochron::flow
