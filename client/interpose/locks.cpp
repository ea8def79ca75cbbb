// Where threads of the program meet: locks, conditions, semaphores, futexes. In the order of order.hpp; with a time
// limit also in simulated time.

#include <errno.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>

#include "client/interpose/clock.hpp"
#include "client/interpose/raw_calls.hpp"
#include "client/interpose/shared_semaphores.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(pthread_mutex_lock)
ISOCHRON_ORIGINAL(pthread_mutex_trylock)
ISOCHRON_ORIGINAL(pthread_mutex_unlock)
ISOCHRON_ORIGINAL(pthread_rwlock_rdlock)
ISOCHRON_ORIGINAL(pthread_rwlock_wrlock)
ISOCHRON_ORIGINAL(pthread_rwlock_tryrdlock)
ISOCHRON_ORIGINAL(pthread_rwlock_trywrlock)
ISOCHRON_ORIGINAL(pthread_rwlock_unlock)
ISOCHRON_ORIGINAL(pthread_barrier_wait)
ISOCHRON_ORIGINAL(pthread_cond_wait)
ISOCHRON_ORIGINAL(sem_wait)
ISOCHRON_ORIGINAL(sem_trywait)
ISOCHRON_ORIGINAL(sem_post)
ISOCHRON_ORIGINAL(mtx_lock)
ISOCHRON_ORIGINAL(mtx_trylock)
ISOCHRON_ORIGINAL(mtx_unlock)
ISOCHRON_ORIGINAL(cnd_wait)
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

/// Takes something that another thread may have. `attempt` returns `busy` while it has. All that passes between threads
/// happens under a Turn, and who has to wait does so in our line, not in the kernel's: there it would be nobody's turn.
template <class Try>
int take(const void* object, int busy, Try&& attempt) {
  for (;;) {
    {
      const Turn turn;
      const int result = attempt();
      if (result != busy) return result;
      enlist(object);
    }
    wait();
  }
}

template <class Give>
int give(const void* object, std::uint32_t most, Give&& really) {
  const Turn turn;
  const int result = really();
  let_go(object, most);
  return result;
}

// A waiter with a limit sleeps in simulated time, where a real signal would not reach it. So signals are counted, in a
// table by the address of the condition; two conditions that share a place only cause a spurious wake, which is legal.
constexpr std::size_t places = 1024;
std::atomic<std::uint32_t> signals[places];
std::atomic<std::uint32_t>& signals_of(const void* condition) {
  return signals[(reinterpret_cast<std::uintptr_t>(condition) >> 4) * 0x9e3779b97f4a7c15u % places];
}

// The clock of a condition is chosen when it is made and kept inside it, where only libc looks. So two are made with
// different clocks and compared: the one bit in which they differ is the clock of any condition, also of one that is
// initialised statically (all zeros, CLOCK_REALTIME) or was made before this library was there.
struct ClockBit {
  std::size_t byte = 0;
  unsigned char mask = 0;
};
ClockBit clock_bit;

__attribute__((constructor(102))) void find_clock_bit() {
  pthread_cond_t made[2];
  memset(made, 0, sizeof made);
  for (const int monotonic : {0, 1}) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, monotonic != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME);
    pthread_cond_init(&made[monotonic], &attributes);
    pthread_condattr_destroy(&attributes);
  }
  const auto* real = reinterpret_cast<const unsigned char*>(&made[0]);
  const auto* monotonic = reinterpret_cast<const unsigned char*>(&made[1]);
  for (std::size_t i = 0; i < sizeof made[0]; ++i) {
    if (real[i] != monotonic[i]) clock_bit = {i, static_cast<unsigned char>(real[i] ^ monotonic[i])};
  }
}

clockid_t clock_of(const pthread_cond_t* condition) {
  const unsigned char kept =
      __atomic_load_n(reinterpret_cast<const unsigned char*>(condition) + clock_bit.byte, __ATOMIC_RELAXED);
  return (kept & clock_bit.mask) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int wait_for_signal(pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t limit) {
  std::atomic<std::uint32_t>& count = signals_of(condition);
  std::uint32_t before = 0;
  give(mutex, 1, [&] {
    before = count.load(std::memory_order_acquire);
    return libc_pthread_mutex_unlock(mutex);
  });
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

/// 0: woken; otherwise -1 and errno.
long futex_without_limit(const long (&a)[6]) {
  const auto* word = reinterpret_cast<const std::uint32_t*>(a[0]);
  {
    const Turn turn;
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != static_cast<std::uint32_t>(a[2])) {
      errno = EAGAIN;
      return -1;
    }
    enlist(word);
  }
  wait();
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (order_mode() == OrderMode::off) return libc_pthread_mutex_lock(mutex);
  return take(mutex, EBUSY, [&] { return libc_pthread_mutex_trylock(mutex); });
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  const Turn turn;
  return libc_pthread_mutex_trylock(mutex);
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  return give(mutex, 1, [&] { return libc_pthread_mutex_unlock(mutex); });
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  if (order_mode() == OrderMode::off) return libc_pthread_rwlock_rdlock(lock);
  return take(lock, EBUSY, [&] { return libc_pthread_rwlock_tryrdlock(lock); });
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  if (order_mode() == OrderMode::off) return libc_pthread_rwlock_wrlock(lock);
  return take(lock, EBUSY, [&] { return libc_pthread_rwlock_trywrlock(lock); });
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  const Turn turn;
  return libc_pthread_rwlock_tryrdlock(lock);
}
int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  const Turn turn;
  return libc_pthread_rwlock_trywrlock(lock);
}
int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  return give(lock, UINT32_MAX, [&] { return libc_pthread_rwlock_unlock(lock); });
}

// Who comes last goes on at once; with the baton the others come back in the order in which the kernel lets them.
int pthread_barrier_wait(pthread_barrier_t* barrier) {
  { const Turn turn; }
  const Outside outside([](void*) { return false; }, nullptr);
  return libc_pthread_barrier_wait(barrier);
}

int sem_wait(sem_t* semaphore) {
  if (is_shared(semaphore)) return take_shared(semaphore, forever);
  if (order_mode() == OrderMode::off) return libc_sem_wait(semaphore);
  const int result = take(semaphore, EAGAIN, [&] { return libc_sem_trywait(semaphore) == 0 ? 0 : errno; });
  if (result == 0) return 0;
  errno = result;
  return -1;
}
int sem_trywait(sem_t* semaphore) {
  if (is_shared(semaphore)) return take_shared(semaphore, 0);
  const Turn turn;
  return libc_sem_trywait(semaphore);
}
int sem_post(sem_t* semaphore) {
  if (is_shared(semaphore)) return give_shared(semaphore);
  return give(semaphore, 1, [&] { return libc_sem_post(semaphore); });
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (order_mode() == OrderMode::off) return libc_pthread_cond_wait(condition, mutex);
  {
    const Turn turn;
    if (const int result = libc_pthread_mutex_unlock(mutex); result != 0) return result;
    let_go(mutex, 1);
    enlist(condition);
  }
  wait();
  return pthread_mutex_lock(mutex);
}

int pthread_cond_signal(pthread_cond_t* condition) {
  return give(condition, 1, [&] {
    signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
    return libc_pthread_cond_signal(condition);
  });
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
  return give(condition, UINT32_MAX, [&] {
    signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
    return libc_pthread_cond_broadcast(condition);
  });
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* t) {
  if (!is_virtual(clock)) return libc_pthread_cond_clockwait(condition, mutex, clock, t);
  return wait_for_signal(condition, mutex, to_ns(*t) - offset_of(clock));
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const struct timespec* t) {
  if (!attached()) return libc_pthread_cond_timedwait(condition, mutex, t);
  return wait_for_signal(condition, mutex, to_ns(*t) - offset_of(clock_of(condition)));
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
  if (is_shared(semaphore)) return take_shared(semaphore, to_ns(*t) - offset_of(clock));
  return semaphore_until(semaphore, clock, t);
}
int sem_timedwait(sem_t* semaphore, const struct timespec* t) {
  if (!attached()) return libc_sem_timedwait(semaphore, t);
  if (is_shared(semaphore)) return take_shared(semaphore, to_ns(*t) - epoch_ns());
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
int mtx_lock(mtx_t* mutex) {
  if (order_mode() == OrderMode::off) return libc_mtx_lock(mutex);
  return take(mutex, thrd_busy, [&] { return libc_mtx_trylock(mutex); });
}
int mtx_trylock(mtx_t* mutex) {
  const Turn turn;
  return libc_mtx_trylock(mutex);
}
int mtx_unlock(mtx_t* mutex) {
  return give(mutex, 1, [&] { return libc_mtx_unlock(mutex); });
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  if (order_mode() == OrderMode::off) return libc_cnd_wait(condition, mutex);
  {
    const Turn turn;
    if (const int result = libc_mtx_unlock(mutex); result != thrd_success) return result;
    let_go(mutex, 1);
    enlist(condition);
  }
  wait();
  return mtx_lock(mutex);
}
int cnd_signal(cnd_t* condition) {
  return give(condition, 1, [&] {
    signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
    return libc_cnd_signal(condition);
  });
}
int cnd_broadcast(cnd_t* condition) {
  return give(condition, UINT32_MAX, [&] {
    signals_of(condition).fetch_add(1, std::memory_order_acq_rel);
    return libc_cnd_broadcast(condition);
  });
}
int cnd_timedwait(cnd_t* __restrict condition, mtx_t* __restrict mutex, const struct timespec* __restrict t) {
  if (!attached()) return libc_cnd_timedwait(condition, mutex, t);
  std::atomic<std::uint32_t>& count = signals_of(condition);
  std::uint32_t before = 0;
  give(mutex, 1, [&] {
    before = count.load(std::memory_order_acquire);
    return libc_mtx_unlock(mutex);
  });
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

}  // extern "C"
#pragma GCC visibility pop

namespace isochron::interpose {

long futex_call(const long (&a)[6]) {
  const int command = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
  const auto plain = [&a] { return client::plain_call(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]); };
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    return give(reinterpret_cast<const void*>(a[0]), static_cast<std::uint32_t>(a[2]),
                [&] { return static_cast<int>(plain()); });
  }
  if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) return plain();
  const auto result = [](long of_libc) { return of_libc == -1 ? -errno : of_libc; };
  if (a[3] != 0) {
    return result(futex_wait(reinterpret_cast<const std::uint32_t*>(a[0]), static_cast<int>(a[1]),
                             static_cast<std::uint32_t>(a[2]), reinterpret_cast<const timespec*>(a[3])));
  }
  return order_mode() == OrderMode::off ? plain() : result(futex_without_limit(a));
}

}  // namespace isochron::interpose
