// What a program asks of the operating system's scheduler: priorities and cores. On the robot's virtual computer the
// coordinator decides; it obeys the program's own priorities among the program's threads. Handed to the kernel they
// would break the order in which the coordinator lets programs execute. A program sees as many cores as its robot has.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "client/interpose/clock.hpp"

using namespace isochron::interpose;
using isochron::protocol::urgencies_max;
using isochron::protocol::Urgency;

namespace {

ISOCHRON_ORIGINAL(sched_setscheduler)
ISOCHRON_ORIGINAL(sched_setparam)
ISOCHRON_ORIGINAL(sched_getscheduler)
ISOCHRON_ORIGINAL(sched_getparam)
ISOCHRON_ORIGINAL(sched_setaffinity)
ISOCHRON_ORIGINAL(sched_getaffinity)
ISOCHRON_ORIGINAL(pthread_setschedparam)
ISOCHRON_ORIGINAL(pthread_getschedparam)
ISOCHRON_ORIGINAL(pthread_setschedprio)
ISOCHRON_ORIGINAL(pthread_setaffinity_np)
ISOCHRON_ORIGINAL(pthread_getaffinity_np)
ISOCHRON_ORIGINAL(setpriority)
ISOCHRON_ORIGINAL(getpriority)
ISOCHRON_ORIGINAL(nice)
ISOCHRON_ORIGINAL(sysconf)
ISOCHRON_ORIGINAL(get_nprocs)
ISOCHRON_ORIGINAL(get_nprocs_conf)

// In a rank: real-time priorities as they are, `batch` and ordinary as zero, nice values below it, idle last.
constexpr int idle = -100;

pid_t or_self(pid_t thread) { return thread == 0 ? gettid() : thread; }

/// The number of a thread, as its CPU clock tells it.
pid_t number_of(pthread_t thread) {
  if (pthread_equal(thread, pthread_self()) != 0) return gettid();
  clockid_t clock = 0;
  if (pthread_getcpuclockid(thread, &clock) != 0) return -1;
  return static_cast<pid_t>(~(static_cast<unsigned>(clock) >> 3) & 0x1fffffff);
}

Urgency* urgency_of(pid_t thread, bool add) {
  const auto id = static_cast<std::uint32_t>(thread);
  for (Urgency& urgency : shared_pages()->urgencies) {
    std::uint32_t owner = urgency.thread.load(std::memory_order_acquire);
    if (owner == id) return &urgency;
    if (owner != 0) continue;
    if (!add) return nullptr;
    if (urgency.thread.compare_exchange_strong(owner, id, std::memory_order_acq_rel) || owner == id) return &urgency;
  }
  if (!add) return nullptr;
  Urgency& reused = shared_pages()->urgencies[id % urgencies_max];  // hundreds of threads have come and gone
  reused.thread.store(id, std::memory_order_release);
  return &reused;
}

int rank_of(pid_t thread) {
  const Urgency* urgency = urgency_of(thread, false);
  return urgency == nullptr ? 0 : urgency->rank.load(std::memory_order_relaxed);
}

void set_rank(pid_t thread, int rank) {
  urgency_of(thread, true)->rank.store(rank, std::memory_order_relaxed);
  shared_pages()->urgencies_changed.fetch_add(1, std::memory_order_release);
}

bool is_real_time(int policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

/// 0 or the error that the kernel would give.
int set_policy(pid_t thread, int policy, int priority) {
  policy &= ~SCHED_RESET_ON_FORK;
  if (thread < 0 || (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE && !is_real_time(policy)))
    return EINVAL;
  if (is_real_time(policy) ? priority < 1 || priority > 99 : priority != 0) return EINVAL;
  set_rank(thread, is_real_time(policy) ? priority : policy == SCHED_IDLE ? idle : 0);
  return 0;
}

int policy_of(pid_t thread) {
  const int rank = rank_of(thread);
  return rank > 0 ? SCHED_FIFO : rank == idle ? SCHED_IDLE : SCHED_OTHER;
}

int priority_of(pid_t thread) { return std::max(0, rank_of(thread)); }

int fail_with(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

void set_nice(pid_t thread, int value) { set_rank(thread, -std::clamp(value, 0, 19)); }
int nice_of(pid_t thread) {
  const int rank = rank_of(thread);
  return rank < 0 && rank != idle ? -rank : 0;
}

long cores() { return shared_pages()->cores; }

void fill(size_t size, cpu_set_t* set) {
  CPU_ZERO_S(size, set);
  for (long core = 0; core < cores(); ++core) CPU_SET_S(static_cast<size_t>(core), size, set);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int sched_setscheduler(pid_t thread, int policy, const struct sched_param* parameter) {
  if (!attached()) return libc_sched_setscheduler(thread, policy, parameter);
  return fail_with(parameter == nullptr ? EINVAL : set_policy(or_self(thread), policy, parameter->sched_priority));
}
int sched_setparam(pid_t thread, const struct sched_param* parameter) {
  if (!attached()) return libc_sched_setparam(thread, parameter);
  const pid_t whose = or_self(thread);
  return fail_with(parameter == nullptr ? EINVAL : set_policy(whose, policy_of(whose), parameter->sched_priority));
}
int sched_getscheduler(pid_t thread) {
  if (!attached()) return libc_sched_getscheduler(thread);
  return policy_of(or_self(thread));
}
int sched_getparam(pid_t thread, struct sched_param* parameter) {
  if (!attached()) return libc_sched_getparam(thread, parameter);
  if (parameter == nullptr) return fail_with(EINVAL);
  parameter->sched_priority = priority_of(or_self(thread));
  return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param* parameter) {
  if (!attached()) return libc_pthread_setschedparam(thread, policy, parameter);
  return set_policy(number_of(thread), policy, parameter->sched_priority);
}
int pthread_getschedparam(pthread_t thread, int* policy, struct sched_param* parameter) {
  if (!attached()) return libc_pthread_getschedparam(thread, policy, parameter);
  const pid_t number = number_of(thread);
  if (number < 0) return ESRCH;
  *policy = policy_of(number);
  parameter->sched_priority = priority_of(number);
  return 0;
}
int pthread_setschedprio(pthread_t thread, int priority) {
  if (!attached()) return libc_pthread_setschedprio(thread, priority);
  const pid_t number = number_of(thread);
  return number < 0 ? ESRCH : set_policy(number, policy_of(number), priority);
}

int setpriority(__priority_which_t which, id_t who, int value) {
  if (!attached() || which != PRIO_PROCESS) return libc_setpriority(which, who, value);
  set_nice(or_self(static_cast<pid_t>(who)), value);
  return 0;
}
int getpriority(__priority_which_t which, id_t who) {
  if (!attached() || which != PRIO_PROCESS) return libc_getpriority(which, who);
  return nice_of(or_self(static_cast<pid_t>(who)));
}
int nice(int more) {
  if (!attached()) return libc_nice(more);
  set_nice(gettid(), nice_of(gettid()) + more);
  return nice_of(gettid());
}

// The robot's cores are shared out by the coordinator; that a program wants some of them is heard and not followed.
int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* set) {
  if (!attached()) return libc_sched_setaffinity(thread, size, set);
  return set == nullptr || CPU_COUNT_S(size, set) == 0 ? fail_with(EINVAL) : 0;
}
int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* set) {
  if (!attached()) return libc_sched_getaffinity(thread, size, set);
  if (set == nullptr || static_cast<size_t>(cores()) > size * 8) return fail_with(EINVAL);
  fill(size, set);
  return 0;
}
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* set) {
  if (!attached()) return libc_pthread_setaffinity_np(thread, size, set);
  return set == nullptr || CPU_COUNT_S(size, set) == 0 ? EINVAL : 0;
}
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* set) {
  if (!attached()) return libc_pthread_getaffinity_np(thread, size, set);
  if (set == nullptr || static_cast<size_t>(cores()) > size * 8) return EINVAL;
  fill(size, set);
  return 0;
}

long sysconf(int name) {
  if (attached() && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)) return cores();
  return libc_sysconf(name);
}
int get_nprocs(void) { return attached() ? static_cast<int>(cores()) : libc_get_nprocs(); }
int get_nprocs_conf(void) { return attached() ? static_cast<int>(cores()) : libc_get_nprocs_conf(); }

}  // extern "C"
#pragma GCC visibility pop
