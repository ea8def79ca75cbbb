// A 1 kHz control loop as a robot has it, and how late it was: rt_loop [seconds]
#include <cstdio>
#include <cstdlib>

#include "rt/allocation_guard.hpp"
#include "rt/cpu_latency.hpp"
#include "rt/histogram.hpp"
#include "rt/period.hpp"
#include "rt/thread.hpp"
#include "rt/topology.hpp"

using namespace isochron;
using namespace std::chrono_literals;

namespace {

struct LoopFigures {
  rt::Histogram latency, slack;
  rt::GuardReport guard;
  std::uint64_t missed = 0;
};

void control(LoopFigures& outcome, int cycles) {
  rt::AllocationGuard guard("control");
  rt::Period period(1ms, rt::next_multiple(rt::MonotonicClock::now(), 1ms), rt::Overrun::skip);
  double position = 1, velocity = 0;
  for (int i = 0; i < cycles; ++i) {
    outcome.slack.record(period.wait());
    outcome.latency.record(period.since_release());
    velocity += 1e-3 * (-40 * position - 8 * velocity);  // the work: a damped spring
    position += 1e-3 * velocity;
  }
  outcome.missed = period.missed();
  outcome.guard = guard.report();
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 3;
  static LoopFigures outcome;
  const rt::CpuLatencyRequest awake(0us);
  if (!awake.held()) std::printf("without a CPU latency request: %s\n", awake.why_not().c_str());

  rt::Thread loop({.name = "control", .cpus = {rt::Topology::read().physical_cores().back()}},
                  [&] { control(outcome, seconds * 1000); });
  std::printf("%s", to_string(loop.weaker()).c_str());
  loop.join();

  std::printf("%llu releases, %llu missed\n", static_cast<unsigned long long>(outcome.latency.count()),
              static_cast<unsigned long long>(outcome.missed));
  for (const double p : {50.0, 90.0, 99.0, 99.9, 100.0}) {
    std::printf("latency p%-5g %8.1f us\n", p, static_cast<double>(outcome.latency.percentile(p)) * 1e-3);
  }
  std::printf("least slack    %8.1f us\n%s", static_cast<double>(outcome.slack.min()) * 1e-3,
              outcome.guard.text().c_str());
}
