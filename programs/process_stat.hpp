#pragma once
// What the kernel tells about a process in /proc/PID/stat: whether it could execute, and the CPU time it used. That
// time comes in ticks of ten milliseconds; for a program itself there is its CPU clock.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/time.hpp"

namespace isochron::programs {

struct ProcessStat {
  char state = '?';      // 'R' = running or waiting for a core; 'D' = will be in a moment
  bool exiting = false;  // the kernel takes it apart
  CpuSpan used;          // by its threads
  CpuSpan by_children;   // by those of its children that ended and that it waited for
};

/// Nothing when there is no such process any more. A thread's is in "PID/task/THREAD".
std::optional<ProcessStat> stat_of(const std::string& process);
inline std::optional<ProcessStat> stat_of(pid_t process) { return stat_of(std::to_string(process)); }
std::optional<ProcessStat> parse_stat(std::string_view text, long ticks_per_second);

}  // namespace isochron::programs
