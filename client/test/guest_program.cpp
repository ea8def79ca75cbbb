// A program that knows nothing of Isochron and does what real ones do at their edges: dates, conditions of both clocks,
// many threads, processes of their own, CPU clocks, input. It prints what it saw.
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using Steady = std::chrono::steady_clock;

namespace {

double ms_since(Steady::time_point start) {
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

timespec in_10_ms(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  t.tv_nsec += 10'000'000;
  if (t.tv_nsec >= 1'000'000'000) t.tv_nsec -= 1'000'000'000, ++t.tv_sec;
  return t;
}

// date: what time it is when the program begins
void date() { std::printf("%lld\n", static_cast<long long>(time(nullptr))); }

void wait_10_ms(const char* what, pthread_cond_t& condition, clockid_t clock) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const auto start = Steady::now();
  const timespec limit = in_10_ms(clock);
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&condition, &mutex, &limit);
  pthread_mutex_unlock(&mutex);
  std::printf("%s %.3f\n", what, ms_since(start));
}

// conditions: the same time limit by conditions of different clocks
void conditions() {
  pthread_cond_t fixed = PTHREAD_COND_INITIALIZER;
  wait_10_ms("static", fixed, CLOCK_REALTIME);
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, clock);
    pthread_cond_t made;
    pthread_cond_init(&made, &attributes);
    wait_10_ms(clock == CLOCK_REALTIME ? "real" : "monotonic", made, clock);
    pthread_cond_destroy(&made);
    pthread_condattr_destroy(&attributes);
  }
}

// threads N: that many sleep at the same time, three times 10 ms each; none may come back early
void threads(int count) {
  struct Shared {
    std::atomic<int> early{0};
    std::atomic<int> slept{0};
  } shared;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  std::vector<pthread_t> all;
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    const auto body = [](void* given) -> void* {
      auto& s = *static_cast<Shared*>(given);
      for (int n = 0; n < 3; ++n) {
        const auto start = Steady::now();
        const timespec span{0, 10'000'000};
        nanosleep(&span, nullptr);
        if (ms_since(start) < 10) ++s.early;
        ++s.slept;
      }
      return nullptr;
    };
    if (pthread_create(&thread, &small, body, &shared) != 0) std::abort();
    all.push_back(thread);
  }
  for (const pthread_t thread : all) pthread_join(thread, nullptr);
  std::printf("slept %d\nearly %d\n", shared.slept.load(), shared.early.load());
}

void work_a_little() {
  for (int i = 0; i < 1000; ++i) asm volatile("" : : "r"(i) : "memory");
}

void burn_ms(int ms) {
  timespec start{}, now{};
  syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &start);
  do {
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1'000'000 < ms);
}

// family: processes in every usual way, some of which compute
void family(const char* self) {
  if (fork() == 0) {
    burn_ms(60);
    _exit(0);
  }
  wait(nullptr);
  pid_t spawned = 0;
  const char* arguments[] = {self, "burn", "60", nullptr};
  posix_spawn(&spawned, self, nullptr, nullptr, const_cast<char**>(arguments), environ);
  waitpid(spawned, nullptr, 0);
  posix_spawn_file_actions_t closing;  // as Python's subprocess does
  posix_spawn_file_actions_init(&closing);
  posix_spawn_file_actions_addclosefrom_np(&closing, 3);
  posix_spawn(&spawned, self, &closing, nullptr, const_cast<char**>(arguments), environ);
  waitpid(spawned, nullptr, 0);
  if (system("true") != 0) std::abort();
}

// cpu SECONDS: computes until each of its CPU clocks has moved so far, and prints what passed, in ms
void cpu(double seconds) {
  const auto limited = [&](const char* what, const auto& used) {
    const auto start = Steady::now();
    const double from = used();
    double last = from;
    bool back = false;
    while (last - from < seconds) {
      const double next = used();
      if (next < last) back = true;
      last = next;
    }
    std::printf("%s %.3f\n", what, ms_since(start));
    if (back) std::printf("back 1\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // is no CPU time
  };
  const auto of_clock = [](clockid_t id) {
    timespec t{};
    clock_gettime(id, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const auto of_usage = [](__rusage_who_t who) {
    rusage u{};
    getrusage(who, &u);
    return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
  };
  limited("clock", [] { return static_cast<double>(clock()) / CLOCKS_PER_SEC; });
  limited("process", [&] { return of_clock(CLOCK_PROCESS_CPUTIME_ID); });
  limited("thread", [&] { return of_clock(CLOCK_THREAD_CPUTIME_ID); });
  limited("usage", [&] { return of_usage(RUSAGE_SELF); });
  limited("thread_usage", [&] { return of_usage(RUSAGE_THREAD); });
  limited("times", [] {
    tms t{};
    times(&t);
    return static_cast<double>(t.tms_utime + t.tms_stime) / static_cast<double>(sysconf(_SC_CLK_TCK));
  });
  clockid_t own{};
  clock_getcpuclockid(getpid(), &own);
  limited("own", [&] { return of_clock(own); });
}

// reserve GIB: as a JVM does for its heap; prints whether it got the addresses
void reserve(int gib) {
  const std::size_t size = static_cast<std::size_t>(gib) << 30;
  void* at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  std::puts(at == MAP_FAILED ? "refused" : "reserved");
}

// work ROUNDS: computes without ever looking at a clock
void work(int rounds) {
  for (int i = 0; i < rounds; ++i) asm volatile("" : : "r"(i) : "memory");
  std::puts("done");
}

// poller SECONDS: computes until its clock has passed that; it never waits
void poller(double seconds) {
  const auto start = Steady::now();
  while (ms_since(start) < seconds * 1000) work_a_little();
  std::printf("polled %.3f\n", ms_since(start));
}

// deaf: waits for somebody who never speaks
void deaf() {
  int line[2];
  char word = 0;
  if (pipe(line) == 0 && read(line[0], &word, 1) == 1) std::puts("heard");
}

void heard(const std::string& line) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::printf("%s %.3f\n", line.c_str(),
              1e3 * static_cast<double>(now.tv_sec - 1000) + 1e-6 * static_cast<double>(now.tv_nsec));
}

// listen HOW: prints each line of standard input with the time at which it was read, in ms since simulated zero
void listen_to(const std::string& how) {
  char text[256];
  std::string line;
  if (how == "fgets") {
    while (std::fgets(text, sizeof text, stdin) != nullptr) heard(std::string(text, std::strcspn(text, "\n")));
  } else if (how == "cin") {
    while (std::getline(std::cin, line)) heard(line);
  } else if (how == "unsynced") {
    std::ios::sync_with_stdio(false);
    while (std::getline(std::cin, line)) heard(line);
  } else if (how == "getline") {
    char* room = nullptr;
    size_t size = 0;
    while (getline(&room, &size, stdin) > 0) heard(std::string(room, std::strcspn(room, "\n")));
    free(room);
  } else if (how == "scanf") {
    while (std::scanf("%255s", text) == 1) heard(text);
  } else if (how == "getchar") {
    for (int c = 0; (c = std::getchar()) != EOF;)
      c == '\n' ? heard(line), line.clear() : line.push_back(static_cast<char>(c));
  } else {  // read, poll
    for (;;) {
      pollfd one{0, POLLIN, 0};
      if (how == "poll" && poll(&one, 1, -1) != 1) break;
      const ssize_t size = read(0, text, sizeof text);
      if (size <= 0) break;
      heard(std::string(text, static_cast<std::size_t>(size) - 1));
    }
  }
  heard("end");
}

// stray: leaves a process behind that outlives it
void stray() {
  if (fork() == 0) {
    setsid();
    for (;;) pause();
  }
}

}  // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "";
  if (what == "date") date();
  if (what == "conditions") conditions();
  if (what == "threads") threads(std::atoi(values[2]));
  if (what == "burn") burn_ms(std::atoi(values[2]));
  if (what == "family") family(values[0]);
  if (what == "stray") stray();
  if (what == "reserve") reserve(std::atoi(values[2]));
  if (what == "work") work(std::atoi(values[2]));
  if (what == "poller") poller(std::atof(values[2]));
  if (what == "deaf") deaf();
  if (what == "listen") listen_to(values[2]);
  if (what == "cpu") cpu(std::atof(values[2]));
  return 0;
}
