#include "programs/stopwatch.hpp"

#include <algorithm>

#include "programs/time_stamp_counter.hpp"

namespace isochron::programs {

namespace {
constexpr WallSpan longest_switch = std::chrono::microseconds(50);
constexpr WallSpan calibration_period = std::chrono::milliseconds(100);
}  // namespace

Stopwatch::Stopwatch()
    : start_(wall_now()), last_(start_), calibrated_at_(start_), calibrated_count_(time_stamp_counter()) {}

void Stopwatch::restart() {
  sum_ = {};
  start_ = last_ = wall_now();
}

void Stopwatch::was(WallSpan Accounting::*part) {
  const WallTime now = wall_now();
  sum_.*part += now - last_;
  last_ = now;
}

void Stopwatch::was_running(WallSpan executed) {
  const WallTime now = wall_now();
  const WallSpan passed = now - last_;
  last_ = now;
  executed = std::min(executed, passed);
  const WallSpan rest = passed - executed;
  sum_.executed += executed;
  (rest <= longest_switch ? sum_.coordination : sum_.waited) += rest;
}

Accounting Stopwatch::total() const {
  Accounting all = sum_;
  all.wall = last_ - start_;
  return all;
}

std::uint64_t Stopwatch::counter_scale(double rate) {
  if (ns_per_count_ == 0 || last_ - measured_at_ > calibration_period) {
    const std::uint64_t counts = time_stamp_counter() - calibrated_count_;
    const WallSpan passed = wall_now() - calibrated_at_;
    if (counts > 0) ns_per_count_ = static_cast<double>(passed.ns()) / static_cast<double>(counts);
    measured_at_ = last_;
  }
  return static_cast<std::uint64_t>(ns_per_count_ * rate * 4294967296.0);
}

}  // namespace isochron::programs
