#pragma once
// What nodes are doing, for everybody to see, and who waits for whom when nothing moves.
//
// Threads: a NodeStatus is written by whoever runs the node and read by the watchdog; it may lie in shared memory.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "flow/graph.hpp"
#include "flow/node.hpp"
#include "flow/waiting.hpp"

namespace isochron::flow {

struct alignas(cache_line) NodeStatus {
  std::atomic<std::uint32_t> signal{0};    // moves when there is news for the node
  std::atomic<std::uint32_t> sleeping{0};  // it sleeps on `signal`
  std::atomic<std::uint32_t> state{0};     // of the pool
  std::atomic<std::uint32_t> what{0};      // Wait::For, or running
  std::atomic<std::uint32_t> port{0};
  std::atomic<std::int64_t> at{0};
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint32_t> failed{0};

  static constexpr std::uint32_t running = 99;
  void post(const Node& node) {
    const Wait& wait = node.wait();
    what.store(static_cast<std::uint32_t>(wait.what), std::memory_order_relaxed);
    port.store(wait.port, std::memory_order_relaxed);
    at.store(wait.at.ns(), std::memory_order_relaxed);
    steps.store(node.steps(), std::memory_order_relaxed);
  }
  void post_running() { what.store(running, std::memory_order_relaxed); }
};

/// What one node waits for.
Waiting waiting_of(const Graph& graph, std::uint32_t node, const NodeStatus& status);
/// Who waits for this node, one sentence each.
std::vector<std::string> waiting_for(const Graph& graph, std::uint32_t node, std::span<const NodeStatus> statuses);
/// All of it, a line for each node; `since` is how long each has not moved, empty = not known.
WaitForGraph wait_for_graph(const Graph& graph, std::span<const NodeStatus> statuses,
                            const std::vector<WallSpan>& since = {});

/// Whether anything moves, by a clock that it is handed.
class StallWatch {
 public:
  StallWatch(std::span<const NodeStatus> statuses, WallSpan after, Clock& clock);
  /// How long each node has not moved, when none of them has for `after`; once for each stall.
  std::optional<std::vector<WallSpan>> look();

 private:
  std::span<const NodeStatus> statuses_;
  WallSpan after_;
  Clock& clock_;
  std::vector<std::uint64_t> steps_;
  std::vector<WallTime> moved_;
  bool told_ = false;
};

/// Looks now and then, and calls `on_stall` when nothing moves; `on_look` sees what everybody does at each look. One
/// thread while it lives; none if `after` is zero and nobody wants to look.
class Watchdog {
 public:
  using Text = std::function<WaitForGraph(const std::vector<WallSpan>& since)>;
  Watchdog(std::span<const NodeStatus> statuses, WallSpan after, Clock& clock, Text text,
           std::function<void(const WaitForGraph&)> on_stall, std::function<void(const WaitForGraph&)> on_look = {});
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  [[nodiscard]] WallSpan interval() const;

  StallWatch stall_;
  WallSpan after_;
  Text text_;
  std::function<void(const WaitForGraph&)> on_stall_, on_look_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace isochron::flow
