// Processes of a stack: what a program forks takes part, with pages of its own; process numbers are the simulated
// system's, the same in every run.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/interpose/system.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(fork)
ISOCHRON_ORIGINAL(getpid)
ISOCHRON_ORIGINAL(getppid)
ISOCHRON_ORIGINAL(gettid)
ISOCHRON_ORIGINAL(kill)
ISOCHRON_ORIGINAL(waitpid)
ISOCHRON_ORIGINAL(wait4)
ISOCHRON_ORIGINAL(waitid)
ISOCHRON_ORIGINAL(getpgid)
ISOCHRON_ORIGINAL(setpgid)
ISOCHRON_ORIGINAL(getsid)

struct ChildWait {
  Outside outside{[](void*) { return false; }, nullptr};
};

/// The child's real id, which the kernel is asked with; its number in `call`.
std::int64_t wait_for(Call& call, pid_t child, int options) {
  call = call_of(SystemCall::wait_child);
  call.a = child > 0 ? child : -1;
  call.flags = static_cast<std::uint32_t>(options & WNOWAIT);
  if ((options & WNOHANG) != 0) call.flags |= isochron::protocol::does_not_wait;
  return ask_again(call);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

pid_t fork(void) {
  if (!in_stack()) return libc_fork();
  Call call = call_of(SystemCall::fork);
  if (const std::int64_t error = ask_system(call); error < 0) return returned(error);
  const auto pages = static_cast<long>(call.a);
  shared_pages()->prints = 1;
  begin_followed_fork();
  const pid_t child = libc_fork();
  end_followed_fork();
  if (child == 0) {
    become_child(pages);
    return 0;
  }
  const int error = errno;
  Call told = call_of(SystemCall::forked);
  told.a = child;
  const std::int64_t number = ask_system(told);
  if (child < 0) {
    errno = error;
    return -1;
  }
  if (number < 0) libc_kill(child, SIGKILL);
  return returned(number);
}
// A child that has its parent's memory is more than anybody asks for: vfork promises no more than fork.
pid_t vfork(void) { return fork(); }
pid_t _Fork(void) { return fork(); }

pid_t getpid(void) { return in_stack() ? static_cast<pid_t>(shared_pages()->process) : libc_getpid(); }
pid_t getppid(void) {
  if (!in_stack()) return libc_getppid();
  Call call = call_of(SystemCall::parent);
  return static_cast<pid_t>(ask_system(call));
}
pid_t gettid(void) {
  const pid_t real = libc_gettid();
  return in_stack() && real == isochron::client::real_process_id() ? getpid() : real;
}

int kill(pid_t process, int signal) {
  if (!in_stack()) return libc_kill(process, signal);
  Call call = call_of(SystemCall::kill);
  call.a = process;
  call.b = signal;
  return returned(ask_system(call));
}
int killpg(pid_t group, int signal) { return kill(group == 0 ? 0 : -group, signal); }
int sigqueue(pid_t process, int signal, const union sigval) { return kill(process, signal); }

pid_t getpgid(pid_t process) {
  if (!in_stack()) return libc_getpgid(process);
  return process == 0 ? getpid() : process;
}
pid_t getpgrp(void) { return getpgid(0); }
pid_t getsid(pid_t process) { return in_stack() ? getpgid(process) : libc_getsid(process); }
int setpgid(pid_t process, pid_t group) {
  if (in_stack()) return 0;  // they stay in the group that ends with the run
  return libc_setpgid(process, group);
}

pid_t wait4(pid_t child, int* status, int options, struct rusage* usage) {
  if (!in_stack()) {
    if ((options & WNOHANG) != 0) return libc_wait4(child, status, options, usage);
    const ChildWait waiting;
    return libc_wait4(child, status, options, usage);
  }
  Call call;
  const std::int64_t number = wait_for(call, child, options);
  if (number <= 0) return returned(number);
  if (libc_wait4(static_cast<pid_t>(call.a), status, __WALL, usage) < 0 && status != nullptr) *status = 0;
  return static_cast<pid_t>(number);
}
pid_t waitpid(pid_t child, int* status, int options) { return wait4(child, status, options, nullptr); }
pid_t __waitpid(pid_t child, int* status, int options) { return wait4(child, status, options, nullptr); }
pid_t wait(int* status) { return wait4(-1, status, 0, nullptr); }
pid_t wait3(int* status, int options, struct rusage* usage) { return wait4(-1, status, options, usage); }

int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  if (!in_stack()) {
    if ((options & WNOHANG) != 0) return libc_waitid(type, id, info, options);
    const ChildWait waiting;
    return libc_waitid(type, id, info, options);
  }
  Call call;
  const std::int64_t number = wait_for(call, type == P_PID ? static_cast<pid_t>(id) : -1, options);
  if (number < 0) return returned(number);
  siginfo_t found{};
  if (number > 0) {
    libc_waitid(P_PID, static_cast<id_t>(call.a), &found, WEXITED | (options & WNOWAIT) | __WALL);
    found.si_pid = static_cast<pid_t>(number);
  }
  if (info != nullptr) *info = found;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
