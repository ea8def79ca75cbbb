#include "link/bench/link_bench.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/ensure.hpp"
#include "link/auth.hpp"
#include "link/bench/parts.hpp"
#include "link/futex.hpp"

namespace isochron::bench {

void pin_to_core(int n) {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  int left = n % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

double with_partner(const std::function<void()>& partner, const std::function<double()>& measure) {
  const pid_t child = ::fork();
  ENSURE(child >= 0, "the benchmark can fork");
  if (child == 0) {
    partner();
    ::_exit(0);
  }
  const double value = measure();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return value;
}

double rate(const std::function<void()>& once) {
  for (int i = 0; i < 100; ++i) once();
  const WallTime start = link::monotonic_now();
  WallTime now = start;
  std::uint64_t done = 0;
  while (now - start < WallSpan(one_measurement)) {
    for (int i = 0; i < 50; ++i) once();
    done += 50;
    now = link::monotonic_now();
  }
  return static_cast<double>(done) / (now - start).seconds();
}

std::pair<double, double> best_of_both(int n, const std::function<double()>& a, const std::function<double()>& b) {
  std::pair<double, double> best{0, 0};
  for (int i = 0; i < n; ++i) {
    best.first = std::max(best.first, a());
    best.second = std::max(best.second, b());
  }
  return best;
}

namespace {

/// Puts the calling thread back on the cores it was on.
class AffinityScope {
 public:
  AffinityScope() { ::sched_getaffinity(0, sizeof before_, &before_); }
  ~AffinityScope() { ::sched_setaffinity(0, sizeof before_, &before_); }
  AffinityScope(const AffinityScope&) = delete;
  AffinityScope& operator=(const AffinityScope&) = delete;

 private:
  cpu_set_t before_{};
};

/// What authentication adds to a datagram.
void bench_seal(Report& report) {
  std::vector<std::byte> message(64 + link::seal_bytes);
  link::Sealer sealer({});
  link::Opener opener({});
  constexpr int calls = 20'000;
  const double ns = ns_per_call(calls, [&] {
    for (int i = 0; i < calls; ++i) {
      sealer.seal(message);
      keep(opener.open(message).ok());
    }
  });
  report.at_most("seal_and_open_64B", ns, "ns", 500);
}

}  // namespace

void bench_link(Report& report) {
  const AffinityScope scope;
  bench_tcp(report);
  bench_udp(report);
  bench_shm(report);
  bench_seal(report);
}

}  // namespace isochron::bench
