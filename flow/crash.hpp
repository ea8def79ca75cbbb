#pragma once
// A node that crashes (a bad pointer, a division by zero, a failed assertion) in a process that it shares with others
// must not take their record with it. While a CrashWatch lives, the thread that runs the crashed node is halted for
// good in its signal handler, and whoever waits for the run is told which node it was; it then finishes what is to be
// finished and ends the process.
//
// Threads: any; of several CrashWatches in one process the first is told. node_runs() from each thread that runs nodes.
// Fails:   a crash in a thread that runs no node, or while no CrashWatch lives, ends the process as ever. If the crash
//          left a lock held that finishing needs, the process is killed after ten seconds.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace isochron::flow {

/// This thread runs that node from now on. Cost: two stores.
void node_runs(std::uint32_t node);
/// The next signal handler of this thread has a stack of its own, so that an overflow of the stack can be told too.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_;
};

class CrashWatch {
 public:
  /// Adds one to `bell` and wakes whoever sleeps on it (futex) when a node crashed.
  explicit CrashWatch(std::atomic<std::uint32_t>& bell);
  ~CrashWatch();
  CrashWatch(const CrashWatch&) = delete;
  CrashWatch& operator=(const CrashWatch&) = delete;

  struct Crash {
    std::uint32_t node;
    std::string what;  // "it crashed: Segmentation fault"
  };
  [[nodiscard]] std::optional<Crash> crash() const;

 private:
  bool first_;
};

}  // namespace isochron::flow
