// Makes its system calls without libc and reads the processor's counter, as run-times of other languages do.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
#else
  return syscall(number, a, b, c, d, e, f);
#endif
}
template <class T>
long at(T* pointer) {
  return reinterpret_cast<long>(pointer);
}
template <class... Values>
void say(const char* form, Values... values) {
  char text[200];
  const int size = std::snprintf(text, sizeof text, form, values...);
  raw(SYS_write, 1, at(text), size);
}
double now() {
  timespec t{};
  raw(SYS_clock_gettime, CLOCK_MONOTONIC, at(&t));
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
void sleep_for(double seconds) {
  timespec t{static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<long>(seconds)) * 1e9)};
  raw(SYS_nanosleep, at(&t));
}

int clocks() {
  const double begin = now();
  sleep_for(5);
  say("slept %.0f\n", now() - begin);
  void* vdso = dlopen("linux-vdso.so.1", RTLD_NOLOAD | RTLD_NOW);
  using Clock = int (*)(clockid_t, timespec*);
  const auto clock = vdso == nullptr ? nullptr : reinterpret_cast<Clock>(dlsym(vdso, "__vdso_clock_gettime"));
  timespec t{};
  if (clock != nullptr) clock(CLOCK_REALTIME, &t);
  say("vdso %ld\n", static_cast<long>(t.tv_sec));
  return 0;
}

int limits() {
  const double begin = now();
  std::uint32_t word = 0;
  timespec t{2, 0};
  const long woken = raw(SYS_futex, at(&word), FUTEX_WAIT_PRIVATE, 0, at(&t));
  pollfd none{-1, POLLIN, 0};
  timespec three{3, 0};
  raw(SYS_ppoll, at(&none), 1, at(&three), 0, 8);
  say("futex %ld after %.0f\n", woken, now() - begin);
  return 0;
}

/// A child and a pipe, all by numbers.
int family() {
  int ends[2];
  raw(SYS_pipe2, at(ends), 0);
  const long child = raw(SYS_clone, SIGCHLD);
  if (child == 0) {
    sleep_for(1);
    raw(SYS_write, ends[1], at("hello"), 5);
    raw(SYS_exit_group, 3);
  }
  char text[10] = {};
  const double begin = now();
  const long size = raw(SYS_read, ends[0], at(text), 10);
  int status = 0;
  raw(SYS_wait4, child, at(&status));
  say("%s %ld after %.0f, %d of %ld\n", text, size, now() - begin, WEXITSTATUS(status), child);
  const char* arguments[] = {"/bin/sh", "-c", "sleep 4; date +%s", nullptr};
  raw(SYS_execve, at(arguments[0]), at(arguments), at(environ));
  return 1;
}

int threads() {
  std::vector<std::thread> all;
  for (int i = 3; i > 0; --i) {
    all.emplace_back([i] {
      sleep_for(i);
      say("thread %d\n", i);
    });
  }
  for (std::thread& one : all) one.join();
  return 0;
}

/// All signals blocked: what catches the calls is not.
int blocked() {
  std::uint64_t all = ~std::uint64_t{0};
  raw(SYS_rt_sigprocmask, SIG_SETMASK, at(&all), 0, 8);
  const double begin = now();
  sleep_for(2);
  sigset_t set;
  sigfillset(&set);
  sigprocmask(SIG_SETMASK, &set, nullptr);
  sleep_for(2);
  say("slept %.0f\n", now() - begin);
  return 0;
}

int counter() {
#if defined(__x86_64__)
  const std::uint64_t before = __builtin_ia32_rdtsc();
  sleep(3);
  unsigned core = 0;
  const std::uint64_t after = __builtin_ia32_rdtscp(&core);
  say("%.0f seconds at 1 GHz\n", static_cast<double>(after - before) / 1e9);
#endif
  return 0;
}

int connects(int port) {
  const int socket = static_cast<int>(raw(SYS_socket, AF_INET, SOCK_STREAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const long result = raw(SYS_connect, socket, at(&to), sizeof to);
  char text[20] = {};
  const long size = result == 0 ? raw(SYS_read, socket, at(text), 19) : 0;
  say("%ld %ld %s\n", result, size, text);
  return 0;
}

/// How long a call takes that is caught, in ns.
int cost(long count) {
  timespec begin{}, end{};
  const auto wall = [](timespec& t) { clock_gettime(CLOCK_MONOTONIC, &t); };
  wall(begin);
  timespec t{};
  for (long i = 0; i < count; ++i) raw(SYS_clock_gettime, CLOCK_MONOTONIC, at(&t));
  wall(end);
  say("%.0f\n",
      (static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 + static_cast<double>(end.tv_nsec - begin.tv_nsec)) /
          static_cast<double>(count));
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "";
  const int number = count > 2 ? std::atoi(values[2]) : 0;
  if (what == "clocks") return clocks();
  if (what == "limits") return limits();
  if (what == "family") return family();
  if (what == "threads") return threads();
  if (what == "blocked") return blocked();
  if (what == "counter") return counter();
  if (what == "connects") return connects(number);
  if (what == "cost") return cost(number);
  std::fprintf(stderr, "clocks, limits, family, threads, blocked, counter, connects PORT, cost COUNT\n");
  return 2;
}
