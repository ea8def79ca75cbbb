#include "programs/program_limits.hpp"

#include <signal.h>

#include "core/time_text.hpp"

namespace isochron::programs {

void ProgramLimits::check_memory() {
  checked_ = all_.watch.last();
  for (const auto& one : all_.members) {
    Member& m = *one;
    const std::uint64_t used = m.process->ended() ? 0 : m.process->resident();
    if (used <= m.spec.memory_limit || m.limit_struck) continue;
    m.limit_struck = true;
    const std::string limit = std::to_string(m.spec.memory_limit >> 20) + " MiB";
    all_.desk.fault(m.number, all_.timeline->program_time(m.number),
                    "uses " + std::to_string(used >> 20) + " MiB of memory, more than its limit of " + limit +
                        " (`memory` in the scenario)");
    m.process->end_because("ended by its memory limit of " + limit);
  }
}

// By what it executed, or by how long it has been blocked: one that only waits for a busy machine does not hang.
bool ProgramLimits::hangs(Member& m) const {
  const WallTime now = wall_now();
  const CpuTime executed = m.process->cpu_time();
  if (!m.silence) m.silence = Silence{executed, executed, now};
  if (executed > m.silence->newest) {
    m.silence->newest = executed;
    m.silence->stands_since = now;
  }
  const WallSpan most = all_.options.hang_after;
  if (executed - m.silence->from >= CpuSpan::from_ns(most.ns())) return true;
  if (now - m.silence->stands_since < most) return false;
  if (!m.process->runnable()) return true;
  m.silence->stands_since = now;
  return false;
}

void ProgramLimits::end_hanging(Member& m) {
  all_.desk.fault(
      m.number, all_.timeline->program_time(m.number),
      "hangs: it computed or was blocked for " + to_string(all_.options.hang_after) + " without asking for anything");
  m.process->kill_group(SIGKILL);
  m.silence.reset();
}

}  // namespace isochron::programs
