#pragma once
// Where the command's log goes: to the terminal as one line each, and to the file of --log as one JSON object each, with the
// wall time. Nodes in processes of their own inherit both: a line is one write.
//
// Threads: any.

#include <atomic>
#include <string>

#include "core/log.hpp"

namespace isochron::app {

class CommandLog final : public LogSink {
 public:
  /// `shown`: up to which level on the terminal. `file`: "" = none. Throws InputError if it cannot be written.
  CommandLog(LogLevel shown, const std::string& file);
  ~CommandLog() override;
  CommandLog(const CommandLog&) = delete;
  CommandLog& operator=(const CommandLog&) = delete;
  void take(const LogLine& line) noexcept override;

 private:
  void write_down(const LogLine& line);

  LogLevel shown_;
  int file_ = -1;
  std::atomic<bool> told_{false};  // that the file cannot be written
};

}  // namespace isochron::app
