#include "run/run_control.hpp"

#include <algorithm>

namespace isochron {
namespace {

using namespace std::chrono_literals;
constexpr WallSpan longest_nap = 10ms;    // so that a wish is felt soon
constexpr WallSpan stepping_nap = 100us;  // whoever steps waits for each of them

}  // namespace

void RunControl::set_speed(double factor) {
  speed_.store(std::max(0.0, factor), std::memory_order_relaxed);
  change_.fetch_add(1, std::memory_order_relaxed);
}

void RunControl::ask(Mark mark) {
  const std::lock_guard guard(lock_);
  marks_.push_back(std::move(mark));
  asked_.store(true, std::memory_order_release);
}

void RunControl::plan(std::vector<Mark> marks) {
  const std::lock_guard guard(lock_);
  planned_ = std::move(marks);
  std::ranges::stable_sort(planned_, {}, &Mark::at);
  asked_.store(!planned_.empty(), std::memory_order_release);
}

void RunControl::when_reached(SimTime at, std::function<void(Journal&)> then) {
  then_ = std::move(then);
  reach_ns_.store(at.ns(), std::memory_order_relaxed);
}

void RunControl::tell_reached(Journal& journal) {
  reach_ns_.store(SimTime::never().ns(), std::memory_order_relaxed);
  then_(journal);
}

std::vector<Mark> RunControl::take(SimTime now) {
  if (!asked_.load(std::memory_order_acquire)) return {};
  const std::lock_guard guard(lock_);
  std::vector<Mark> due = std::move(marks_);
  marks_.clear();
  while (!planned_.empty() && planned_.front().at <= now) {
    due.push_back(std::move(planned_.front()));
    planned_.erase(planned_.begin());
  }
  asked_.store(!planned_.empty(), std::memory_order_relaxed);
  return due;
}

bool RunControl::use_step(SimTime next) {
  if (next.ns() <= granted_ns_.load(std::memory_order_relaxed)) return true;
  int left = steps_.load(std::memory_order_relaxed);
  while (left > 0 && !steps_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
  }
  if (left <= 0) return false;
  granted_ns_.store(next.ns(), std::memory_order_relaxed);
  stepped_ = true;
  return true;
}

void RunControl::forget_origin() {
  const std::lock_guard guard(lock_);
  origin_.reset();
}

WallTime RunControl::due_at(SimTime next, WallTime now, double speed) {
  const std::lock_guard guard(lock_);
  const std::uint64_t change = change_.load(std::memory_order_relaxed);
  if (!origin_ || origin_->change != change) origin_ = Origin{next, now, change};
  const double ahead_s = (next - origin_->sim).seconds() / speed;
  return origin_->wall + WallSpan::from_ns(static_cast<std::int64_t>(ahead_s * 1e9));
}

void RunControl::hold(SimTime next, Clock& clock, const std::atomic<bool>& stopping) {
  while (!stopping.load(std::memory_order_relaxed)) {
    if (paused()) {
      forget_origin();  // the speed counts from where the run goes on
      if (use_step(next)) return;
      standing_.store(true, std::memory_order_release);
      clock.sleep_until(clock.now() + (stepped_ ? stepping_nap : longest_nap));
      continue;
    }
    const double speed = this->speed();
    if (speed <= 0) return;
    const WallTime now = clock.now();
    const WallTime due = due_at(next, now, speed);
    if (now >= due) return;
    clock.sleep_until(std::min(due, now + longest_nap));
  }
}

void RunControl::stalled(std::string graph) {
  const std::lock_guard guard(lock_);
  stall_ = std::move(graph);
}

std::string RunControl::stall() const {
  const std::lock_guard guard(lock_);
  return stall_;
}

void RunControl::waiting(std::string graph) {
  const std::lock_guard guard(lock_);
  waits_ = std::move(graph);
}

std::string RunControl::waits() const {
  const std::lock_guard guard(lock_);
  return waits_;
}

}  // namespace isochron
