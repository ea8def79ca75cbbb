#pragma once
// What time-synchronised steps are compared with: processes that send 64 bytes to all others and wait for theirs, step
// by step, with the bare middleware: no sessions, no flows, no time. With two of them this is a ping-pong.

#include <cstdint>
#include <functional>
#include <memory>

#include <chrono>

#include "link/carrier.hpp"
#include "run/bench/delayed_hosts.hpp"

namespace isochron::bench {

/// The least time that so many steps in a row took: neighbours on the machine only ever make it longer, and what
/// happens before the first step and after the last is no part of it.
class BestWindow {
 public:
  explicit BestWindow(std::uint64_t steps) : steps_(steps) {}
  void stepped() {
    if (count_++ % steps_ != 0) return;
    const auto now = std::chrono::steady_clock::now();
    const double took = std::chrono::duration<double>(now - began_).count();
    if (count_ > 1 && (best_ < 0 || took < best_)) best_ = took;
    began_ = now;
  }
  /// Seconds; negative = there was none.
  [[nodiscard]] double best() const { return best_; }

 private:
  std::uint64_t steps_, count_ = 0;
  std::chrono::steady_clock::time_point began_;
  double best_ = -1;
};

/// How far to go: so many windows of so many steps.
struct Course {
  std::uint64_t window, windows;
  [[nodiscard]] std::uint64_t steps() const { return window * windows + 1; }
};

/// Runs `member(i)` in a process each; each gives how many seconds it took, negative = it failed. The longest of them.
double in_processes(std::uint32_t count, const std::function<double(std::uint32_t)>& member);

using MakeCarrier = std::function<std::unique_ptr<link::Carrier>(std::uint32_t self, std::uint32_t count)>;

/// Steps per second in the best window; 0 if it failed.
double bare_exchange(const MakeCarrier& make, std::uint32_t members, const Course& course);
/// The same over TCP sockets as the kernel has them, over futexes in shared memory, and over TCP between hosts.
double bare_tcp_exchange(std::uint32_t members, const Course& course);
double bare_memory_exchange(std::uint32_t members, const Course& course);
double bare_hosts_exchange(const DelayedHosts& hosts, std::uint32_t members, const Course& course);

}  // namespace isochron::bench
