// A program that knows nothing of Isochron: it reads clocks, sleeps and waits with time limits, by the means of the
// language and of the system. It prints what it saw.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
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

timespec in_10_ms(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  t.tv_nsec += 10'000'000;
  if (t.tv_nsec >= 1'000'000'000) t.tv_nsec -= 1'000'000'000, ++t.tv_sec;
  return t;
}

// sleeps: the common ways to let 10 ms pass
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
    const timespec t = in_10_ms(CLOCK_REALTIME);
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

// limits: the rarer time limits, 10 ms each
void limits() {
  const timespec span{0, 10'000'000};
  timed("thrd_sleep", [&] { thrd_sleep(&span, nullptr); });
  mtx_t mutex;
  mtx_init(&mutex, mtx_timed);
  cnd_t condition;
  cnd_init(&condition);
  mtx_lock(&mutex);
  timed("cnd_timedwait", [&] {
    const timespec t = in_10_ms(CLOCK_REALTIME);
    cnd_timedwait(&condition, &mutex, &t);
  });
  timed("mtx_timedlock", [&] {
    std::thread([&] {
      const timespec t = in_10_ms(CLOCK_REALTIME);
      mtx_timedlock(&mutex, &t);
    }).join();
  });
  std::shared_timed_mutex shared;
  shared.lock();
  timed("rwlock", [&] { std::thread([&] { (void)shared.try_lock_shared_for(10ms); }).join(); });
  std::mutex held;
  held.lock();
  std::thread sleeper([&] { held.lock(); });
  timed("timedjoin", [&] {
    const timespec t = in_10_ms(CLOCK_REALTIME);
    pthread_timedjoin_np(sleeper.native_handle(), nullptr, &t);
  });
  held.unlock();
  sleeper.join();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  timed("sigtimedwait", [&] { sigtimedwait(&set, nullptr, &span); });
  timed("ppoll", [&] { ppoll(nullptr, 0, &span, nullptr); });
  timed("pselect", [&] { pselect(0, nullptr, nullptr, nullptr, &span, nullptr); });
  const int waiting = epoll_create1(0);
  epoll_event event{};
  timed("epoll_pwait2", [&] { epoll_pwait2(waiting, &event, 1, &span, nullptr); });
  const int semaphores = semget(IPC_PRIVATE, 1, 0600);
  sembuf take{0, -1, 0};
  timed("semtimedop", [&] { semtimedop(semaphores, &take, 1, &span); });
  semctl(semaphores, 0, IPC_RMID);
  const timeval limit{0, 10'000};
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) std::abort();
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  timed("recv", [&] { std::printf("%s", recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN ? "" : "wrong 0\n"); });
  timed("read", [&] { std::printf("%s", read(pair[0], &byte, 1) == -1 && errno == EAGAIN ? "" : "wrong 0\n"); });
  timed("recv_in_time", [&] {
    std::thread writer([&] {
      std::this_thread::sleep_for(9ms);
      if (write(pair[1], "x", 1) != 1) std::abort();
    });
    std::printf("%s", recv(pair[0], &byte, 1, 0) == 1 ? "" : "wrong 0\n");
    writer.join();
    std::this_thread::sleep_for(1ms);
  });
  timed("times", [] {
    const clock_t start = times(nullptr);
    while (times(nullptr) == start) usleep(1000);
  });
}

volatile sig_atomic_t alarms = 0;
void count_alarm(int) { alarms = alarms + 1; }

// signals: timers that send signals, 10 ms each
void signals() {
  struct sigaction action {};
  action.sa_handler = count_alarm;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval once{{0, 0}, {0, 10'000}};
  timed("setitimer_pause", [&] {
    setitimer(ITIMER_REAL, &once, nullptr);
    pause();
  });
  timed("setitimer_cuts_sleep", [&] {
    setitimer(ITIMER_REAL, &once, nullptr);
    const timespec second{1, 0};
    timespec left{};
    if (nanosleep(&second, &left) != -1 || errno != EINTR) std::puts("wrong 0");
    if (left.tv_nsec < 989'000'000 || left.tv_nsec > 990'000'000) std::printf("left %ld\n", left.tv_nsec);
  });
  timed("setitimer_cuts_poll", [&] {
    setitimer(ITIMER_REAL, &once, nullptr);
    if (poll(nullptr, 0, 1000) != -1 || errno != EINTR) std::puts("wrong 0");
  });
  const auto start = Steady::now();
  alarm(1);
  if (alarm(1) != 1) std::puts("wrong 0");
  pause();
  std::printf("alarm_hundredth %.3f\n", ms_since(start) / 100);
  timed("timer_create", [] {
    timer_t timer{};
    if (timer_create(CLOCK_MONOTONIC, nullptr, &timer) != 0) std::abort();
    const itimerspec span{{0, 0}, {0, 10'000'000}};
    timer_settime(timer, 0, &span, nullptr);
    pause();
    timer_delete(timer);
  });
  timed("timer_thread", [] {
    static std::atomic<int> called{0};
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = [](sigval) { called = 1; };
    timer_t timer{};
    if (timer_create(CLOCK_REALTIME, &event, &timer) != 0) std::abort();
    const itimerspec span{{0, 0}, {0, 10'000'000}};
    timer_settime(timer, 0, &span, nullptr);
    while (called == 0) usleep(100);
    timer_delete(timer);
  });
  timed("five_of_2_ms", [] {
    const int before = alarms;
    const itimerval every{{0, 2'000}, {0, 2'000}};
    setitimer(ITIMER_REAL, &every, nullptr);
    while (alarms < before + 5) pause();
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
  });
  timed("earlier_timer", [&] {  // set to an earlier time while the helper sleeps for the later
    const itimerval later{{0, 0}, {5, 0}};
    setitimer(ITIMER_REAL, &later, nullptr);
    usleep(1000);
    const itimerval sooner{{0, 0}, {0, 9'000}};
    setitimer(ITIMER_REAL, &sooner, nullptr);
    pause();
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
  if (what == "limits") limits();
  if (what == "signals") signals();
  return 0;
}
