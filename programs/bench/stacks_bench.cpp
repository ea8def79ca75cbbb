// Two processes that exchange datagrams, and a stream:
//
//      a ──► b ──► a ──► …       on one core, by loopback        and the same two programs under us, measured
//
// The bare ones share one core too: two would be slower, since waking another core takes longer than a message.

#include "programs/bench/stacks_bench.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "programs/bench/empty_plant.hpp"
#include "programs/coordinator.hpp"
#include "programs/futex.hpp"

namespace isochron::bench {

namespace {

using namespace programs;
using namespace std::chrono_literals;

double bare_seconds(const std::string& what, const std::string& number) {
  const WallTime start = wall_now();
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    execl(STACK_BENCH_PROGRAM, STACK_BENCH_PROGRAM, what.c_str(), number.c_str(), nullptr);
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  return (wall_now() - start).seconds();
}

RobotSpec robot(const std::string& name, const std::string& what, const std::string& number, Compute compute) {
  ProgramSpec program;
  program.name = "pair";
  program.run = {STACK_BENCH_PROGRAM, what, number};
  program.virtual_clock = program.stack = true;
  program.on_failure = OnFailure::go_on;
  program.compute = std::move(compute);
  return {name, 1, {}, {program}};
}

/// Until both processes have ended.
double our_seconds(std::vector<RobotSpec> robots) {
  EmptyPlant plant;
  CoordinatorOptions options;
  options.step = 10ms;
  options.grace = 50ms;
  options.interpose_library = INTERPOSE_LIBRARY;
  const RunOutcome r = Coordinator(plant, std::move(robots), options, nullptr).run(SimTime::zero() + 2s);
  return (r.accounting.wall - r.accounting.idle).seconds();
}

}  // namespace

void bench_stacks(Report& report) {
  constexpr int trips = 5000;
  const auto count = std::to_string(trips);
  const auto [ours, bare] = side_by_side(
      3, [&] { return trips / our_seconds({robot("a", "round_trips", count, MeasuredCompute{})}); },
      [&] { return trips / bare_seconds("round_trips", count); });
  report.ratio_at_least("udp_round_trips_per_s", ours, "1/s", "bare loopback on one core", bare, 0.5);
  constexpr double megabytes = 64;
  const auto bytes = std::to_string(static_cast<long>(megabytes * 1e6));
  const auto [stream, plain] = side_by_side(
      3, [&] { return megabytes / our_seconds({robot("a", "stream", bytes, MeasuredCompute{})}); },
      [&] { return megabytes / bare_seconds("stream", bytes); });
  report.ratio_at_least("tcp_stream_megabytes_per_s", stream, "MB/s", "bare loopback on one core", plain, 0.3);
#if defined(__x86_64__)
  constexpr int calls = 200'000;
  const auto call_count = std::to_string(calls);
  const auto [caught, trap] = side_by_side(
      3, [&] { return our_seconds({robot("a", "calls", call_count, ZeroCompute{})}) / calls * 1e6; },
      [&] { return bare_seconds("traps", call_count) / calls * 1e6; });
  report.ratio_at_most("caught_system_call", caught, "us", "a bare trap", trap, 1.5);
#endif
  const auto crowd = [&](int robots) {
    std::vector<RobotSpec> all;
    for (int i = 0; i < robots; ++i) {
      all.push_back(robot("r" + std::to_string(i), "round_trips", "100", ZeroCompute{}));
    }
    return our_seconds(std::move(all)) / (robots * 100) * 1e6;
  };
  const auto [fifty, two] = side_by_side(
      3, [&] { return crowd(50); }, [&] { return crowd(2); });
  report.ratio_at_most("round_trip_among_100_processes", fifty, "us", "4 processes", two, 3.0);
}

}  // namespace isochron::bench
