#include "programs/interference.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/time_text.hpp"

namespace isochron::programs {

Interference::Interference() : before_(read()) {}

Interference::Counters Interference::read() {
  Counters now;
  std::int64_t executed = 0, kept_off = 0;
  if (std::ifstream("/proc/thread-self/schedstat") >> executed >> kept_off) now.kept_off = WallSpan::from_ns(kept_off);
  std::ifstream file("/proc/stat");
  std::string name;
  std::int64_t ticks[8] = {};  // user nice system idle iowait irq softirq steal, of all cores
  file >> name;
  for (std::int64_t& each : ticks) file >> each;
  const std::int64_t per_second = sysconf(_SC_CLK_TCK);
  if (file && per_second > 0) now.stolen = WallSpan::from_ns(ticks[7] * (1'000'000'000 / per_second));
  return now;
}

void Interference::explain(LatePreemption& late) {
  const Counters now = read();
  late.kept_off = now.kept_off - before_.kept_off;
  late.stolen = now.stolen - before_.stolen;
  before_ = now;
}

std::string to_string(const LatePreemption& late) {
  const std::string text =
      "a preemption at " + to_string(late.at) + " came " + format_ns_short(late.late.ns()) + " late";
  if (late.stolen >= late.late / 2) return text + ": the host took the core";
  if (late.kept_off >= late.late / 2) {
    return text + ": the kernel kept real-time threads off the core (kernel.sched_rt_runtime_us)";
  }
  return text + ": the timer did, by the host's or the kernel's doing";
}

}  // namespace isochron::programs
