// What benchmarks run: spin, a fast asker, a computer of fixed work, a reader of clocks, a controller that reads and
// writes.
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "client/client.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;

namespace {

void work(long rounds) {
  for (long i = 0; i < rounds; ++i) asm volatile("" : : "r"(i) : "memory");
}

}  // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "";
  const long number = count > 2 ? std::atol(values[2]) : 0;
  if (what == "clock") {  // plain: the interposed clock, ns for each read
    timespec t{};
    double least = 1e9;
    for (int round = 0; round < 20; ++round) {
      timespec from{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
      for (int i = 0; i < 4000; ++i) clock_gettime(CLOCK_MONOTONIC, &t);
      timespec to{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
      const double ns =
          static_cast<double>((to.tv_sec - from.tv_sec) * 1'000'000'000 + (to.tv_nsec - from.tv_nsec)) / 4000;
      if (ns < least) least = ns;
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
    std::printf("%f\n", least);
    return 0;
  }
  if (what == "poll") {  // plain: as many looks at the clock as fit into so many milliseconds of it
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(number);
    long looks = 0;
    while (std::chrono::steady_clock::now() < end) ++looks;
    std::printf("%ld\n", looks);
    return 0;
  }
  if (what == "threads") {  // plain: four threads that compute so many milliseconds of the clock
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(number);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (std::chrono::steady_clock::now() < end) work(20'000);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return 0;
  }
  if (what == "compute") {  // number of pieces of fixed work, free: without a coordinator
    for (long i = 0; i < number; ++i) work(2'000'000);
    return 0;
  }
  auto robot = isochron::attach();
  if (what == "spin") {
    for (;;) work(1000);
  }
  if (what == "ask") {
    while (robot.wait(100us)) {
    }
  }
  if (what == "period") {
    while (robot.wait(isochron::SimSpan::from_ns(number * 1000))) work(1000);
  }
  if (what == "drive") {  // a car: two variables read, three written
    isochron::Motion pose{};
    double speed = 0;
    while (robot.wait()) {
      robot.read_all({{"pose", pose}, {"speed", speed}});
      robot.write_all({{"steer", 0.0}, {"throttle", 0.0}, {"brake", 1.0}});
    }
  }
  if (what == "requests") {  // as a controller does: some requests each period, and 42 us of computing
    const std::string kind = values[3];
    constexpr int each = 9;
    std::array<double, each> room{};
    std::vector<double> us;
    us.reserve(100'000);
    const auto once = [&](int i) {
      if (kind == "read") room[0] += robot.read<double>("fx");
      if (kind == "write") robot.write("fx", 1.0 / (1 + i));
      if (kind == "ask") (void)robot.receive<double>();
    };
    std::vector<isochron::ReadInto> all;
    for (double& value : room) all.emplace_back("fx", value);
    once(0);
    if (kind == "all") robot.read_all(all);
    while (robot.wait(isochron::SimSpan::from_ns(number * 1000))) {
      const auto begin = std::chrono::steady_clock::now();
      if (kind == "all") robot.read_all(all);
      for (int i = 0; kind != "all" && i < each; ++i) once(i);
      us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / each);
      while (std::chrono::steady_clock::now() - begin < 42us + us.back() * each * 1us) {
      }
    }
    std::sort(us.begin(), us.end());
    FILE* found = std::fopen(values[4], "w");
    for (const double fraction : {0.5, 0.99}) {
      std::fprintf(found, "%f ",
                   us.empty() ? 0 : us[static_cast<std::size_t>(fraction * static_cast<double>(us.size() - 1))]);
    }
    std::fclose(found);
  }
  if (what == "computing") {
    for (long i = 0; i < number; ++i) {
      work(2'000'000);
      if (!robot.wait_until(robot.now())) return 0;
    }
  }
  return 0;
}
