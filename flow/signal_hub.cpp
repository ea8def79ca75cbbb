#include "flow/signal_hub.hpp"

#include <algorithm>
#include <chrono>

namespace isochron::flow {
namespace {
constexpr std::uint32_t turn_budget = 64;  // steps between two looks of the watchdog at most
constexpr WallSpan long_yield = std::chrono::microseconds(100);
constexpr std::uint32_t shortest_retreat = 64;  // waits
constexpr std::uint32_t longest_retreat = 1U << 16;
constexpr std::uint32_t least_looks = 16;
constexpr WallSpan longest_sleep = std::chrono::milliseconds(100);  // then look again: a lost wake-up would only delay
}  // namespace

void SignalHub::loop(std::span<Node* const> nodes, const Patience& patience) {
  HomeCore nowhere(WallSpan::zero());
  loop(
      nodes, [&] { return patience; }, nowhere);
}

void SignalHub::loop(std::span<Node* const> nodes, const std::function<Patience()>& patience, HomeCore& home) {
  const std::uint32_t budget = disturb_ != 0 ? 1 : turn_budget;
  while (!ended()) {
    const Round made = home.turn([&] { return round(nodes, budget); });
    if (disturb_ != 0) disturb();
    if (made == Round::finished) break;
    if (made == Round::waits && !watch(nodes, patience())) sleep(nodes);
  }
  for (const Node* node : nodes) creeping_.state(node->index());  // nobody will be there to be asked
}

/// A turn for everybody. Where there are several, one that stepped may have brought news for another.
SignalHub::Round SignalHub::round(std::span<Node* const> nodes, std::uint32_t budget) {
  bool moved = false, finished = true;
  for (Node* node : nodes) {
    NodeStatus& status = statuses_[node->index()];
    statuses_[self_].state.store(node->index(), std::memory_order_relaxed);
    status.post_running();
    const std::uint64_t steps = node->steps();
    Moved result = node->run(*this, budget);
    if (creeping_.after_turn(*node, [this](std::uint32_t other) { wake(other); })) result = Moved::on;
    status.post(*node);
    moved = moved || result == Moved::on || (nodes.size() > 1 && node->steps() != steps);
    finished = finished && node->finished();
  }
  if (finished) return Round::finished;
  return moved ? Round::moved : Round::waits;
}

bool SignalHub::news(std::span<Node* const> nodes) {
  for (const Node* node : nodes) {
    if (node->news()) return true;
  }
  return false;
}

/// Looks for news for a while. How long, it learns: looking pays when the other side runs on another core right now,
/// and only keeps that side from running when both share one.
bool SignalHub::watch(std::span<Node* const> nodes, const Patience& patience) {
  looks_ = std::min(looks_, patience.looks);
  for (std::uint32_t i = 0; i < looks_; ++i) {
    if (news(nodes)) {
      looks_ = 2 * looks_;
      return true;
    }
    relax();
  }
  looks_ = std::max(looks_ / 2, std::min(least_looks, patience.looks));
  return yield(nodes, patience.yields);
}

/// Lets others on this core go on between looks. A yield that takes long went to strangers: sleeping is better then,
/// because a sleeper that is woken goes first. Each such yield doubles the number of waits before the next is tried.
bool SignalHub::yield(std::span<Node* const> nodes, std::uint32_t yields) {
  if (crowded_ > 0) {
    --crowded_;
    return false;
  }
  WallTime before = clock_.now();
  for (std::uint32_t i = 0; i < yields; ++i) {
    sched_yield();
    const WallTime now = clock_.now();
    if (now - before > long_yield) {
      crowded_ = retreat_;
      retreat_ = std::min(2 * retreat_, longest_retreat);
      return news(nodes);
    }
    if (news(nodes) || ended()) {
      retreat_ = std::max(retreat_ - 1, shortest_retreat);
      return true;
    }
    before = now;
  }
  return false;
}

/// Asks for wake-ups; sleeps if there is still nothing to do.
void SignalHub::sleep(std::span<Node* const> nodes) {
  NodeStatus& status = statuses_[self_];
  const std::uint32_t signal = status.signal.load();
  sleepy_ = true;
  const Round made = round(nodes, turn_budget);
  sleepy_ = false;
  if (made != Round::waits) return;
  status.sleeping.store(1);
  if (status.signal.load() == signal && !ended()) futex_wait(status.signal, signal, longest_sleep);
  status.sleeping.store(0);
}

void SignalHub::disturb() {
  const auto dice = random_() % 64;
  if (dice < 8) std::this_thread::yield();
  if (dice == 8) clock_.sleep_until(clock_.now() + WallSpan(std::chrono::microseconds(random_() % 200)));
}

}  // namespace isochron::flow
