#include "flow/stall.hpp"

#include <algorithm>

#include "core/time_text.hpp"

namespace isochron::flow {
namespace {

using namespace std::chrono_literals;

constexpr WallSpan look_every = 200ms;
constexpr std::uint64_t many_promises = 1000;  // without a step in between

/// The output that feeds an input; none: the node moved while it was looked at.
std::optional<PortRef> source_of(const Graph& graph, PortRef input) {
  for (const Connection& connection : graph.connections) {
    if (connection.input == input) return connection.output;
  }
  return std::nullopt;
}

bool waits_for(const Graph& graph, std::uint32_t who, const NodeStatus& status, std::uint32_t whom) {
  const auto what = static_cast<Wait::For>(status.what.load());
  const PortRef port{who, status.port.load()};
  if (what == Wait::For::message) {
    const auto source = source_of(graph, port);
    return source && source->node == whom;
  }
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

Waiting waiting_of(const Graph& graph, std::uint32_t node, const NodeStatus& status) {
  Waiting waiting;
  waiting.node = graph.nodes[node].name;
  waiting.at = SimTime::from_ns(status.at.load());
  const PortRef port{node, status.port.load()};
  const std::uint32_t what = status.what.load();
  if (status.failed.load() != 0) {
    waiting.what = Waiting::For::failed;
  } else if (status.stopped.load() != 0) {
    waiting.what = Waiting::For::stopped;
  } else if (what == NodeStatus::running) {
    waiting.what = Waiting::For::own_code;
  } else if (what == static_cast<std::uint32_t>(Wait::For::message)) {
    const auto source = source_of(graph, port);
    waiting.what = source ? Waiting::For::message : Waiting::For::own_code;
    if (!source) return waiting;
    waiting.flow = graph.output_name(*source);
    waiting.whom = graph.nodes[source->node].name;
    waiting.promises = status.creeps.load();
  } else if (what == static_cast<std::uint32_t>(Wait::For::room)) {
    const bool known = port.port < graph.nodes[node].outputs.size();
    waiting.what = known ? Waiting::For::room : Waiting::For::own_code;
    if (!known) return waiting;
    waiting.flow = graph.output_name(port);
    waiting.whom = sinks_text(graph, port);
  } else if (what == static_cast<std::uint32_t>(Wait::For::done)) {
    waiting.what = Waiting::For::end;
  }
  return waiting;
}

const char* to_string(Waiting::For what) {
  switch (what) {
    case Waiting::For::start:
      return "has not started";
    case Waiting::For::message:
      return "waits for a message";
    case Waiting::For::room:
      return "waits for room";
    case Waiting::For::own_code:
      return "is in its own code";
    case Waiting::For::stopped:
      return "is stopped by a signal";
    case Waiting::For::turn:
      return "waits for its turn";
    case Waiting::For::end:
      return "has come to the end";
    case Waiting::For::failed:
      return "has failed";
    case Waiting::For::trouble:
      return "is in trouble";
  }
  return "?";
}

std::string to_string(const Waiting& waiting) {
  if (waiting.what == Waiting::For::trouble) return waiting.node + ": " + waiting.whom;
  std::string text = waiting.node + " " + to_string(waiting.what);
  const std::string at = to_string(waiting.at);
  if (waiting.what == Waiting::For::message)
    text += " of " + waiting.flow + " at " + at + " (from " + waiting.whom + ")";
  if (waiting.what == Waiting::For::room) text += " on " + waiting.flow + " at " + at + " (at " + waiting.whom + ")";
  if (waiting.what == Waiting::For::own_code || waiting.what == Waiting::For::stopped) text += " after " + at;
  if (waiting.promises >= many_promises) {
    text += "; it creeps: " + std::to_string(waiting.promises) + " promises and no message (a longer lookahead helps)";
  }
  if (waiting.since > WallSpan::zero()) text += ", for " + format_ns_short(waiting.since.ns());
  return text;
}

std::string to_string(const WaitForGraph& graph) {
  std::string text;
  for (const Waiting& waiting : graph) text += "  " + to_string(waiting) + "\n";
  return text;
}

void put_causes_first(WaitForGraph& graph) {
  std::stable_partition(graph.begin(), graph.end(), [](const Waiting& waiting) {
    return waiting.what == Waiting::For::own_code || waiting.what == Waiting::For::stopped ||
           waiting.what == Waiting::For::failed || waiting.what == Waiting::For::trouble;
  });
}

std::vector<std::string> waiting_for(const Graph& graph, std::uint32_t node, std::span<const NodeStatus> statuses) {
  std::vector<std::string> waiting;
  for (std::uint32_t n = 0; n < statuses.size(); ++n) {
    if (n == node || !waits_for(graph, n, statuses[n], node)) continue;
    waiting.push_back(to_string(waiting_of(graph, n, statuses[n])));
  }
  return waiting;
}

WaitForGraph wait_for_graph(const Graph& graph, std::span<const NodeStatus> statuses,
                            const std::vector<WallSpan>& since) {
  WaitForGraph all;
  for (std::uint32_t n = 0; n < statuses.size(); ++n) {
    if (n < since.size() && since[n] == WallSpan::zero()) continue;  // it moves
    all.push_back(waiting_of(graph, n, statuses[n]));
    if (n < since.size()) all.back().since = since[n];
  }
  put_causes_first(all);
  return all;
}

StallWatch::StallWatch(std::span<const NodeStatus> statuses, WallSpan after, Clock& clock)
    : statuses_(statuses), after_(after), clock_(clock), seen_(statuses.size(), Seen{0, 0, clock.now(), false}) {}

std::optional<std::vector<WallSpan>> StallWatch::look() {
  const WallTime now = clock_.now();
  bool news = false;
  std::vector<WallSpan> since;
  for (std::size_t n = 0; n < statuses_.size(); ++n) {
    Seen& seen = seen_[n];
    const std::uint64_t steps = statuses_[n].steps.load(std::memory_order_relaxed);
    const std::int64_t at = statuses_[n].at.load(std::memory_order_relaxed);
    const bool done = statuses_[n].what.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(Wait::For::done);
    if (done || steps != seen.steps || at != seen.at) seen = {steps, at, now, false};
    since.push_back(now - seen.moved);
    news = news || (!seen.told && since.back() >= after_);
  }
  if (!news) return std::nullopt;
  // Who has stood for a while belongs to the same standstill, though its time is not up yet.
  for (std::size_t n = 0; n < seen_.size(); ++n) {
    const bool stands = since[n] >= after_ / 2;
    if (stands) seen_[n].told = true;
    if (!stands) since[n] = WallSpan::zero();
  }
  return since;
}

void StallWatch::take_back() {
  for (Seen& seen : seen_) seen.told = false;
}

Watchdog::Watchdog(std::span<const NodeStatus> statuses, Clock& clock, Text text, Wishes wishes)
    : stall_(statuses, wishes.after, clock), text_(std::move(text)), wishes_(std::move(wishes)) {
  if (wishes_.after > WallSpan::zero() || wishes_.on_look) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

WallSpan Watchdog::interval() const {
  const WallSpan stall = std::clamp(wishes_.after / 8, WallSpan(1ms), WallSpan(500ms));
  if (!wishes_.on_look) return stall;
  return wishes_.after > WallSpan::zero() ? std::min(stall, look_every) : look_every;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, std::chrono::nanoseconds(interval().ns()), [this] { return ending_; })) {
    if (wishes_.on_look) wishes_.on_look(text_({}));
    if (wishes_.after == WallSpan::zero()) continue;
    const auto since = stall_.look();
    if (!since) continue;
    const WaitForGraph graph = text_(*since);
    blames(graph) ? wishes_.on_stall(graph) : stall_.take_back();
  }
}

/// Whether somebody is to be blamed for it who is not held back on purpose.
bool Watchdog::blames(const WaitForGraph& graph) const {
  if (!wishes_.excused || !wishes_.excused("")) return true;
  return std::any_of(graph.begin(), graph.end(), [this](const Waiting& waiting) {
    return (waiting.what == Waiting::For::own_code || waiting.what == Waiting::For::stopped) &&
           !wishes_.excused(waiting.node);
  });
}

}  // namespace isochron::flow
