#pragma once
// What one thread of another process has executed. CPU clocks of threads are for their own process only, so this reads
// the kernel's account of it.
//
// Promises: exact while the thread stands still, and when read on the core from which it was just taken.
// Threads:  any. Cost: one read of a small file; opening it allocates.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/time.hpp"

namespace isochron::programs {

class ThreadMeter {
 public:
  ThreadMeter(pid_t process, pid_t thread) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", process, thread);
    file_ = open(path, O_RDONLY | O_CLOEXEC);
  }
  ThreadMeter(ThreadMeter&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ThreadMeter& operator=(ThreadMeter&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~ThreadMeter() {
    if (file_ >= 0) close(file_);
  }
  /// Zero when it is gone.
  [[nodiscard]] CpuTime executed() const {
    char text[96];
    const ssize_t size = pread(file_, text, sizeof text - 1, 0);
    if (size <= 0) return CpuTime::zero();
    text[size] = 0;
    return CpuTime::from_ns(std::strtoll(text, nullptr, 10));
  }

 private:
  int file_ = -1;
};

/// A thread, and what it executed since a moment.
struct MeteredThread {
  MeteredThread(pid_t process, pid_t thread) : id(thread), meter(process, thread) { start(); }
  void start() { from = newest = std::max(newest, meter.executed()); }
  /// It only grows: a thread that is gone keeps what it had.
  CpuSpan look() {
    newest = std::max(newest, meter.executed());
    return newest - from;
  }
  pid_t id;
  ThreadMeter meter;
  CpuTime from, newest;
};

/// How long the threads take on so many cores: as long as the longest of them, or as all of them shared out.
struct Makespan {
  std::uint32_t cores = 1;
  CpuSpan longest, sum;
  void add(CpuSpan executed) {
    longest = std::max(longest, executed);
    sum += executed;
  }
  [[nodiscard]] CpuSpan span() const { return std::max(longest, sum / static_cast<std::int64_t>(cores)); }
};

}  // namespace isochron::programs
