// Waits with a time limit for other threads of the program: conditions, locks, semaphores, futexes.

#include <errno.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>

#include "client/interpose/clock.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(pthread_cond_signal)
ISOCHRON_ORIGINAL(pthread_cond_broadcast)
ISOCHRON_ORIGINAL(pthread_cond_clockwait)
ISOCHRON_ORIGINAL(pthread_cond_timedwait)
ISOCHRON_ORIGINAL(pthread_mutex_clocklock)
ISOCHRON_ORIGINAL(pthread_rwlock_clockrdlock)
ISOCHRON_ORIGINAL(pthread_rwlock_clockwrlock)
ISOCHRON_ORIGINAL(pthread_timedjoin_np)
ISOCHRON_ORIGINAL(pthread_clockjoin_np)
ISOCHRON_ORIGINAL(sem_clockwait)
ISOCHRON_ORIGINAL(sem_timedwait)
ISOCHRON_ORIGINAL(cnd_signal)
ISOCHRON_ORIGINAL(cnd_broadcast)
ISOCHRON_ORIGINAL(cnd_timedwait)
ISOCHRON_ORIGINAL(mtx_timedlock)
ISOCHRON_ORIGINAL(sigtimedwait)
ISOCHRON_ORIGINAL(mq_timedreceive)
ISOCHRON_ORIGINAL(mq_timedsend)
ISOCHRON_ORIGINAL(semtimedop)
ISOCHRON_ORIGINAL(syscall)

// A waiter with a limit sleeps in simulated time, where a real signal would not reach it. So signals are counted, in a
// table by the address of the condition; two conditions that share a place only cause a spurious wake, which is legal.
constexpr std::size_t places = 1024;
std::atomic<std::uint32_t> signals[places];
std::atomic<std::uint32_t>& signals_of(const void* condition) {
  return signals[(reinterpret_cast<std::uintptr_t>(condition) >> 4) * 0x9e3779b97f4a7c15u % places];
}

int wait_for_signal(pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t limit) {
  std::atomic<std::uint32_t>& count = signals_of(condition);
  const std::uint32_t before = count.load(std::memory_order_acquire);
  pthread_mutex_unlock(mutex);
  const bool came = try_until(limit, [&] { return count.load(std::memory_order_acquire) != before; });
  pthread_mutex_lock(mutex);
  return came ? 0 : ETIMEDOUT;
}

/// For locks: an attempt returns EBUSY while somebody else holds it.
template <class Try>
int lock_until(clockid_t clock, const timespec* limit, Try&& attempt) {
  int result = 0;
  const bool done = try_until(to_ns(*limit) - offset_of(clock), [&] { return (result = attempt()) != EBUSY; });
  return done ? result : ETIMEDOUT;
}

int semaphore_until(sem_t* semaphore, clockid_t clock, const timespec* limit) {
  if (try_until(to_ns(*limit) - offset_of(clock), [&] { return sem_trywait(semaphore) == 0; })) return 0;
  errno = ETIMEDOUT;
  return -1;
}

long futex_wait(const std::uint32_t* word, int operation, std::uint32_t value, const timespec* t) {
  const bool absolute = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
  const clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  const std::int64_t limit = absolute ? to_ns(*t) - offset_of(clock) : now_ns() + to_ns(*t);
  bool looked = false;
  const bool changed = try_until(limit, [&] {
    const bool other = __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;
    if (!other) looked = true;
    return other;
  });
  if (changed && looked) return 0;  // as if woken
  errno = changed ? EAGAIN : ETIMEDOUT;
  return -1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_cond_signal(pthread_cond_t* condition) {
  signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
  return libc_pthread_cond_signal(condition);
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
  signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
  return libc_pthread_cond_broadcast(condition);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* t) {
  if (!is_virtual(clock)) return libc_pthread_cond_clockwait(condition, mutex, clock, t);
  return wait_for_signal(condition, mutex, to_ns(*t) - offset_of(clock));
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const struct timespec* t) {
  if (!attached()) return libc_pthread_cond_timedwait(condition, mutex, t);
  // Whether the condition was made for the monotonic clock is not to be seen from outside; but the two clocks are
  // decades apart, so the limit itself tells.
  const std::int64_t limit = to_ns(*t);
  const bool real = limit > epoch_ns() / 2;
  return wait_for_signal(condition, mutex, limit - offset_of(real ? CLOCK_REALTIME : CLOCK_MONOTONIC));
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* t) {
  if (!is_virtual(clock)) return libc_pthread_mutex_clocklock(mutex, clock, t);
  return lock_until(clock, t, [&] { return pthread_mutex_trylock(mutex); });
}
int pthread_mutex_timedlock(pthread_mutex_t* mutex, const struct timespec* t) {
  return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, t);
}
int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const struct timespec* t) {
  if (!is_virtual(clock)) return libc_pthread_rwlock_clockrdlock(lock, clock, t);
  return lock_until(clock, t, [&] { return pthread_rwlock_tryrdlock(lock); });
}
int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const struct timespec* t) {
  if (!is_virtual(clock)) return libc_pthread_rwlock_clockwrlock(lock, clock, t);
  return lock_until(clock, t, [&] { return pthread_rwlock_trywrlock(lock); });
}
int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const struct timespec* t) {
  return pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, t);
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const struct timespec* t) {
  return pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, t);
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const struct timespec* t) {
  if (!is_virtual(clock)) return libc_sem_clockwait(semaphore, clock, t);
  return semaphore_until(semaphore, clock, t);
}
int sem_timedwait(sem_t* semaphore, const struct timespec* t) {
  if (!attached()) return libc_sem_timedwait(semaphore, t);
  return semaphore_until(semaphore, CLOCK_REALTIME, t);
}

int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const struct timespec* t) {
  if (t == nullptr || !is_virtual(clock)) return libc_pthread_clockjoin_np(thread, result, clock, t);
  return lock_until(clock, t, [&] { return pthread_tryjoin_np(thread, result); });
}
int pthread_timedjoin_np(pthread_t thread, void** result, const struct timespec* t) {
  return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, t);
}

// The same of C11. libc's own do not come through the functions above.
int cnd_signal(cnd_t* condition) {
  signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
  return libc_cnd_signal(condition);
}
int cnd_broadcast(cnd_t* condition) {
  signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
  return libc_cnd_broadcast(condition);
}
int cnd_timedwait(cnd_t* __restrict condition, mtx_t* __restrict mutex, const struct timespec* __restrict t) {
  if (!attached()) return libc_cnd_timedwait(condition, mutex, t);
  std::atomic<std::uint32_t>& count = signals_of(condition);
  const std::uint32_t before = count.load(std::memory_order_acquire);
  mtx_unlock(mutex);
  const bool came = try_until(to_ns(*t) - epoch_ns(), [&] { return count.load(std::memory_order_acquire) != before; });
  mtx_lock(mutex);
  return came ? thrd_success : thrd_timedout;
}
int mtx_timedlock(mtx_t* __restrict mutex, const struct timespec* __restrict t) {
  if (!attached()) return libc_mtx_timedlock(mutex, t);
  int result = thrd_timedout;
  const bool done = try_until(to_ns(*t) - epoch_ns(), [&] { return (result = mtx_trylock(mutex)) != thrd_busy; });
  return done ? result : thrd_timedout;
}

int sigtimedwait(const sigset_t* __restrict set, siginfo_t* __restrict info, const struct timespec* __restrict t) {
  if (!attached() || t == nullptr) return libc_sigtimedwait(set, info, t);
  const timespec none{};
  int result = -1;
  const auto attempt = [&] {
    if (next_signal() <= now_ns()) send_signals();
    return (result = libc_sigtimedwait(set, info, &none)) >= 0 || errno != EAGAIN;
  };
  if (try_until(limit_after(to_ns(*t)), attempt)) return result;
  errno = EAGAIN;
  return -1;
}

ssize_t mq_timedreceive(mqd_t queue, char* __restrict data, size_t size, unsigned* __restrict priority,
                        const struct timespec* __restrict t) {
  if (!attached() || t == nullptr) return libc_mq_timedreceive(queue, data, size, priority, t);
  ssize_t result = -1;
  const timespec past{};
  try_until(to_ns(*t) - epoch_ns(), [&] {
    return (result = libc_mq_timedreceive(queue, data, size, priority, &past)) >= 0 || errno != ETIMEDOUT;
  });
  return result;
}
int mq_timedsend(mqd_t queue, const char* data, size_t size, unsigned priority, const struct timespec* t) {
  if (!attached() || t == nullptr) return libc_mq_timedsend(queue, data, size, priority, t);
  int result = -1;
  const timespec past{};
  try_until(to_ns(*t) - epoch_ns(), [&] {
    return (result = libc_mq_timedsend(queue, data, size, priority, &past)) == 0 || errno != ETIMEDOUT;
  });
  return result;
}

int semtimedop(int set, struct sembuf* operations, size_t count, const struct timespec* t) {
  constexpr std::size_t most = 64;
  if (!attached() || t == nullptr || count > most) return libc_semtimedop(set, operations, count, t);
  sembuf at_once[most];
  bool waits = true;
  for (std::size_t i = 0; i < count; ++i) {
    at_once[i] = operations[i];
    if ((operations[i].sem_flg & IPC_NOWAIT) != 0) waits = false;
    at_once[i].sem_flg = static_cast<short>(at_once[i].sem_flg | IPC_NOWAIT);
  }
  int result = -1;
  try_until(waits ? limit_after(to_ns(*t)) : now_ns(),
            [&] { return (result = semop(set, at_once, count)) == 0 || errno != EAGAIN; });
  return result;
}

// Futures, std::atomic::wait and language run-times come through here.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (attached() && number == SYS_futex && a[3] != 0) {
    const int command = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
    if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
      return futex_wait(reinterpret_cast<const std::uint32_t*>(a[0]), static_cast<int>(a[1]),
                        static_cast<std::uint32_t>(a[2]), reinterpret_cast<const timespec*>(a[3]));
    }
  }
  if (attached() && number == SYS_clock_gettime) {
    return clock_gettime(static_cast<clockid_t>(a[0]), reinterpret_cast<timespec*>(a[1]));
  }
  return libc_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // extern "C"
#pragma GCC visibility pop
