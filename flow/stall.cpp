#include "flow/stall.hpp"

#include <algorithm>

#include "core/time_text.hpp"

namespace isochron::flow {
namespace {

/// The output that feeds an input.
PortRef source_of(const Graph& graph, PortRef input) {
  for (const Connection& connection : graph.connections) {
    if (connection.input == input) return connection.output;
  }
  return {};
}

bool waits_for(const Graph& graph, std::uint32_t who, const NodeStatus& status, std::uint32_t whom) {
  const auto what = static_cast<Wait::For>(status.what.load());
  const PortRef port{who, status.port.load()};
  if (what == Wait::For::message) return source_of(graph, port).node == whom;
  if (what != Wait::For::room) return false;
  return std::any_of(graph.connections.begin(), graph.connections.end(), [&](const Connection& connection) {
    return connection.output == port && connection.input.node == whom;
  });
}

std::string sinks_text(const Graph& graph, PortRef output) {
  std::string text;
  for (const Connection& connection : graph.connections) {
    if (connection.output == output) text += (text.empty() ? "" : ", ") + graph.nodes[connection.input.node].name;
  }
  return text;
}

}  // namespace

std::string describe(const Graph& graph, std::uint32_t node, const NodeStatus& status) {
  const std::string& name = graph.nodes[node].name;
  const std::string at = to_string(SimTime::from_ns(status.at.load()));
  const PortRef port{node, status.port.load()};
  if (status.failed.load() != 0) return name + " has failed";
  const std::uint32_t what = status.what.load();
  if (what == NodeStatus::running) return name + " is in its own code after " + at;
  switch (static_cast<Wait::For>(what)) {
    case Wait::For::message: {
      const PortRef source = source_of(graph, port);
      return name + " waits for a message of " + graph.output_name(source) + " at " + at + " (from " +
             graph.nodes[source.node].name + ")";
    }
    case Wait::For::room:
      return name + " waits for room on " + graph.output_name(port) + " at " + at + " (at " + sinks_text(graph, port) +
             ")";
    case Wait::For::done:
      return name + " has come to the end";
    case Wait::For::nothing:
      break;
  }
  return name + " has not started";
}

std::vector<std::string> waiting_for(const Graph& graph, std::uint32_t node, std::span<const NodeStatus> statuses) {
  std::vector<std::string> waiting;
  for (std::uint32_t n = 0; n < statuses.size(); ++n) {
    if (n != node && waits_for(graph, n, statuses[n], node)) waiting.push_back(describe(graph, n, statuses[n]));
  }
  return waiting;
}

std::string wait_for_graph(const Graph& graph, std::span<const NodeStatus> statuses,
                           const std::vector<WallSpan>& since) {
  std::string text;
  for (std::uint32_t n = 0; n < statuses.size(); ++n) {
    text += "  " + describe(graph, n, statuses[n]);
    if (n < since.size()) text += ", for " + format_ns_short(since[n].ns());
    text += "\n";
  }
  return text;
}

Watchdog::Watchdog(std::span<const NodeStatus> statuses, WallSpan after, Text text,
                   std::function<void(const std::string&)> on_stall)
    : statuses_(statuses),
      after_(after),
      text_(std::move(text)),
      on_stall_(std::move(on_stall)),
      steps_(statuses.size(), 0),
      since_(statuses.size()) {
  if (after_ > WallSpan::zero()) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::watch() {
  const WallSpan interval = std::max(after_ / 8, WallSpan(std::chrono::milliseconds(1)));
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, std::chrono::nanoseconds(interval.ns()), [this] { return ending_; })) look(interval);
}

void Watchdog::look(WallSpan passed) {
  bool moved = false;
  for (std::size_t n = 0; n < statuses_.size(); ++n) {
    const std::uint64_t steps = statuses_[n].steps.load(std::memory_order_relaxed);
    moved = moved || steps != steps_[n];
    since_[n] = steps == steps_[n] ? since_[n] + passed : WallSpan::zero();
    steps_[n] = steps;
  }
  if (moved) told_ = false;
  const WallSpan quiet = since_.empty() ? WallSpan::zero() : *std::min_element(since_.begin(), since_.end());
  if (told_ || quiet < after_) return;
  told_ = true;
  on_stall_(text_(since_));
}

}  // namespace isochron::flow
