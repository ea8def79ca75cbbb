#include "core/log.hpp"

#include <atomic>
#include <cstdio>

namespace isochron {
namespace {

std::atomic<LogSink*> sink{nullptr};
std::atomic<LogLevel> most{LogLevel::warning};

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warning:
      return "warning";
    case LogLevel::info:
      return "info";
    case LogLevel::detail:
      return "detail";
  }
  return "";
}

void log_to(LogSink* to, LogLevel level) noexcept {
  sink.store(to, std::memory_order_release);
  most.store(to == nullptr ? LogLevel::warning : level, std::memory_order_relaxed);
}

bool logs(LogLevel level) noexcept { return level <= most.load(std::memory_order_relaxed); }

void log_line(LogLevel level, std::string_view part, std::string_view text) noexcept {
  if (!logs(level)) return;
  if (LogSink* to = sink.load(std::memory_order_acquire)) return to->take({level, part, text});
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(part.size()), part.data(), static_cast<int>(text.size()),
               text.data());
}

}  // namespace isochron
