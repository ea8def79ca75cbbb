#include "flow/signal_hub.hpp"

#include <chrono>

namespace isochron::flow {
namespace {
constexpr std::uint32_t turn_budget = 1024;
constexpr auto long_yield = std::chrono::microseconds(100);
constexpr std::uint32_t waits_without_yield = 100;
constexpr WallSpan longest_sleep = std::chrono::milliseconds(100);  // then look again: a lost wake-up would only delay
}  // namespace

void SignalHub::loop(Node& node, const Patience& patience) {
  NodeStatus& status = statuses_[self_];
  while (!ended()) {
    status.post_running();
    const Moved moved = node.run(*this, disturb_ != 0 ? 1 : turn_budget);
    status.post(node);
    if (disturb_ != 0) disturb();
    if (moved == Moved::on) continue;
    if (node.finished()) return;
    if (!watch(node, patience)) sleep(node);
  }
}

/// Looks for news for a while. A yield that takes long says that strangers run on this core: yielding to them is worse
/// than sleeping, because a sleeper that is woken goes first. Then yielding is left alone for a number of waits.
bool SignalHub::watch(const Node& node, const Patience& patience) {
  for (std::uint32_t i = 0; i < patience.looks; ++i) {
    if (node.news()) return true;
    relax();
  }
  if (crowded_ > 0) {
    --crowded_;
    return false;
  }
  auto before = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < patience.yields; ++i) {
    sched_yield();
    if (node.news() || ended()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - before > long_yield) {
      crowded_ = waits_without_yield;
      return false;
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
  if (dice == 8) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
}

}  // namespace isochron::flow
