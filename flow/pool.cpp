// N workers share the nodes (run.hpp).
//
// Handing a node to another core costs hundreds of nanoseconds, waking that core tens of microseconds. So the pool
// starts on the calling thread alone, exactly as `thread` does, and looks at what a node's turn costs. Only when that
// is more than the grain do the helpers join: from there on nodes with news wait in one queue, and whoever is free
// takes the next. When turns become cheap again the helpers leave. Cost is processor time, not wall time: a machine
// that is busy with others must not look like nodes that compute.
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

#include "flow/crash.hpp"
#include "flow/futex.hpp"
#include "flow/serial.hpp"
#include "flow/statement_board.hpp"
#include "rt/cpu_clock.hpp"

namespace isochron::flow {
namespace {

// Few steps at a time: whoever runs far ahead leaves the others with nothing to do meanwhile, and in a ring such a wave
// goes round and round with one worker behind it.
constexpr std::uint32_t turn_budget = 4;
constexpr int looks = 500;  // at the queue before sleeping: some 20 µs
enum State : std::uint32_t { idle, queued, running, again };

std::chrono::nanoseconds processor_time() {
  return rt::CpuClock::this_thread().now().value_or(std::chrono::nanoseconds::zero());
}

/// Whether turns cost more than the grain: asked of many at a time.
class DearTurns {
 public:
  explicit DearTurns(WallSpan grain) : grain_(grain), last_(processor_time()) {}
  /// How many to take before asking again: more and more while they are cheap, because asking costs too.
  [[nodiscard]] std::uint32_t turns() const { return turns_; }
  /// After so many more. One or two batches in a row may be chance.
  bool found() {
    const auto before = std::exchange(last_, processor_time());
    const bool dear = WallSpan(last_ - before) / turns_ > grain_;
    above_ = dear ? above_ + 1 : 0;
    turns_ = dear ? fewest : std::min(2 * turns_, most);
    return above_ == 3;
  }

 private:
  static constexpr std::uint32_t fewest = 32, most = 2048;
  WallSpan grain_;
  std::chrono::nanoseconds last_;
  std::uint32_t turns_ = fewest;
  int above_ = 0;
};

/// Whether turns cost less than half the grain: every eighth turn is looked at, because looking costs too.
class CheapTurns {
 public:
  explicit CheapTurns(WallSpan grain) : grain_(grain) {}
  /// Takes a turn; true when the last hundreds were cheap.
  template <class Turn>
  bool found_with(Turn&& turn) {
    if (grain_ <= WallSpan::zero() || ++count_ % 8 != 0) {
      turn();
      return false;
    }
    const auto before = processor_time();
    turn();
    spent_ += processor_time() - before;
    if (++looked_at_ < 64) return false;
    const bool cheap = WallSpan(spent_) / looked_at_ < grain_ / 2;
    spent_ = {};
    looked_at_ = 0;
    return cheap;
  }

 private:
  WallSpan grain_;
  std::uint32_t count_ = 0, looked_at_ = 0;
  std::chrono::nanoseconds spent_{};
};

class Pool {
 public:
  static constexpr bool concurrent = true;
  [[nodiscard]] static bool sleepy() { return true; }

  Pool(Assembly& assembly, const Options& options, StatementBoard& board)
      : assembly_(assembly), options_(options), board_(board), statuses_(assembly.nodes().size()) {}

  /// Everybody whom `ready` names has news. Returns at the end, or when turns cost too little for helpers.
  RunReport run(ReadyQueue& ready, std::uint32_t workers) {
    while (!ready.empty()) wake(ready.pop());
    {
      const Watchdog watchdog(
          statuses_, clock_of(options_),
          [this](const std::vector<WallSpan>& since) { return wait_for_graph(assembly_.graph(), statuses_, since); },
          watchdog_wishes(options_, [this](const WaitForGraph& graph) { stalled(graph); }));
      std::vector<std::thread> helpers;
      for (std::uint32_t i = 1; i < workers; ++i) {
        helpers.emplace_back([this, i] {
          const SignalStack stack;
          work(i);
        });
      }
      work(0);
      for (std::thread& helper : helpers) helper.join();
    }
    return finish();
  }
  /// The helpers were sent away and there is more to do.
  [[nodiscard]] bool too_cheap() const { return too_cheap_; }

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
    queued_.store(queue_.size(), std::memory_order_relaxed);
    if (sleepers_ != 0) news_.notify_one();
  }

  void work(std::uint32_t worker) {
    std::minstd_rand random(static_cast<std::uint32_t>(options_.disturb + worker));
    CheapTurns turns(worker == 0 ? options_.grain : WallSpan::zero());
    CreepEnder creeping(board_);
    std::unique_lock lock(mutex_);
    while (next(lock)) {
      const std::uint32_t node = queue_.front();
      queue_.pop_front();
      queued_.store(queue_.size(), std::memory_order_relaxed);
      ++busy_;
      lock.unlock();
      const bool cheap = turns.found_with([&] { turn(node, creeping); });
      if (options_.disturb != 0 && random() % 8 == 0) std::this_thread::yield();
      lock.lock();
      --busy_;
      if (cheap) {
        too_cheap_ = true;
        break;
      }
    }
    ending_ = true;
    news_.notify_all();
  }

  /// Whether there is a node to run; false = the end. Nobody runs and nothing is queued: nothing can happen any more.
  bool next(std::unique_lock<std::mutex>& lock) {
    while (queue_.empty() && !ending_) {
      if (busy_ == 0) return false;
      if (look(lock)) continue;
      ++sleepers_;
      news_.wait_for(lock, std::chrono::milliseconds(50));
      --sleepers_;
    }
    if (options_.cancel != nullptr && options_.cancel->load()) return false;
    return !ending_;
  }

  /// Somebody runs and may have news in a moment: being woken would cost more than looking for a while.
  bool look(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    bool found = false;
    for (int i = 0; i < looks && !found; ++i) {
      relax();
      found = queued_.load(std::memory_order_relaxed) != 0;
    }
    lock.lock();
    return found || !queue_.empty();
  }

  void turn(std::uint32_t n, CreepEnder& creeping) {
    Node& node = *assembly_.nodes()[n];
    NodeStatus& status = statuses_[n];
    status.state.store(running);
    status.post_running();
    node_runs(n);
    Moved moved = Moved::done;
    try {
      moved = node.run(*this, turn_budget);
      if (creeping.after_turn(node, [this](std::uint32_t other) { wake(other); })) moved = Moved::on;
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

  void stalled(const WaitForGraph& graph) {
    const std::lock_guard lock(mutex_);
    report_.stall = to_string(graph);
    if (options_.on_stall) options_.on_stall(graph);
    if (!options_.end_on_stall) return;
    ending_ = true;
    news_.notify_all();
  }

  RunReport finish() {
    too_cheap_ = too_cheap_ && report_.failures.empty();
    if (too_cheap_) return std::move(report_);
    report_.complete = report_.failures.empty();
    for (const Node* node : assembly_.nodes()) report_.complete = report_.complete && node->finished();
    const bool cancelled = options_.cancel != nullptr && options_.cancel->load();
    if (!report_.complete && report_.failures.empty() && report_.stall.empty() && !cancelled) {
      const WaitForGraph graph = wait_for_graph(assembly_.graph(), statuses_);
      report_.stall = to_string(graph);
      if (options_.on_stall) options_.on_stall(graph);
    }
    return std::move(report_);
  }

  Assembly& assembly_;
  const Options& options_;
  StatementBoard& board_;
  std::vector<NodeStatus> statuses_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::uint32_t> queue_;
  std::atomic<std::size_t> queued_{0};  // its size, to be looked at without the lock
  std::uint32_t sleepers_ = 0;
  std::uint32_t busy_ = 0;
  bool ending_ = false;
  bool too_cheap_ = false;
  RunReport report_;
};

/// Runs alone until the end, or until turns turn out to cost more than the grain. True = helpers would pay.
bool run_alone(SerialRun& serial, const Options& options) {
  DearTurns cost(options.grain);
  while (true) {
    if (!serial.some(cost.turns())) return false;
    if (options.cancel != nullptr && options.cancel->load()) return false;
    if (cost.found()) return true;
  }
}

}  // namespace

RunReport run_pool(Assembly& assembly, const Options& options) {
  const std::uint32_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint32_t workers = options.workers == 0 ? cores : options.workers;
  if (workers == 1) return run_serial(assembly, options);
  SerialRun serial(assembly, options);
  serial.set_stop(options.until);
  RunReport report;
  StatementBoard board(assembly);
  bool helpers_pay = options.grain <= WallSpan::zero();
  for (bool more = !serial.failed(); more;) {
    if (!helpers_pay) report = serial.watched([&] { helpers_pay = run_alone(serial, options); });
    if (!helpers_pay) break;
    Pool pool(assembly, options, board);
    report = pool.run(serial.ready(), workers);
    more = pool.too_cheap();
    helpers_pay = false;
    for (std::uint32_t n = 0; more && n < assembly.nodes().size(); ++n) serial.ready().wake(n);
  }
  serial.finish();
  if (serial.failed()) report.failures = serial.report().failures;
  return report;
}

}  // namespace isochron::flow
