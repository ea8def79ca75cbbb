// A 1 kHz loop beside cyclictest (Debian rt-tests), in turn on the same core, same policy and priority, while a thread
// on the other core moves memory about. Latency: how long after its release the loop runs.

#include <cstring>
#include <optional>

#include "rt/bench/cyclictest.hpp"
#include "rt/bench/rt_bench.hpp"
#include "rt/bench/two_threads.hpp"
#include "rt/cpu_latency.hpp"
#include "rt/histogram.hpp"
#include "rt/period.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;

struct Latency {
  double p99_us, max_us;
};

// Whole µs, rounded down: that is what cyclictest counts.
Latency period_latency(int cpu, int seconds) {
  rt::Histogram us;
  const rt::CpuLatencyRequest awake(0us);
  rt::Thread loop({.policy = rt::Policy::fifo, .priority = rt::Priority::below_max(19), .cpus = {cpu}}, [&] {
    rt::Period period(1ms);
    for (int i = 0; i < seconds * 1000; ++i) {
      period.wait();
      us.record(period.since_release() / 1us);
    }
  });
  loop.join();
  return {static_cast<double>(us.percentile(99)), static_cast<double>(us.max())};
}

std::optional<Latency> cyclictest_latency(int cpu, int seconds) {
  const auto us = run_cyclictest(cpu, 1000us, seconds);
  if (!us) return {};
  return Latency{static_cast<double>(us->percentile(99)), static_cast<double>(us->max())};
}

// Ordinary priority: it must not matter to a real-time loop on the other core.
rt::Thread memory_load(int cpu) {
  return rt::Thread({.policy = rt::Policy::other, .cpus = {cpu}, .lock_memory = false}, [](std::stop_token stop) {
    std::vector<char> a(8 << 20, 1), b(8 << 20, 2);
    while (!stop.stop_requested()) {
      std::memcpy(a.data(), b.data(), a.size());
      keep(a[7]);
    }
  });
}

}  // namespace

void bench_period(Report& report) {
  const auto [other, core] = two_cores();
  const int seconds = report.long_run() ? 30 : 2;
  const int turns = report.long_run() ? 5 : 4;
  const rt::Thread load = memory_load(other);
  std::vector<double> ours, theirs;
  double our_max = 0, their_max = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const Latency mine = period_latency(core, seconds);
    ours.push_back(mine.p99_us);
    our_max = std::max(our_max, mine.max_us);
    if (const auto cyclictest = cyclictest_latency(core, seconds)) {
      theirs.push_back(cyclictest->p99_us);
      their_max = std::max(their_max, cyclictest->max_us);
    }
  }
  if (theirs.empty()) {
    report.found("period_1kHz_p99_us", median_of(ours), "us", "cyclictest is not here or may not run");
    report.found("period_1kHz_max_us", our_max, "us");
    return;
  }
  report.ratio_at_most("period_1kHz_p99_us", median_of(ours), "us", "cyclictest", median_of(theirs), 1.2);
  report.ratio_at_most("period_1kHz_max_us", our_max, "us", "cyclictest", their_max, __builtin_nan(""));
}

}  // namespace isochron::bench
