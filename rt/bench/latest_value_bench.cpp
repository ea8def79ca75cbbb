#include <mutex>

#include "rt/bench/rt_bench.hpp"
#include "rt/bench/two_threads.hpp"
#include "rt/latest_value.hpp"

namespace isochron::bench {
namespace {

constexpr std::uint64_t calls = 5'000;
constexpr std::uint64_t contended_calls = 100'000;
constexpr int rounds = 200;  // short ones, so that some are undisturbed

struct State {
  std::uint64_t words[8] = {};
};

// What one writes without a lock-free structure.
class LockedValue {
 public:
  void write(const State& state) {
    std::lock_guard lock(mutex_);
    value_ = state;
  }
  const State* read() {
    std::lock_guard lock(mutex_);
    mine_ = value_;
    return &mine_;
  }

 private:
  std::mutex mutex_;
  State value_, mine_;
};

template <class Value>
double write_ns(Value& value) {
  State state;
  return ns_per_call(
      calls,
      [&] {
        for (std::uint64_t i = 0; i < calls; ++i) {
          state.words[0] = i;
          value.write(state);
        }
      },
      rounds);
}

// A read that finds a new value each time: a write and a read, less a write.
template <class Value>
double read_ns(Value& value, double write) {
  State state;
  const double both = ns_per_call(
      calls,
      [&] {
        for (std::uint64_t i = 0; i < calls; ++i) {
          state.words[0] = i;
          value.write(state);
          keep(value.read()->words[0]);
        }
      },
      rounds);
  return both > write ? both - write : 0;
}

// One write while a reader on the other core reads without pause.
template <class Value>
double contended_write_ns() {
  Value value;
  value.write({});
  std::atomic<bool> end = false;
  double s = 0;
  seconds_together(
      [&] {
        State state;
        const auto start = rt::MonotonicClock::now();
        for (std::uint64_t i = 0; i < contended_calls; ++i) {
          state.words[0] = i;
          value.write(state);
        }
        s = std::chrono::duration<double>(rt::MonotonicClock::now() - start).count();
        end = true;
      },
      [&] {
        while (!end) keep(value.read()->words[0]);
      });
  return s / static_cast<double>(contended_calls) * 1e9;
}

}  // namespace

void bench_latest_value(Report& report) {
  rt::LatestValue<State> ours;
  LockedValue locked;
  const double write = write_ns(ours), read = read_ns(ours, write);
  const double locked_write = write_ns(locked), locked_read = read_ns(locked, locked_write);
  report.at_most("latest_value_64_byte_write_ns", write, "ns", 15);
  report.at_most("latest_value_64_byte_read_ns", read, "ns", 15);
  const double none = __builtin_nan("");
  report.ratio_at_most("latest_value_64_byte_write_ns", write, "ns", "std::mutex and a copy", locked_write, none);
  report.ratio_at_most("latest_value_64_byte_read_ns", read, "ns", "std::mutex and a copy", locked_read, none);
  const auto contended =
      medians_in_turn(9, {contended_write_ns<rt::LatestValue<State>>, contended_write_ns<LockedValue>});
  report.ratio_at_most("latest_value_64_byte_contended_write_ns", contended[0], "ns", "std::mutex and a copy",
                       contended[1], none);
}

}  // namespace isochron::bench
