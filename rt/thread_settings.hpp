#pragma once
// What makes a thread a real-time one, and how to get it for the calling thread: a scheduling policy and priority, a
// place to run, memory that is there before it is needed, a name. Each needs a privilege that may be missing; then the
// thread gets the rest, and a list of what is weaker, each with the reason and what to do about it.
//
// Threads: the calling thread; locking memory is for the whole process.
// Cost:    system calls, allocates: at set-up.

#include <alloca.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "rt/clock.hpp"

namespace isochron::rt {

enum class Policy { other, fifo, round_robin };

/// Priorities relative to what the kernel has, so that programs do not depend on the numbers 1 and 99.
class Priority {
 public:
  static constexpr Priority above_min(int steps) { return Priority(steps, true); }
  static constexpr Priority below_max(int steps) { return Priority(steps, false); }

  /// As the kernel counts, kept within its range; 0 for Policy::other, which has none.
  [[nodiscard]] int value(Policy policy) const {
    if (policy == Policy::other) return 0;
    const int number = policy == Policy::fifo ? SCHED_FIFO : SCHED_RR;
    const int least = sched_get_priority_min(number);
    const int most = sched_get_priority_max(number);
    return std::clamp(from_min_ ? least + steps_ : most - steps_, least, most);
  }

 private:
  constexpr Priority(int steps, bool from_min) : steps_(steps), from_min_(from_min) {}
  int steps_;
  bool from_min_;
};

struct ThreadSettings {
  std::string name = {};  // shown by ps, top and debuggers; the kernel keeps 15 characters
  Policy policy = Policy::fifo;
  Priority priority = Priority::below_max(19);  // 80: above interrupt threads (50), below the kernel's own (99)
  std::vector<int> cpus = {};                   // empty: wherever the kernel likes; see topology.hpp
  bool lock_memory = true;                      // no page of this process is ever swapped out or mapped late
  std::size_t stack_bytes = 1 << 20;
  std::size_t prefault_stack_bytes = 256 << 10;  // touched before the body runs; at most half of what is left
  std::optional<MonotonicTime> start = {};       // the body begins then, not earlier
  bool insist = false;                           // rather fail than be weaker
};

/// Something a thread was asked to have and does not.
struct Weaker {
  std::string what;  // "SCHED_FIFO at priority 80"
  std::string why;   // "Operation not permitted"
  std::string hint;  // "run as root, or allow it with RLIMIT_RTPRIO"
};

inline std::string to_string(const std::vector<Weaker>& list) {
  std::string text;
  for (const Weaker& w : list) text += "without " + w.what + ": " + w.why + " (" + w.hint + ")\n";
  return text;
}

/// Locks the process's memory, present and future, and keeps the heap from giving pages back. Returns an errno or 0.
inline int lock_all_memory() {
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_MMAP_MAX, 0);
  return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno;
}

/// Touches that much of the calling thread's stack, so that its pages are there.
__attribute__((noinline)) inline void prefault_stack(std::size_t bytes) {
  auto* stack = static_cast<volatile char*>(alloca(bytes + 1));
  for (std::size_t i = 0; i <= bytes; i += 1024) stack[i] = 0;
}

/// How much of the calling thread's stack is below this call. Less than its size: thread-local variables live there
/// too.
inline std::size_t stack_left() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<std::size_t>(static_cast<char*>(__builtin_frame_address(0)) - static_cast<char*>(lowest));
}

namespace detail {

inline int set_policy(const ThreadSettings& s) {
  const int number = s.policy == Policy::fifo ? SCHED_FIFO : s.policy == Policy::round_robin ? SCHED_RR : SCHED_OTHER;
  const sched_param parameters{.sched_priority = s.priority.value(s.policy)};
  return pthread_setschedparam(pthread_self(), number, &parameters);
}

inline int pin(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
    CPU_SET(cpu, &set);
  }
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

inline std::string cpu_names(const std::vector<int>& cpus) {
  std::string text = cpus.size() == 1 ? "processor" : "processors";
  for (const int cpu : cpus) text += " " + std::to_string(cpu);
  return text;
}

inline std::string policy_name(const ThreadSettings& s) {
  return std::string(s.policy == Policy::fifo          ? "SCHED_FIFO"
                     : s.policy == Policy::round_robin ? "SCHED_RR"
                                                       : "SCHED_OTHER") +
         " at priority " + std::to_string(s.priority.value(s.policy));
}

}  // namespace detail

/// Gives the calling thread what the settings ask for, as far as it may have it; the rest is returned. Neither `start`
/// nor `insist` nor stack_bytes are looked at here.
[[nodiscard]] inline std::vector<Weaker> apply_to_this_thread(const ThreadSettings& settings) {
  std::vector<Weaker> weaker;
  const auto note = [&weaker](int error, std::string what, const char* hint) {
    if (error != 0) weaker.push_back({std::move(what), std::strerror(error), hint});
  };
  if (!settings.name.empty()) pthread_setname_np(pthread_self(), settings.name.substr(0, 15).c_str());
  if (!settings.cpus.empty())
    note(detail::pin(settings.cpus), detail::cpu_names(settings.cpus),
         "name processors that are online and allowed here");
  if (settings.lock_memory)
    note(lock_all_memory(), "locked memory", "run as root, or raise RLIMIT_MEMLOCK (ulimit -l unlimited)");
  prefault_stack(std::min(settings.prefault_stack_bytes, stack_left() / 2));
  MonotonicClock::now();  // its page is mapped at the first use, and no lock reaches it
  note(detail::set_policy(settings), detail::policy_name(settings),
       "run as root, or raise RLIMIT_RTPRIO (ulimit -r 99, /etc/security/limits.conf)");
  return weaker;
}

}  // namespace isochron::rt
