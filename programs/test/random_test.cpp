// Random programs of several processes that use pipes, sockets, epoll and children (client/test/random_program.cpp):
// where the order of their calls is forced, each call gives what the kernel gives; where it is not, two runs do the
// same, also while the machine is busy. ISOCHRON_RANDOM_PROGRAMS says how many, ISOCHRON_RANDOM_SEED which is the first.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "programs/test/stack_support.hpp"

namespace isochron::programs {
namespace {

std::uint64_t number_in(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
// Of the first 450, six still part: all in when epoll tells an edge again (200, 207, 215, 311, 377, 403).
std::uint64_t how_many() { return number_in("ISOCHRON_RANDOM_PROGRAMS", 60); }
std::uint64_t first_seed() { return number_in("ISOCHRON_RANDOM_SEED", 1); }

std::string on_the_kernel(std::uint64_t seed) {
  // An address of its own: ports of programs that ended a moment ago are not free yet.
  const std::string address = "127." + std::to_string(1 + getpid() % 200) + "." + std::to_string(seed / 250 % 250) +
                              "." + std::to_string(1 + seed % 250);
  const std::string line = std::string(RANDOM_PROGRAM) + " " + std::to_string(seed) + " forced " + address;
  FILE* pipe = popen(line.c_str(), "r");
  std::string text;
  char part[4096];
  for (std::size_t size; pipe != nullptr && (size = fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, size);
  EXPECT_EQ(pipe == nullptr ? -1 : pclose(pipe), 0) << line;
  return text;
}

StackRun under_us(std::uint64_t seed, const char* how, Compute compute) {
  return run_stacks(
      {RobotSpec{"robot",
                 1,
                 {},
                 {stack("random", {RANDOM_PROGRAM, std::to_string(seed), how, "127.0.0.1"}, std::move(compute))}}},
      seconds(60));
}

/// Where two texts part.
std::string first_difference(const std::string& one, const std::string& other) {
  std::istringstream a(one), b(other);
  std::string x, y;
  for (;;) {
    const bool more_a = static_cast<bool>(std::getline(a, x)), more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a && !more_b) return "";
    if (!more_a || !more_b || x != y) return "kernel: " + (more_a ? x : "end") + "\nus:     " + (more_b ? y : "end");
  }
}

TEST(RandomPrograms, GetWhatTheKernelGivesWhereTheOrderIsForced) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + how_many(); ++seed) {
    const StackRun run = under_us(seed, "forced", ZeroCompute{});
    EXPECT_EQ(first_difference(on_the_kernel(seed), run.output), "") << "seed " << seed << "\n"
                                                                     << run.faults << run.outcome.why_ended;
  }
}

TEST(RandomPrograms, DoTheSameTwiceOnABusyMachine) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + how_many() / 4; ++seed) {
    const StackRun quiet = under_us(seed, "free", model);
    std::atomic<bool> over{false};
    std::vector<std::thread> load;
    for (int i = 0; i < 3; ++i) {
      load.emplace_back([&over] {
        while (!over.load(std::memory_order_relaxed)) {
        }
      });
    }
    const StackRun busy = under_us(seed, "free", model);
    over = true;
    for (std::thread& one : load) one.join();
    EXPECT_EQ(first_difference(quiet.output, busy.output), "") << "seed " << seed;
    EXPECT_EQ(quiet.digest, busy.digest) << "seed " << seed;
    EXPECT_FALSE(quiet.output.empty()) << quiet.faults << quiet.outcome.why_ended;
  }
}

}  // namespace
}  // namespace isochron::programs
