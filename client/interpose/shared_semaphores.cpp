#include "client/interpose/shared_semaphores.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "client/interpose/system.hpp"

namespace isochron::interpose {

namespace {

ISOCHRON_ORIGINAL(sem_init)
ISOCHRON_ORIGINAL(sem_open)
ISOCHRON_ORIGINAL(sem_getvalue)

constexpr std::uint64_t sign = 0x49534f5345413031;  // "ISOSEM01"

/// What lies in the memory of a shared one.
struct Shared {
  std::uint64_t sign;
  std::int64_t number;
};
static_assert(sizeof(Shared) <= sizeof(sem_t));

Shared content(const sem_t* semaphore) {
  Shared shared{};
  memcpy(&shared, semaphore, sizeof shared);
  return shared;
}

void mark(sem_t* semaphore, std::int64_t number) {
  const Shared shared{sign, number};
  memcpy(semaphore, &shared, sizeof shared);
}

}  // namespace

bool is_shared(const sem_t* semaphore) { return in_stack() && content(semaphore).sign == sign; }

int take_shared(sem_t* semaphore, std::int64_t limit) {
  Call call = call_of(SystemCall::semaphore_take);
  call.a = content(semaphore).number;
  call.until = limit;
  if (limit == 0) call.flags = protocol::does_not_wait;
  const std::int64_t result = ask_again(call);
  return returned(result == -EAGAIN && limit != 0 ? -ETIMEDOUT : result);
}

int give_shared(sem_t* semaphore) {
  Call call = call_of(SystemCall::semaphore_give);
  call.a = content(semaphore).number;
  return returned(ask_system(call));
}

}  // namespace isochron::interpose

using namespace isochron::interpose;

#pragma GCC visibility push(default)
extern "C" {

int sem_init(sem_t* semaphore, int shared, unsigned count) {
  const int result = libc_sem_init(semaphore, shared, count);
  if (result != 0 || shared == 0 || !in_stack()) return result;
  Call call = call_of(SystemCall::semaphore);
  call.a = count;
  const std::int64_t number = ask_system(call);
  if (number < 0) return returned(number);
  mark(semaphore, number);
  return 0;
}

// A real one stands for it, for its name and memory.
sem_t* sem_open(const char* name, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  const unsigned count = (flags & O_CREAT) != 0 ? va_arg(list, unsigned) : 0;
  va_end(list);
  sem_t* semaphore = libc_sem_open(name, flags, mode, count);
  if (semaphore == SEM_FAILED || !in_stack() || is_shared(semaphore)) return semaphore;
  Call call = call_of(SystemCall::semaphore);
  call.a = count;
  if (const std::int64_t number = ask_system(call); number > 0) mark(semaphore, number);
  return semaphore;
}

int sem_getvalue(sem_t* __restrict semaphore, int* __restrict value) {
  if (!is_shared(semaphore)) return libc_sem_getvalue(semaphore, value);
  Call call = call_of(SystemCall::semaphore_count);
  call.a = content(semaphore).number;
  const std::int64_t count = ask_system(call);
  if (count >= 0) *value = static_cast<int>(count);
  return returned(count < 0 ? count : 0);
}

}  // extern "C"
#pragma GCC visibility pop
