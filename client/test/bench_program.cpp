// What the coordinator's benchmark runs: spin, a fast asker, a computer of fixed work, and a reader of clocks.
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "client/client.hpp"

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
  if (what == "computing") {
    for (long i = 0; i < number; ++i) {
      work(2'000'000);
      if (!robot.wait_until(robot.now())) return 0;
    }
  }
  return 0;
}
