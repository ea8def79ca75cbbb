#pragma once
// ENSURE guards what must hold if our own code is right. It is armed in every build: a time tool that goes on after
// its own arithmetic broke gives numbers that look like results. Bad input is never an ENSURE; see InputError.
//
// Threads: any. What a thread is working on is told with DoingScope, so that the message can name it.
// Fails:   prints participant, simulated time, place and reason to stderr, then aborts.

#include <cstdint>

namespace isochron {

/// Names what this thread works on until the scope ends; shown by a failed ENSURE.
class DoingScope {
 public:
  DoingScope(const char* participant, std::int64_t sim_ns) noexcept;
  ~DoingScope();
  DoingScope(const DoingScope&) = delete;
  DoingScope& operator=(const DoingScope&) = delete;

  /// Moves the time that would be shown on.
  void at(std::int64_t sim_ns) noexcept;

 private:
  const char* outer_participant_;
  std::int64_t outer_ns_;
};

[[noreturn]] void ensure_failed(const char* condition, const char* why, const char* file, int line) noexcept;

}  // namespace isochron

#define ENSURE(condition, why)                                          \
  do {                                                                  \
    if (__builtin_expect(!(condition), 0)) {                            \
      ::isochron::ensure_failed(#condition, (why), __FILE__, __LINE__); \
    }                                                                   \
  } while (false)
