#include "flow/signal_hub.hpp"

#include <algorithm>
#include <chrono>

namespace isochron::flow {
namespace {
constexpr std::uint32_t turn_budget = 1024;
constexpr WallSpan long_yield = std::chrono::microseconds(100);
constexpr std::uint32_t shortest_retreat = 64;  // waits
constexpr std::uint32_t longest_retreat = 1U << 16;
constexpr std::uint32_t least_looks = 16;
constexpr WallSpan longest_sleep = std::chrono::milliseconds(100);  // then look again: a lost wake-up would only delay
}  // namespace

void SignalHub::loop(Node& node, const Patience& patience) {
  HomeCore nowhere(WallSpan::zero());
  loop(
      node, [&] { return patience; }, nowhere);
}

void SignalHub::loop(Node& node, const std::function<Patience()>& patience, HomeCore& home) {
  NodeStatus& status = statuses_[self_];
  const std::uint32_t budget = disturb_ != 0 ? 1 : turn_budget;
  while (!ended()) {
    status.post_running();
    const Moved moved = home.turn([&] { return node.run(*this, budget); });
    status.post(node);
    if (disturb_ != 0) disturb();
    if (moved == Moved::on) continue;
    if (node.finished()) return;
    if (!watch(node, patience())) sleep(node);
  }
}

/// Looks for news for a while. How long, it learns: looking pays when the other side runs on another core right now,
/// and only keeps that side from running when both share one.
bool SignalHub::watch(const Node& node, const Patience& patience) {
  looks_ = std::min(looks_, patience.looks);
  for (std::uint32_t i = 0; i < looks_; ++i) {
    if (node.news()) {
      looks_ = 2 * looks_;
      return true;
    }
    relax();
  }
  looks_ = std::max(looks_ / 2, std::min(least_looks, patience.looks));
  return yield(node, patience.yields);
}

/// Lets others on this core go on between looks. A yield that takes long went to strangers: sleeping is better then,
/// because a sleeper that is woken goes first. Each such yield doubles the number of waits before the next is tried.
bool SignalHub::yield(const Node& node, std::uint32_t yields) {
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
      return node.news();
    }
    if (node.news() || ended()) {
      retreat_ = std::max(retreat_ - 1, shortest_retreat);
      return true;
    }
    before = now;
  }
  return false;
}

/// Asks for wake-ups; sleeps if there is still nothing to do.
void SignalHub::sleep(Node& node) {
  NodeStatus& status = statuses_[self_];
  const std::uint32_t signal = status.signal.load();
  sleepy_ = true;
  const Moved moved = node.run(*this, turn_budget);
  sleepy_ = false;
  status.post(node);
  if (moved == Moved::on || node.finished()) return;
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
