#pragma once
// Finds what does not belong into a real-time loop: heap use, which may take a lock or enter the kernel, and page
// faults, which do. While a guard lives, its thread's every malloc, free and page fault is counted, and the first ones
// are kept with their stacks.
//
//     AllocationGuard guard("control");
//     for (int i = 0; i < 10'000; ++i) cycle();
//     std::cerr << guard.report().text();
//
// Heap use and stacks need the library isochron_rt_guard to be linked (CMake target isochron_rt_guard): it puts itself
// between the program and malloc, which costs every thread about a nanosecond for each call. Without it page faults
// are counted all the same, and watches_heap() is false.
//
// Promises: counts are exact for the guard's own thread and no other's; guards nest, the inner one counts.
// Requires: made and ended in the thread that it watches.
// Threads:  owner thread.
// Cost:     nothing until something is found; then a stack walk (~µs) each. The guard itself is 5 KB; report()
// allocates. Fails:    where the kernel lends no fault events (see kernel.perf_event_paranoid) faults have no stacks.

#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace isochron::rt {

enum class Violation : std::uint32_t { allocate, free, page_fault };
enum class OnViolation : std::uint32_t { count, abort };

/// What one guard has found; filled by the library without allocating.
struct GuardFindings {
  static constexpr std::size_t most_kept = 16;
  static constexpr int most_frames = 32;
  struct Found {
    Violation what;
    int frames;
    std::uint64_t bytes;  // asked for
    const void* address;  // of the fault, or of what was freed
    std::array<void*, most_frames> stack;
  };
  const char* name = "";
  OnViolation on_violation = OnViolation::count;
  std::uint64_t allocations = 0, bytes = 0, frees = 0;
  std::size_t kept = 0;
  int fault_events = -1;  // a file, or -1: none
  std::array<Found, most_kept> found;
};

}  // namespace isochron::rt

extern "C" {
// In isochron_rt_guard. Makes findings the ones of the calling thread; nullptr: none. Returns those before.
__attribute__((weak)) isochron::rt::GuardFindings* isochron_rt_guard_watch(isochron::rt::GuardFindings* findings);
__attribute__((weak)) int isochron_rt_guard_open_fault_events(void);
__attribute__((weak)) void isochron_rt_guard_close_fault_events(int events);
// "function+offset (file)" for one frame, into text.
__attribute__((weak)) void isochron_rt_guard_describe(const void* frame, char* text, std::size_t size);
}

namespace isochron::rt {

struct GuardReport {
  std::string name;
  std::uint64_t allocations = 0, bytes = 0, frees = 0;
  std::uint64_t minor_faults = 0, major_faults = 0;
  std::vector<GuardFindings::Found> found;  // the first ones

  [[nodiscard]] bool clean() const { return allocations + frees + minor_faults + major_faults == 0; }

  /// For people: what and how often, then the first stacks.
  [[nodiscard]] std::string text() const {
    std::string text = name + ": " + std::to_string(allocations) + " allocations (" + std::to_string(bytes) +
                       " bytes), " + std::to_string(frees) + " frees, " + std::to_string(minor_faults) + " minor and " +
                       std::to_string(major_faults) + " major page faults\n";
    for (const auto& f : found) text += describe(f);
    return text;
  }

 private:
  static std::string describe(const GuardFindings::Found& f) {
    std::string text = f.what == Violation::allocate ? "  allocation of " + std::to_string(f.bytes) + " bytes\n"
                       : f.what == Violation::free   ? "  free\n"
                                                     : "  page fault\n";
    for (int i = 0; i < f.frames; ++i) {
      char line[512];
      isochron_rt_guard_describe(f.stack[static_cast<std::size_t>(i)], line, sizeof line);
      text += "    " + std::string(line) + "\n";
    }
    return text;
  }
};

class AllocationGuard {
 public:
  explicit AllocationGuard(const char* name, OnViolation on_violation = OnViolation::count) {
    findings_.name = name;
    findings_.on_violation = on_violation;
    if (watches_heap()) {
      findings_.fault_events = isochron_rt_guard_open_fault_events();
      outer_ = isochron_rt_guard_watch(&findings_);
    }
    faults_before_ = faults();
  }
  ~AllocationGuard() {
    if (!watches_heap()) return;
    isochron_rt_guard_watch(outer_);
    isochron_rt_guard_close_fault_events(findings_.fault_events);
  }
  AllocationGuard(const AllocationGuard&) = delete;
  AllocationGuard& operator=(const AllocationGuard&) = delete;

  /// Whether isochron_rt_guard is linked.
  [[nodiscard]] static bool watches_heap() { return isochron_rt_guard_watch != nullptr; }
  /// Whether page faults come with their stacks.
  [[nodiscard]] bool has_fault_stacks() const { return findings_.fault_events >= 0; }

  /// What was found so far. Making the report does not count, but dropping it while the guard lives is a free.
  [[nodiscard]] GuardReport report() const {
    const Faults now = faults();
    GuardFindings* paused = watches_heap() ? isochron_rt_guard_watch(nullptr) : nullptr;
    GuardReport report{findings_.name, findings_.allocations, findings_.bytes, findings_.frees, 0, 0, {}};
    report.minor_faults = now.minor - faults_before_.minor;
    report.major_faults = now.major - faults_before_.major;
    report.found.assign(findings_.found.begin(), findings_.found.begin() + static_cast<long>(findings_.kept));
    if (watches_heap()) isochron_rt_guard_watch(paused);
    return report;
  }

 private:
  struct Faults {
    std::uint64_t minor, major;
  };
  static Faults faults() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
  }

  GuardFindings findings_;
  GuardFindings* outer_ = nullptr;
  Faults faults_before_{};
};

}  // namespace isochron::rt
