#pragma once
// A mutex without unbounded priority inversion. With an ordinary one a high-priority thread that waits for a
// low-priority holder also waits for every middle-priority thread that keeps the holder off the processor. Here the
// holder runs at its most urgent waiter's priority until it unlocks.
//
//     std::lock_guard lock(mutex);
//
// Promises: a waiter waits for critical sections only, never for unrelated threads of lower priority.
// Requires: unlock() by the thread that locked; not locked again by its owner (it aborts).
// Threads:  any; with Sharing::processes also between processes, if it lies in shared memory.
// Cost:     ~20 ns uncontended; blocks when contended, through the kernel. Never allocates.

#include <pthread.h>

#include <cerrno>

#include "rt/clock.hpp"
#include "rt/ensure.hpp"

namespace isochron::rt {

enum class Sharing { threads, processes };

class PriorityInheritingMutex {
 public:
  explicit PriorityInheritingMutex(Sharing sharing = Sharing::threads) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    const int inherits = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (sharing == Sharing::processes) pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    const int made = pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
    RT_ENSURE(inherits == 0 && made == 0, "the kernel has no priority-inheriting mutex");
  }
  ~PriorityInheritingMutex() { pthread_mutex_destroy(&mutex_); }
  PriorityInheritingMutex(const PriorityInheritingMutex&) = delete;
  PriorityInheritingMutex& operator=(const PriorityInheritingMutex&) = delete;

  void lock() { RT_ENSURE(pthread_mutex_lock(&mutex_) == 0, "a mutex is locked once by a thread"); }
  void unlock() { RT_ENSURE(pthread_mutex_unlock(&mutex_) == 0, "a mutex is unlocked by the thread that locked it"); }
  [[nodiscard]] bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }

 private:
  pthread_mutex_t mutex_{};
};

}  // namespace isochron::rt
