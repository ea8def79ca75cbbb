#include "rt/thread.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "rt/topology.hpp"

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

TEST(Priority, IsRelativeToWhatTheKernelHas) {
  EXPECT_EQ(Priority::above_min(0).value(Policy::fifo), sched_get_priority_min(SCHED_FIFO));
  EXPECT_EQ(Priority::below_max(1).value(Policy::fifo), sched_get_priority_max(SCHED_FIFO) - 1);
  EXPECT_EQ(Priority::above_min(1000).value(Policy::round_robin), sched_get_priority_max(SCHED_RR));
  EXPECT_EQ(Priority::below_max(0).value(Policy::other), 0);
}

TEST(Thread, HasItsSettingsBeforeTheBodyBegins) {
  const int cpu = Topology::read().physical_cores().front();
  char name[16] = {};
  int policy = -1;
  sched_param parameters{};
  cpu_set_t set;
  Thread thread({.name = "a-name-that-is-too-long",
                 .policy = Policy::round_robin,
                 .priority = Priority::above_min(4),
                 .cpus = {cpu},
                 .lock_memory = false},
                [&] {
                  pthread_getname_np(pthread_self(), name, sizeof name);
                  pthread_getschedparam(pthread_self(), &policy, &parameters);
                  pthread_getaffinity_np(pthread_self(), sizeof set, &set);
                });
  thread.join();
  EXPECT_STREQ(name, "a-name-that-is-");
  EXPECT_EQ(CPU_COUNT(&set), 1);
  EXPECT_TRUE(CPU_ISSET(cpu, &set));
  if (!thread.weaker().empty()) GTEST_SKIP() << "not permitted here: " << to_string(thread.weaker());
  EXPECT_EQ(policy, SCHED_RR);
  EXPECT_EQ(parameters.sched_priority, sched_get_priority_min(SCHED_RR) + 4);
}

TEST(Thread, StartsOnTheClock) {
  const MonotonicTime start = MonotonicClock::now() + 30ms;
  MonotonicTime began;
  Thread({.policy = Policy::other, .lock_memory = false, .start = start}, [&] {
    began = MonotonicClock::now();
  }).join();
  EXPECT_GE(began, start);
}

TEST(Thread, StopsWhenItGoesAway) {
  std::atomic<int> rounds = 0;
  {
    Thread thread({.policy = Policy::other, .lock_memory = false}, [&](std::stop_token stop) {
      while (!stop.stop_requested()) {
        ++rounds;
        MonotonicClock::sleep_until(MonotonicClock::now() + 1ms);
      }
    });
    while (rounds < 3) sched_yield();
  }
  const int at_end = rounds;
  EXPECT_GE(at_end, 3);
}

TEST(Thread, SaysWhatIsWeakerAndRunsAllTheSame) {
  bool ran = false;
  Thread thread({.policy = Policy::other, .cpus = {CPU_SETSIZE - 1}, .lock_memory = false}, [&] { ran = true; });
  thread.join();
  EXPECT_TRUE(ran);
  ASSERT_EQ(thread.weaker().size(), 1U);
  EXPECT_EQ(thread.weaker()[0].what, "processor " + std::to_string(CPU_SETSIZE - 1));
  EXPECT_NE(to_string(thread.weaker()).find("Invalid argument (name processors"), std::string::npos);
}

TEST(Thread, FailsWithTheListWhenItInsists) {
  bool ran = false;
  try {
    Thread thread({.policy = Policy::other, .cpus = {-1}, .lock_memory = false, .insist = true}, [&] { ran = true; });
    ADD_FAILURE() << "it should have refused";
  } catch (const Insisted& e) {
    EXPECT_EQ(e.weaker().size(), 1U);
    EXPECT_NE(std::string(e.what()).find("processor -1"), std::string::npos);
  }
  EXPECT_FALSE(ran);
}

#if !defined(__SANITIZE_THREAD__)  // it makes mlockall do nothing, and does not follow threads after fork
// In a child that gave its privileges up.
int weaker_without_privileges() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_RTPRIO, &none);
  setrlimit(RLIMIT_MEMLOCK, &none);
  if (setgid(65534) != 0 || setuid(65534) != 0) return 100;
  bool ran = false;
  Thread thread({}, [&] { ran = true; });
  thread.join();
  if (!ran) return 101;
  try {
    Thread insists({.insist = true}, [] {});
    return 102;
  } catch (const Insisted&) {
  }
  return static_cast<int>(thread.weaker().size());
}

TEST(Thread, WithoutPrivilegesItRunsWithoutPriorityAndLockedMemory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give privileges up";
  const pid_t child = fork();
  if (child == 0) _exit(weaker_without_privileges());
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

int faults_of_a_deep_stack() {
  long faults = -1;
  Thread thread({.policy = Policy::other, .prefault_stack_bytes = 200 << 10}, [&] {
    rusage before{}, after{};
    getrusage(RUSAGE_THREAD, &before);
    prefault_stack(150 << 10);  // deep calls, as a planner makes them
    getrusage(RUSAGE_THREAD, &after);
    faults = after.ru_minflt - before.ru_minflt;
  });
  thread.join();
  return faults < 100 ? static_cast<int>(faults) : 100;
}

TEST(Thread, TouchesItsStackBeforeTheBodyBegins) {
  const pid_t child = fork();  // locks the memory of a process that ends soon
  if (child == 0) _exit(faults_of_a_deep_stack());
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_LE(WEXITSTATUS(status), 1);
}
#endif

}  // namespace
}  // namespace isochron::rt
