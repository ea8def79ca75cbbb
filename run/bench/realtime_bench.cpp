// A controller in a run on the wall clock, with the journal on: nine requests each 10 ms and 42 us of computing. Beside
// it two bare processes, one as the run's thread and one as the program, that wake each other nine times each 10 ms.
//
//     program ──request──▶ run's thread ──answer──▶ program        reads and writes at the board need no thread

#include "run/bench/realtime_bench.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "journal/disk.hpp"
#include "programs/futex.hpp"
#include "rt/cpu_latency.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using programs::futex_wait_until;
using programs::futex_wake;
using programs::wall_now;

constexpr int requests = 9;
constexpr int periods = 100;

void real_time(int priority) {
  sched_param parameter{};
  parameter.sched_priority = priority;
  sched_setscheduler(0, priority > 0 ? SCHED_FIFO : SCHED_OTHER, &parameter);
}

/// Two processes with the priorities that the run gives, wherever the kernel puts them.
double bare_round_trip_us() {
  auto* words = static_cast<std::atomic<std::uint32_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto wait = [](std::atomic<std::uint32_t>& word, std::uint32_t old) {
    while (word.load() == old) futex_wait_until(word, old, wall_now() + WallSpan(1s));
  };
  const rt::CpuLatencyRequest awake(0us);
  const pid_t other = fork();
  if (other == 0) {
    real_time(84);
    for (std::uint32_t i = 0; i < requests * periods; ++i) {
      wait(words[0], i);
      words[16] = i + 1;
      futex_wake(words[16]);
    }
    _exit(0);
  }
  real_time(60);
  std::vector<double> us;
  for (std::uint32_t i = 0; i < requests * periods;) {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
    const WallTime start = wall_now();
    for (int k = 0; k < requests; ++k, ++i) {
      words[0] = i + 1;
      futex_wake(words[0]);
      wait(words[16], i);
    }
    us.push_back(static_cast<double>((wall_now() - start).ns()) * 1e-3 / requests);
  }
  real_time(0);
  waitpid(other, nullptr, 0);
  munmap(words, 4096);
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

struct Found {
  double request_us = 0;
  double response_us = 0;
};

Found run_with(const std::string& kind) {
  const std::string base = "/tmp/isochron_bench_" + std::to_string(getpid());
  const std::string text = "name: requests\nduration: " + std::to_string(periods * 10) +
                           "ms\nworld: {model: " SHIPS
                           ", step: 10ms}\nrobots:\n  prey:\n    programs:\n      asks: "
                           "{run: [" BENCH_PROGRAM ", requests, '10000', " +
                           kind + ", " + base + ".txt], every: 10ms}\ntime: {mode: realtime}\n";
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  const RunReport report = run_scenario(read_scenario(text, "bench.yaml", "/tmp"),
                                        {.journal = base + ".mcap", .machine = {}}, clock, disk, watch);
  Found found;
  if (FILE* file = std::fopen((base + ".txt").c_str(), "r")) {
    if (std::fscanf(file, "%lf", &found.request_us) != 1) found.request_us = 0;
    std::fclose(file);
  }
  for (const ProgramReport& program : report.programs) {
    if (program.name == "prey/asks" && program.timing)
      found.response_us = static_cast<double>(program.timing->response.p50.ns()) * 1e-3;
  }
  std::filesystem::remove(base + ".txt");
  std::filesystem::remove(base + ".mcap");
  return found;
}

}  // namespace

void bench_realtime(Report& report) {
  const int rounds = report.long_run() ? 7 : 3;
  const std::string kinds[] = {"read", "write", "all", "ask"};
  std::vector<double> bare, response;
  std::vector<double> each[4];
  for (int round = 0; round < rounds; ++round) {
    bare.push_back(bare_round_trip_us());
    for (int kind = 0; kind < 4; ++kind) {
      const Found found = run_with(kinds[kind]);
      each[kind].push_back(found.request_us);
      if (kind == 0) response.push_back(found.response_us);
    }
  }
  const auto median = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  const char* beside = "a bare futex round trip between two processes";
  report.ratio_at_most("realtime_read_us", median(each[0]), "us", beside, median(bare), 1.5);
  report.ratio_at_most("realtime_write_us", median(each[1]), "us", beside, median(bare), 1.5);
  report.ratio_at_most("realtime_read_all_of_9_us", median(each[2]), "us", beside, median(bare), 1.5);
  report.ratio_at_most("realtime_request_to_the_run_us", median(each[3]), "us", beside, median(bare), 1.5);
  report.found("realtime_response_p50_us", median(response), "us",
               "9 reads and 42 us of computing, from the release on");
}

}  // namespace isochron::bench
