// Which signals the program has functions for: the simulated system asks, since a signal ends the call that a process
// waits in only if the process takes it. That a child ended is told by the system, at its simulated time; what the
// kernel says of it comes when it comes, and is not passed on.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client/interpose/raw_calls.hpp"
#include "client/interpose/system.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(sigaction)
ISOCHRON_ORIGINAL(pthread_sigmask)

struct sigaction of_children {};
bool restarts[65];

constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }

std::uint32_t told = 0;  // that a child ended

void on_child(int signal, siginfo_t* info, void* context) {
  if (info != nullptr && info->si_code > 0) return;  // by the kernel
  ++told;
  if ((of_children.sa_flags & SA_SIGINFO) != 0) {
    of_children.sa_sigaction(signal, info, context);
  } else if (of_children.sa_handler != SIG_DFL && of_children.sa_handler != SIG_IGN) {
    of_children.sa_handler(signal);
  }
}

void note(int signal, const struct sigaction& action) {
  auto& pages = *shared_pages();
  const bool info = (action.sa_flags & SA_SIGINFO) != 0;
  const bool ignores = !info && action.sa_handler == SIG_IGN, plain = !info && action.sa_handler == SIG_DFL;
  pages.ignored.fetch_and(~bit(signal));
  pages.handled.fetch_and(~bit(signal));
  if (ignores) pages.ignored.fetch_or(bit(signal));
  if (!ignores && !plain) pages.handled.fetch_or(bit(signal));
  restarts[signal] = (action.sa_flags & SA_RESTART) != 0;
}

}  // namespace

namespace isochron::interpose {

bool restarts_calls(int signal) { return signal > 0 && signal < 65 && restarts[signal]; }

std::uint32_t children_told() { return told; }

// The kernel's own word of a child that ended does not count.
bool is_handled(int signal) {
  return signal != SIGCHLD && signal > 0 && signal < 65 && (shared_pages()->handled.load() & bit(signal)) != 0;
}

void forget_handlers() {
  for (int signal = 1; signal < 65; ++signal) {
    struct sigaction action {};
    if (libc_sigaction(signal, nullptr, &action) == 0) note(signal, action);
  }
}

}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

int sigaction(int signal, const struct sigaction* __restrict asked, struct sigaction* __restrict old) {
  struct sigaction without {};  // of blocking what is needed here
  const struct sigaction* action = asked;
  if (asked != nullptr && attached()) {
    without = *asked;
    let_through(without.sa_mask);
    action = &without;
  }
  if (is_kept(signal) && attached()) {
    if (action != nullptr && in_stack()) note(signal, *action);
    return keep_action(signal, action, old);
  }
  if (!in_stack() || signal < 1 || signal > 64) return libc_sigaction(signal, action, old);
  struct sigaction before {};
  if (action != nullptr && (signal == SIGKILL || signal == SIGSTOP)) return returned(-EINVAL);
  if (signal != SIGCHLD) {
    const int result = libc_sigaction(signal, action, old);
    if (result == 0 && action != nullptr) note(signal, *action);
    return result;
  }
  before = of_children;
  if (action != nullptr) {
    const bool function =
        (action->sa_flags & SA_SIGINFO) != 0 || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
    struct sigaction ours = *action;
    if (function) {
      ours.sa_sigaction = on_child;
      ours.sa_flags |= SA_SIGINFO;
    }
    if (!function && action->sa_handler == SIG_IGN) ours.sa_handler = SIG_DFL;  // or nobody could wait for them
    if (const int result = libc_sigaction(signal, &ours, nullptr); result != 0) return result;
    of_children = *action;
    note(signal, *action);
  }
  if (old != nullptr) *old = before;
  return 0;
}
int __sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  return sigaction(signal, action, old);
}

sighandler_t signal(int signal, sighandler_t handler) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

int pthread_sigmask(int how, const sigset_t* __restrict set, sigset_t* __restrict old) {
  if (set == nullptr || how == SIG_UNBLOCK || !attached()) return libc_pthread_sigmask(how, set, old);
  sigset_t without = *set;
  let_through(without);
  return libc_pthread_sigmask(how, &without, old);
}
int sigprocmask(int how, const sigset_t* __restrict set, sigset_t* __restrict old) {
  const int error = pthread_sigmask(how, set, old);
  return error == 0 ? 0 : returned(-error);
}
sighandler_t bsd_signal(int number, sighandler_t handler) { return signal(number, handler); }

}  // extern "C"
#pragma GCC visibility pop
