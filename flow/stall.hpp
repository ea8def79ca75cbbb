#pragma once
// What nodes are doing, for everybody to see, and the text that says who waits for whom when nothing moves.
//
// Threads: a NodeStatus is written by whoever runs the node and read by the watchdog; it may lie in shared memory.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "flow/graph.hpp"
#include "flow/node.hpp"

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

/// "red waits for a message of yellow.position at 12s"
std::string describe(const Graph& graph, std::uint32_t node, const NodeStatus& status);
/// Who waits for this node, one sentence each.
std::vector<std::string> waiting_for(const Graph& graph, std::uint32_t node, std::span<const NodeStatus> statuses);
/// All of it, one line a node; `since` is how long each has not moved, empty = not known.
std::string wait_for_graph(const Graph& graph, std::span<const NodeStatus> statuses,
                           const std::vector<WallSpan>& since = {});

/// Looks at the statuses now and then, and calls `on_stall` with the text when no node has moved for `after`; again
/// only after something moved. One thread while it lives; none if `after` is zero.
class Watchdog {
 public:
  using Text = std::function<std::string(const std::vector<WallSpan>& since)>;
  Watchdog(std::span<const NodeStatus> statuses, WallSpan after, Text text,
           std::function<void(const std::string&)> on_stall);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  void look(WallSpan passed);

  std::span<const NodeStatus> statuses_;
  WallSpan after_;
  Text text_;
  std::function<void(const std::string&)> on_stall_;
  std::vector<std::uint64_t> steps_;
  std::vector<WallSpan> since_;
  bool told_ = false;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace isochron::flow
