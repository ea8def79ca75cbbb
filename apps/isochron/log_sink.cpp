#include "apps/isochron/log_sink.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t longest = 16'384;

/// 2026-11-19T21:45:03.125Z
std::string wall_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text;
}

}  // namespace

CommandLog::CommandLog(LogLevel shown, const std::string& file) : shown_(shown) {
  if (!file.empty()) {
    file_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) throw InputError({"--log " + file, 0, 0}, std::strerror(errno), "name a file that can be written");
  }
  log_to(this, file_ < 0 ? shown : LogLevel::detail);
}

CommandLog::~CommandLog() {
  log_to(nullptr, LogLevel::warning);
  if (file_ >= 0) ::close(file_);
}

void CommandLog::write_down(const LogLine& line) {
  const nlohmann::ordered_json entry{{"time", wall_time()},
                                     {"level", to_string(line.level)},
                                     {"part", line.part},
                                     {"text", line.text.substr(0, longest)}};
  const std::string text = json_text(entry) + "\n";
  if (::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) || told_.exchange(true)) return;
  say(std::string("the log cannot be written: ") + std::strerror(errno) + "; it is not whole\n");
}

void CommandLog::take(const LogLine& line) noexcept {
  try {
    if (line.level <= shown_) {
      const bool live = isatty(STDERR_FILENO) != 0;  // there may be a line that is being redrawn
      say((live ? "\r\033[K" : "") + std::string(line.part) + ": " + std::string(line.text) + "\n");
    }
    if (file_ >= 0) write_down(line);
  } catch (...) {  // no memory to say it with
  }
}

}  // namespace isochron::app
