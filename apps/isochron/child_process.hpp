#pragma once
// A command as a child of ours: its words go where they are told to, Ctrl-C reaches it only through us, and it does not
// outlive us.
//
// Fails: the constructor throws InputError if a file cannot be made, std::runtime_error if no process can be started. A
//        command that is not there ends with code 127 and says so on its standard error.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace isochron::app {

class ChildProcess {
 public:
  /// This very program, whatever it is called and wherever it lies.
  static constexpr const char* ourselves = "/proc/self/exe";

  /// Standard output goes into a file, complaints into another one or, where that is "", up a pipe. It reads `input`,
  /// if there is one, and sees the end of it only after end_input(), or when we are gone.
  ChildProcess(const std::vector<std::string>& words, const std::string& out_file, const std::string& err_file = "",
               const std::optional<std::string>& input = {});
  /// The same with a function of ours instead of a command: a copy of this process, which starts at once. If it
  /// `listens`, it can be told things on its standard input, and has none of our other files open. What it returns is
  /// the code. Requires: no other thread runs here.
  ChildProcess(const std::function<int()>& what, const std::string& out_file, bool listens);
  ChildProcess(const std::function<int()>& what, const std::string& out_file);  // that does not
  ~ChildProcess();                                                              // kills it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] bool ended();
  void wait();
  /// On its standard input, if it has one. Never blocks: what does not fit into the pipe is lost.
  void tell(const std::string& text) const;
  void end_input();
  void signal(int number) const;
  /// Where its complaints come out, without blocking; -1 if they go into a file.
  [[nodiscard]] int complaints() const { return complaints_; }
  /// Requires: ended().
  [[nodiscard]] bool well() const;
  /// The code it ended with; nothing if it was killed.
  [[nodiscard]] std::optional<int> code() const;
  /// "killed: Killed", "ended with code 2".
  [[nodiscard]] std::string how_it_ended() const;

 private:
  pid_t pid_ = -1;
  int complaints_ = -1;
  int input_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

/// Ctrl-C is ours while this lives; count() says how often it came.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  [[nodiscard]] static int count();
};

}  // namespace isochron::app
