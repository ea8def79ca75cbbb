// A program that knows nothing of Isochron: it reads clocks, sleeps and waits with time limits, by the means of the
// language and of the system. It prints what it saw.
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

namespace {

double ms_since(Steady::time_point start) {
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

void timed(const char* what, const auto& call) {
  const auto start = Steady::now();
  call();
  std::printf("%s %.3f\n", what, ms_since(start));
}

// sleeps: every way to let 10 ms pass
void sleeps() {
  timed("sleep_for", [] { std::this_thread::sleep_for(10ms); });
  timed("sleep_until", [] { std::this_thread::sleep_until(Steady::now() + 10ms); });
  timed("sleep_until_system", [] { std::this_thread::sleep_until(std::chrono::system_clock::now() + 10ms); });
  timed("usleep", [] { usleep(10'000); });
  timed("nanosleep", [] {
    const timespec span{0, 10'000'000};
    nanosleep(&span, nullptr);
  });
  std::mutex mutex;
  std::condition_variable condition;
  timed("cv_wait_for", [&] {
    std::unique_lock lock(mutex);
    condition.wait_for(lock, 10ms);
  });
  timed("cv_wait_until", [&] {
    std::unique_lock lock(mutex);
    condition.wait_until(lock, std::chrono::system_clock::now() + 10ms);
  });
  std::timed_mutex taken;
  taken.lock();
  timed("timed_mutex", [&] { std::thread([&] { (void)taken.try_lock_for(10ms); }).join(); });
  std::promise<int> promise;
  timed("future", [&] { promise.get_future().wait_for(10ms); });
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  timed("sem_timedwait", [&] {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 10'000'000;
    if (t.tv_nsec >= 1'000'000'000) t.tv_nsec -= 1'000'000'000, ++t.tv_sec;
    sem_timedwait(&semaphore, &t);
  });
  int line[2];
  if (pipe(line) != 0) std::abort();
  timed("poll", [&] {
    pollfd one{line[0], POLLIN, 0};
    poll(&one, 1, 10);
  });
  timed("select", [&] {
    timeval span{0, 10'000};
    select(0, nullptr, nullptr, nullptr, &span);
  });
  timed("epoll", [&] {
    const int set = epoll_create1(0);
    epoll_event event{};
    epoll_wait(set, &event, 1, 10);
    close(set);
  });
  timed("timerfd", [] {
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const itimerspec span{{0, 0}, {0, 10'000'000}};
    timerfd_settime(timer, 0, &span, nullptr);
    std::uint64_t count = 0;
    if (read(timer, &count, sizeof count) != sizeof count) std::abort();
    close(timer);
  });
}

// loop N: the plainest control loop, 100 Hz
void loop(int count) {
  const auto start = Steady::now();
  auto next = start;
  for (int i = 0; i < count; ++i) {
    next += 10ms;
    std::this_thread::sleep_until(next);
    std::printf("%d %.3f\n", i, ms_since(start));
    std::fflush(stdout);
  }
}

// anytime MS: improves until its own time limit, in a second thread, as planning libraries do
void anytime(double limit_ms) {
  std::atomic<bool> stop{false};
  std::atomic<long> rounds{0};
  const auto start = Steady::now();
  std::thread worker([&] {
    while (!stop) rounds = rounds + 1;
  });
  while (ms_since(start) < limit_ms) std::this_thread::sleep_for(1ms);
  stop = true;
  worker.join();
  std::printf("planned %.3f rounds %s\n", ms_since(start), rounds > 0 ? "some" : "none");
}

// clocks: all of them agree on how much passes
void clocks() {
  timeval day{};
  gettimeofday(&day, nullptr);
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  const auto steady = Steady::now();
  std::this_thread::sleep_for(1500ms);
  timeval day_after{};
  gettimeofday(&day_after, nullptr);
  timespec real_after{};
  clock_gettime(CLOCK_REALTIME, &real_after);
  std::printf("day %ld\n", (day_after.tv_sec - day.tv_sec) * 1000 + (day_after.tv_usec - day.tv_usec) / 1000);
  std::printf("real %ld\n", (real_after.tv_sec - real.tv_sec) * 1000 + (real_after.tv_nsec - real.tv_nsec) / 1'000'000);
  std::printf("steady %.0f\n", ms_since(steady));
  std::printf("time %s\n", time(nullptr) >= day.tv_sec + 1 ? "moved" : "stood");
}

}  // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "";
  if (what == "sleeps") sleeps();
  if (what == "loop") loop(std::atoi(values[2]));
  if (what == "anytime") anytime(std::atof(values[2]));
  if (what == "clocks") clocks();
  return 0;
}
