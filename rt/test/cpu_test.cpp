#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <thread>

#include "rt/cpu_clock.hpp"
#include "rt/cpu_latency.hpp"

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

void burn(nanoseconds cpu) {
  const CpuClock mine = CpuClock::this_thread();
  const nanoseconds until = *mine.now() + cpu;
  while (*mine.now() < until) spin_pause();
}

TEST(CpuClock, GrowsWithWorkAndNotWithSleep) {
  const CpuClock mine = CpuClock::this_thread();
  const nanoseconds a = *mine.now();
  MonotonicClock::sleep_until(MonotonicClock::now() + 30ms);
  const nanoseconds slept = *mine.now() - a;
  EXPECT_LT(slept, 10ms);
  burn(10ms);
  EXPECT_GE(*mine.now() - a, slept + 10ms);
}

TEST(CpuClock, ReadsAnotherThread) {
  std::atomic<pid_t> tid = 0;
  std::atomic<bool> end = false;
  std::thread other([&] {
    burn(20ms);
    tid = gettid();
    while (!end) std::this_thread::sleep_for(1ms);
  });
  while (tid == 0) std::this_thread::sleep_for(1ms);
  const auto by_handle = CpuClock::of_thread(other.native_handle());
  const auto by_id = CpuClock::of_thread_id(tid);
  ASSERT_TRUE(by_handle && by_id);
  EXPECT_GE(*by_handle->now(), 20ms);
  EXPECT_GE(*by_id->now(), 20ms);
  EXPECT_LT(*CpuClock::this_thread().now(), *CpuClock::this_process().now());
  end = true;
  other.join();
}

TEST(CpuClock, ReadsAnotherProcessUntilItIsGone) {
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    burn(20ms);
    (void)!write(done[1], "x", 1);
    pause();
    _exit(0);
  }
  char c = 0;
  ASSERT_EQ(read(done[0], &c, 1), 1);
  const auto clock = CpuClock::of_process(child);
  ASSERT_TRUE(clock);
  EXPECT_GE(*clock->now(), 20ms);
  EXPECT_GE(cpu_time_of_foreign_thread(child, child).value_or(0ns), 10ms);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(clock->now());
  EXPECT_FALSE(CpuClock::of_process(child));
  EXPECT_FALSE(cpu_time_of_foreign_thread(child, child));
  close(done[0]);
  close(done[1]);
}

TEST(CpuLatencyRequest, HoldsTheDeviceOrSaysWhyNot) {
  const CpuLatencyRequest awake(0us);
  EXPECT_EQ(awake.held(), awake.why_not().empty()) << awake.why_not();
}

TEST(CpuLatencyRequest, WritesTheLatencyAsTheKernelWantsIt) {
  char path[] = "/tmp/latency_XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  {
    CpuLatencyRequest first(12us, path);
    const CpuLatencyRequest moved = std::move(first);
    EXPECT_TRUE(moved.held());
    EXPECT_FALSE(first.held());  // NOLINT: looks at what a move leaves
  }
  std::int32_t value = 0;
  EXPECT_EQ(read(file, &value, sizeof value), 4);
  EXPECT_EQ(value, 12);
  close(file);
  unlink(path);
}

TEST(CpuLatencyRequest, WithoutTheDeviceItNamesIt) {
  const CpuLatencyRequest awake(0us, "/nowhere/latency");
  EXPECT_FALSE(awake.held());
  EXPECT_NE(awake.why_not().find("/nowhere/latency: No such file"), std::string::npos) << awake.why_not();
}

}  // namespace
}  // namespace isochron::rt
