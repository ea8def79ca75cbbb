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
  std::atomic<std::uint32_t> stopped{0};  // its process is halted by a signal
  std::atomic<std::uint64_t> creeps{0};   // Node::creeps()

  static constexpr std::uint32_t running = 99;
  void post(const Node& node) {
    const Wait& wait = node.wait();
    what.store(static_cast<std::uint32_t>(wait.what), std::memory_order_relaxed);
    port.store(wait.port, std::memory_order_relaxed);
    at.store(wait.at.ns(), std::memory_order_relaxed);
    steps.store(node.steps(), std::memory_order_relaxed);
    creeps.store(node.creeps(), std::memory_order_relaxed);
  }
  void post_running() { what.store(running, std::memory_order_relaxed); }
};

/// What one node waits for.
Waiting waiting_of(const Graph& graph, std::uint32_t node, const NodeStatus& status);
/// Who waits for this node, one sentence each.
std::vector<std::string> waiting_for(const Graph& graph, std::uint32_t node, std::span<const NodeStatus> statuses);
/// All of it, a line for each node; `since` is how long each has not moved, empty = not known. Of a part that stands
/// still while others move: `since` is zero for those that move, and they are left out. Causes come first.
WaitForGraph wait_for_graph(const Graph& graph, std::span<const NodeStatus> statuses,
                            const std::vector<WallSpan>& since = {});

/// Whether everybody moves, by a clock that it is handed. A node moves when it steps or when what it waits for comes
/// later in simulated time; one that has come to the end need not.
class StallWatch {
 public:
  StallWatch(std::span<const NodeStatus> statuses, WallSpan after, Clock& clock);
  /// How long each node has not moved, zero = it moves: when some have not for `after`, once for each standstill.
  std::optional<std::vector<WallSpan>> look();
  /// What look() found is not to be told now; it is found again.
  void take_back();

 private:
  struct Seen {
    std::uint64_t steps = 0;
    std::int64_t at = 0;
    WallTime moved;
    bool told = false;
  };
  std::span<const NodeStatus> statuses_;
  WallSpan after_;
  Clock& clock_;
  std::vector<Seen> seen_;
};

/// Looks now and then, and calls `on_stall` when somebody stands still; `on_look` sees what everybody does at each
/// look. While some are held back on purpose (`excused`), only a standstill whose cause is not one of them is told. One
/// thread while it lives; none if `after` is zero and nobody wants to look.
class Watchdog {
 public:
  using Text = std::function<WaitForGraph(const std::vector<WallSpan>& since)>;
  struct Wishes {
    WallSpan after;
    std::function<void(const WaitForGraph&)> on_stall;
    std::function<void(const WaitForGraph&)> on_look = {};
    std::function<bool(std::string_view node)> excused = {};  // "" = anybody
  };
  Watchdog(std::span<const NodeStatus> statuses, Clock& clock, Text text, Wishes wishes);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  [[nodiscard]] bool blames(const WaitForGraph& graph) const;
  [[nodiscard]] WallSpan interval() const;

  StallWatch stall_;
  Text text_;
  Wishes wishes_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace isochron::flow
