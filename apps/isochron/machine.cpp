#include "apps/isochron/machine.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/build_parts.hpp"
#include "core/time_text.hpp"

namespace isochron::app {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string cpu_field(const std::string& field) {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(field, 0) == 0) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "";
}

std::int64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

/// Whether a thread of ours may run under SCHED_FIFO; tried on a thread that then ends.
bool may_run_fifo() {
  bool may = false;
  std::thread([&] {
    sched_param param{};
    param.sched_priority = sched_get_priority_min(SCHED_FIFO);
    may = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
  }).join();
  return may;
}

Finding fifo() {
  const bool may = may_run_fifo();
  return {"real-time scheduling (SCHED_FIFO)", may ? "allowed" : "not allowed", may,
          may ? "" : "consistent mode falls back to SIGSTOP and CPU clocks; realtime mode has more jitter",
          may ? ""
              : "sudo setcap cap_sys_nice,cap_ipc_lock+ep $(which isochron), or an rtprio line in "
                "/etc/security/limits.conf"};
}

Finding throttling() {
  const std::string runtime = first_line("/proc/sys/kernel/sched_rt_runtime_us");
  const std::string period = first_line("/proc/sys/kernel/sched_rt_period_us");
  if (runtime.empty()) return {"real-time throttling", "unknown", true, "", ""};
  const bool off = runtime == "-1";
  return {"real-time throttling", off ? "off" : runtime + " of " + period + " us", true,
          off ? "" : "a real-time part that never rests is stopped for 5 % of the time; it is not charged for it",
          off ? "" : "sudo sysctl kernel.sched_rt_runtime_us=-1 (a runaway real-time thread then locks its core)"};
}

Finding cores() {
  const unsigned n = std::thread::hardware_concurrency();
  return {"cores", std::to_string(n), n >= 2, n >= 2 ? "" : "coordinator, journal and programs share one core", ""};
}

Finding clock_source() {
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const bool fast = source == "tsc" || source == "kvm-clock" || source == "arch_sys_counter";
  return {"clock source", source.empty() ? "unknown" : source, fast,
          fast ? "" : "reading the clock is a system call: about 1 us instead of 25 ns",
          fast ? "" : "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"};
}

Finding steal() {
  std::istringstream line(first_line("/proc/stat"));
  std::string word;
  std::vector<double> ticks;
  line >> word;
  for (double value = 0; line >> value;) ticks.push_back(value);
  double sum = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, ticks.size()); ++i) sum += ticks[i];
  const double share = ticks.size() > 7 && sum > 0 ? 100 * ticks[7] / sum : 0;
  char text[64];
  std::snprintf(text, sizeof text, "%.2f %% since boot", share);
  return {"CPU time stolen by other guests", text, share < 1,
          share < 1 ? "" : "wall-clock deadlines are missed through no fault of the program", ""};
}

Finding memory_lock() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool good = limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= (256U << 20) || geteuid() == 0;
  return {"locked memory", good ? "allowed" : std::to_string(limit.rlim_cur >> 10) + " KiB only", good,
          good ? "" : "a page fault in a control loop costs up to a millisecond", good ? "" : "ulimit -l unlimited"};
}

/// How late sleeps of 1 ms end, measured now.
Finding timer_precision() {
  std::vector<std::int64_t> late;
  std::int64_t next = monotonic_ns() + 1'000'000;
  for (int i = 0; i < 100; ++i, next += 1'000'000) {
    const timespec t{next / 1'000'000'000, next % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
    }
    late.push_back(monotonic_ns() - next);
  }
  std::sort(late.begin(), late.end());
  const bool good = late[50] < 200'000;
  return {"sleeping until a time is late by",
          format_ns_short(late[50]) + " median, " + format_ns_short(late[99]) + " worst of 100", good,
          good ? "" : "realtime mode will show this jitter", good ? "" : "run as real-time, or close other programs"};
}

Finding namespaces() {
  const bool root = geteuid() == 0;
  return {"several hosts on this machine (network namespaces)", root ? "allowed" : "needs root", true,
          root ? "" : "tests of many hosts are skipped", ""};
}

std::string names_of_parts(bool here) {
  std::string names;
  for (const BuildPart& part : build_parts()) {
    if (part.here == here) names += (names.empty() ? "" : ", ") + std::string(part.name);
  }
  return names;
}

void add_parts(std::vector<Finding>& findings) {
  const std::string here = names_of_parts(true);
  findings.push_back({"this build has", here.empty() ? "no optional parts" : here, true, "", ""});
  for (const BuildPart& part : build_parts()) {
    if (part.here) continue;
    findings.push_back({std::string(part.name), "left out of this build", false,
                        std::string(part.gives) + " cannot be used",
                        "install " + std::string(part.packages) + " (Debian) and build again"});
  }
}

}  // namespace

std::vector<Finding> examine_machine() {
  std::vector<Finding> findings{fifo(),  throttling(),  cores(),           clock_source(),
                                steal(), memory_lock(), timer_precision(), namespaces()};
  add_parts(findings);
  return findings;
}

std::string describe_build() {
  const std::string here = names_of_parts(true), left_out = names_of_parts(false), commit = ISOCHRON_COMMIT;
  return "isochron " ISOCHRON_VERSION + (commit.empty() ? "" : " (" + commit + ")") +
         (here.empty() ? "" : "\nwith " + here) + (left_out.empty() ? "" : "\nwithout " + left_out);
}

nlohmann::ordered_json describe_machine() {
  utsname kernel{};
  uname(&kernel);
  const std::string flags = " " + cpu_field("flags") + " ";
  const bool fma = flags.find(" fma ") != std::string::npos && flags.find(" avx2 ") != std::string::npos;
  return {{"cpu", cpu_field("model name")},
          {"cores", std::thread::hardware_concurrency()},
          {"kernel", kernel.release},
          {"math", fma ? "fma" : "sse2"},  // glibc picks sin, cos, exp, pow by it: bits differ between the two
          {"isochron", ISOCHRON_VERSION},
          {"commit", ISOCHRON_COMMIT}};
}

}  // namespace isochron::app
