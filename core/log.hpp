#pragma once
// What Isochron says while it works, for the person in front of it. No part prints anything itself: it says what it has
// to say here, and whoever runs the parts decides where it goes. The command shows warnings and errors, more with -v, and
// keeps everything in the file of --log. Without a sink, warnings and errors go to stderr.
//
// What belongs to a run (faults, stalls, refusals) is in its journal and report too: this is not the record.
//
// Threads: any. Cost: a level that nobody wants costs one load. Fails: never; what cannot be written is gone.

#include <cstdint>
#include <string_view>

namespace isochron {

enum class LogLevel : std::uint8_t { error, warning, info, detail };
std::string_view to_string(LogLevel level);

struct LogLine {
  LogLevel level = LogLevel::info;
  std::string_view part;  // "programs", "ros2": who says it
  std::string_view text;
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void take(const LogLine& line) noexcept = 0;
};

/// From now on lines up to `most` go there; null: as at the beginning. A sink must outlive the threads that say something.
void log_to(LogSink* sink, LogLevel most) noexcept;
/// Whether a line of this level goes anywhere: for those that are dear to make.
[[nodiscard]] bool logs(LogLevel level) noexcept;
void log_line(LogLevel level, std::string_view part, std::string_view text) noexcept;

inline void warn(std::string_view part, std::string_view text) noexcept { log_line(LogLevel::warning, part, text); }
inline void inform(std::string_view part, std::string_view text) noexcept { log_line(LogLevel::info, part, text); }

}  // namespace isochron
