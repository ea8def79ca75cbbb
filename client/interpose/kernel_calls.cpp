// System calls by their numbers, for programs that make them without libc or through its `syscall`: each is done as
// libc's function of its name is done here. What is not in the table passes to the kernel: it knows no time and no
// descriptor that is simulated.

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/interpose/raw_calls.hpp"
#include "client/interpose/system.hpp"

using namespace isochron::interpose;
using isochron::client::plain_call;
using isochron::client::real_process_id;

namespace {

template <class T>
T* to(long value) {
  return reinterpret_cast<T*>(value);
}
int number(long value) { return static_cast<int>(value); }
std::size_t size(long value) { return static_cast<std::size_t>(value); }
/// As the kernel returns what libc's functions do.
long done(long result) { return result == -1 ? -errno : result; }

/// The kernel's signal sets have 64 bits, libc's have more.
class Mask {
 public:
  explicit Mask(const void* kernels) : there_(kernels != nullptr) {
    sigemptyset(&set_);
    if (there_) memcpy(&set_, kernels, sizeof(std::uint64_t));
  }
  [[nodiscard]] const sigset_t* get() const { return there_ ? &set_ : nullptr; }

 private:
  bool there_;
  sigset_t set_;
};

struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};
constexpr unsigned long has_restorer = 0x04000000;

long set_action(int signal, const KernelAction* action, KernelAction* old) {
  struct sigaction ours {};
  struct sigaction before {};
  if (action != nullptr) {
    ours.sa_handler = action->handler;
    ours.sa_flags = static_cast<int>(action->flags & ~has_restorer);
    memcpy(&ours.sa_mask, &action->mask, sizeof action->mask);
  }
  const long result = done(sigaction(signal, action != nullptr ? &ours : nullptr, &before));
  if (result == 0 && old != nullptr) {
    old->handler = before.sa_handler;
    old->flags = static_cast<unsigned long>(before.sa_flags);
    old->restorer = nullptr;
    memcpy(&old->mask, &before.sa_mask, sizeof old->mask);
  }
  return result;
}

/// Where a call was caught the mask that counts is the one that is restored when its handler returns.
long set_mask(const long (&a)[6], ucontext_t* context) {
  sigset_t set{}, before{};
  if (a[1] != 0) memcpy(&set, to<void>(a[1]), sizeof(std::uint64_t));
  const int error = pthread_sigmask(number(a[0]), a[1] != 0 ? &set : nullptr, &before);
  if (error != 0) return -error;
  if (a[2] != 0) memcpy(to<void>(a[2]), &before, sizeof(std::uint64_t));
  if (context != nullptr && a[1] != 0) {
    pthread_sigmask(SIG_SETMASK, nullptr, &set);
    memcpy(&context->uc_sigmask, &set, sizeof(std::uint64_t));
  }
  return 0;
}

/// The same of the signal stack.
long set_stack(const long (&a)[6], ucontext_t* context) {
  if (context == nullptr) return done(sigaltstack(to<const stack_t>(a[0]), to<stack_t>(a[1])));
  const stack_t before = context->uc_stack;
  if (a[0] != 0) context->uc_stack = *to<const stack_t>(a[0]);
  if (a[1] != 0) *to<stack_t>(a[1]) = before;
  return 0;
}

long make_process(unsigned long flags, [[maybe_unused]] long stack, [[maybe_unused]] ucontext_t* context) {
  if ((flags & CLONE_VM) != 0 && (flags & CLONE_VFORK) == 0) {
    tell_refused("makes a thread without libc (clone), which cannot be followed");
    return -EPERM;
  }
  if ((flags & (CLONE_PIDFD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID)) != 0) return -EINVAL;
  const long child = done(fork());
#if defined(__x86_64__)
  if (child == 0 && stack != 0 && context != nullptr) context->uc_mcontext.gregs[REG_RSP] = stack;
#endif
  return child;
}

pid_t real_thread(long thread) { return thread == getpid() ? real_process_id() : static_cast<pid_t>(thread); }

long select_call(const long (&a)[6]) {
  const timespec* limit = to<timespec>(a[4]);
  struct Given {
    const void* set;
    std::size_t size;
  };
  const Mask mask(a[5] != 0 ? to<Given>(a[5])->set : nullptr);
  return done(pselect(number(a[0]), to<fd_set>(a[1]), to<fd_set>(a[2]), to<fd_set>(a[3]), limit, mask.get()));
}

// Those that the kernel need not have either: who finds them missing does without.
bool is_left_out(long call) {
  switch (call) {
    case SYS_io_uring_setup:
    case SYS_io_setup:
    case SYS_clone3:
#if defined(SYS_futex_waitv)
    case SYS_futex_waitv:
#endif
      return true;
    default:
      return false;
  }
}

long time_call(long call, const long (&a)[6], bool& known) {
  switch (call) {
    case SYS_clock_gettime:
      return done(clock_gettime(number(a[0]), to<timespec>(a[1])));
    case SYS_gettimeofday:
      return done(gettimeofday(to<timeval>(a[0]), to<void>(a[1])));
    case SYS_clock_nanosleep:
      return -clock_nanosleep(number(a[0]), number(a[1]), to<timespec>(a[2]), to<timespec>(a[3]));
    case SYS_nanosleep:
      return done(nanosleep(to<timespec>(a[0]), to<timespec>(a[1])));
    case SYS_times:
      return done(times(to<tms>(a[0])));
    case SYS_getrusage:
      return done(getrusage(static_cast<__rusage_who_t>(a[0]), to<rusage>(a[1])));
    case SYS_futex:
      return futex_call(a);
    case SYS_getrandom:
      return done(getrandom(to<void>(a[0]), size(a[1]), static_cast<unsigned>(a[2])));
    case SYS_sched_yield:
      return done(sched_yield());
    case SYS_timerfd_create:
      return done(timerfd_create(number(a[0]), number(a[1])));
    case SYS_timerfd_settime:
      return done(timerfd_settime(number(a[0]), number(a[1]), to<itimerspec>(a[2]), to<itimerspec>(a[3])));
    case SYS_timerfd_gettime:
      return done(timerfd_gettime(number(a[0]), to<itimerspec>(a[1])));
    case SYS_setitimer:
      return done(setitimer(static_cast<__itimer_which_t>(a[0]), to<itimerval>(a[1]), to<itimerval>(a[2])));
    case SYS_getitimer:
      return done(getitimer(static_cast<__itimer_which_t>(a[0]), to<itimerval>(a[1])));
#if defined(__x86_64__)
    case SYS_time:
      return time(to<time_t>(a[0]));
    case SYS_alarm:
      return static_cast<long>(alarm(static_cast<unsigned>(a[0])));
#endif
    case SYS_timer_create:
      tell_refused("makes a timer without libc (timer_create), which cannot be followed");
      return -ENOSYS;
    default:
      known = false;
      return 0;
  }
}

long file_call(long call, const long (&a)[6], bool& known) {
  switch (call) {
    case SYS_read:
      return done(read(number(a[0]), to<void>(a[1]), size(a[2])));
    case SYS_write:
      return done(write(number(a[0]), to<void>(a[1]), size(a[2])));
    case SYS_readv:
      return done(readv(number(a[0]), to<iovec>(a[1]), number(a[2])));
    case SYS_writev:
      return done(writev(number(a[0]), to<iovec>(a[1]), number(a[2])));
    case SYS_close:
      return done(close(number(a[0])));
    case SYS_close_range:
      return done(close_range(static_cast<unsigned>(a[0]), static_cast<unsigned>(a[1]), number(a[2])));
    case SYS_openat:
      return done(openat(number(a[0]), to<char>(a[1]), number(a[2]), static_cast<mode_t>(a[3])));
    case SYS_dup:
      return done(dup(number(a[0])));
    case SYS_dup3:
      return done(dup3(number(a[0]), number(a[1]), number(a[2])));
    case SYS_pipe2:
      return done(pipe2(to<int>(a[0]), number(a[1])));
    case SYS_fcntl:
      return done(fcntl(number(a[0]), number(a[1]), to<void>(a[2])));
    case SYS_ioctl:
      return done(ioctl(number(a[0]), static_cast<unsigned long>(a[1]), to<void>(a[2])));
    case SYS_eventfd2:
      return done(eventfd(static_cast<unsigned>(a[0]), number(a[1])));
    case SYS_sendfile:
      return done(sendfile(number(a[0]), number(a[1]), to<off_t>(a[2]), size(a[3])));
    case SYS_splice:
      return done(splice(number(a[0]), to<off64_t>(a[1]), number(a[2]), to<off64_t>(a[3]), size(a[4]),
                         static_cast<unsigned>(a[5])));
    case SYS_copy_file_range:
      return done(copy_file_range(number(a[0]), to<off64_t>(a[1]), number(a[2]), to<off64_t>(a[3]), size(a[4]),
                                  static_cast<unsigned>(a[5])));
    case SYS_ppoll:
      return done(ppoll(to<pollfd>(a[0]), static_cast<nfds_t>(a[1]), to<timespec>(a[2]), Mask(to<void>(a[3])).get()));
    case SYS_pselect6:
      return select_call(a);
    case SYS_epoll_create1:
      return done(epoll_create1(number(a[0])));
    case SYS_epoll_ctl:
      return done(epoll_ctl(number(a[0]), number(a[1]), number(a[2]), to<epoll_event>(a[3])));
    case SYS_epoll_pwait:
      return done(
          epoll_pwait(number(a[0]), to<epoll_event>(a[1]), number(a[2]), number(a[3]), Mask(to<void>(a[4])).get()));
#if defined(SYS_epoll_pwait2)
    case SYS_epoll_pwait2:
      return done(epoll_pwait2(number(a[0]), to<epoll_event>(a[1]), number(a[2]), to<timespec>(a[3]),
                               Mask(to<void>(a[4])).get()));
#endif
#if defined(__x86_64__)
    case SYS_open:
      return done(open(to<char>(a[0]), number(a[1]), static_cast<mode_t>(a[2])));
    case SYS_dup2:
      return done(dup2(number(a[0]), number(a[1])));
    case SYS_pipe:
      return done(pipe(to<int>(a[0])));
    case SYS_eventfd:
      return done(eventfd(static_cast<unsigned>(a[0]), 0));
    case SYS_poll:
      return done(poll(to<pollfd>(a[0]), static_cast<nfds_t>(a[1]), number(a[2])));
    case SYS_select:
      return done(select(number(a[0]), to<fd_set>(a[1]), to<fd_set>(a[2]), to<fd_set>(a[3]), to<timeval>(a[4])));
    case SYS_epoll_create:
      return done(epoll_create(number(a[0])));
    case SYS_epoll_wait:
      return done(epoll_wait(number(a[0]), to<epoll_event>(a[1]), number(a[2]), number(a[3])));
#endif
    default:
      known = false;
      return 0;
  }
}

long socket_call(long call, const long (&a)[6], bool& known) {
  const int socket = number(a[0]);
  auto* address = to<sockaddr>(a[1]);
  switch (call) {
    case SYS_socket:
      return done(::socket(socket, number(a[1]), number(a[2])));
    case SYS_socketpair:
      return done(socketpair(socket, number(a[1]), number(a[2]), to<int>(a[3])));
    case SYS_bind:
      return done(bind(socket, address, static_cast<socklen_t>(a[2])));
    case SYS_listen:
      return done(listen(socket, number(a[1])));
    case SYS_accept:
      return done(accept(socket, address, to<socklen_t>(a[2])));
    case SYS_accept4:
      return done(accept4(socket, address, to<socklen_t>(a[2]), number(a[3])));
    case SYS_connect:
      return done(connect(socket, address, static_cast<socklen_t>(a[2])));
    case SYS_shutdown:
      return done(shutdown(socket, number(a[1])));
    case SYS_getsockname:
      return done(getsockname(socket, address, to<socklen_t>(a[2])));
    case SYS_getpeername:
      return done(getpeername(socket, address, to<socklen_t>(a[2])));
    case SYS_setsockopt:
      return done(setsockopt(socket, number(a[1]), number(a[2]), to<void>(a[3]), static_cast<socklen_t>(a[4])));
    case SYS_getsockopt:
      return done(getsockopt(socket, number(a[1]), number(a[2]), to<void>(a[3]), to<socklen_t>(a[4])));
    case SYS_sendto:
      return done(
          sendto(socket, to<void>(a[1]), size(a[2]), number(a[3]), to<sockaddr>(a[4]), static_cast<socklen_t>(a[5])));
    case SYS_recvfrom:
      return done(recvfrom(socket, to<void>(a[1]), size(a[2]), number(a[3]), to<sockaddr>(a[4]), to<socklen_t>(a[5])));
    case SYS_sendmsg:
      return done(sendmsg(socket, to<msghdr>(a[1]), number(a[2])));
    case SYS_recvmsg:
      return done(recvmsg(socket, to<msghdr>(a[1]), number(a[2])));
    case SYS_sendmmsg:
      return done(sendmmsg(socket, to<mmsghdr>(a[1]), static_cast<unsigned>(a[2]), number(a[3])));
    case SYS_recvmmsg:
      return done(recvmmsg(socket, to<mmsghdr>(a[1]), static_cast<unsigned>(a[2]), number(a[3]), to<timespec>(a[4])));
    default:
      known = false;
      return 0;
  }
}

long process_call(long call, const long (&a)[6], ucontext_t* context, bool& known) {
  switch (call) {
    case SYS_getpid:
      return getpid();
    case SYS_getppid:
      return getppid();
    case SYS_gettid:
      return gettid();
    case SYS_kill:
      return done(kill(static_cast<pid_t>(a[0]), number(a[1])));
    case SYS_tkill:
      return plain_call(call, real_thread(a[0]), a[1]);
    case SYS_tgkill:
      return plain_call(call, real_thread(a[0]), real_thread(a[1]), a[2]);
    case SYS_wait4:
      return done(wait4(static_cast<pid_t>(a[0]), to<int>(a[1]), number(a[2]), to<rusage>(a[3])));
    case SYS_waitid:
      return done(waitid(static_cast<idtype_t>(a[0]), static_cast<id_t>(a[1]), to<siginfo_t>(a[2]), number(a[3])));
    case SYS_clone:
      return make_process(static_cast<unsigned long>(a[0]), a[1], context);
    case SYS_execve:
      return done(execve(to<char>(a[0]), to<char*>(a[1]), to<char*>(a[2])));
#if defined(__x86_64__)
    case SYS_fork:
    case SYS_vfork:
      return make_process(0, 0, context);
#endif
    case SYS_sched_getaffinity:
      // libc's says nothing of how much the kernel wrote.
      if (const long error = done(sched_getaffinity(static_cast<pid_t>(a[0]), size(a[1]), to<cpu_set_t>(a[2])))) {
        return error;
      }
      return a[1] < 8 ? a[1] : 8;
    case SYS_uname:
      return done(uname(to<utsname>(a[0])));
    case SYS_rt_sigaction:
      if (a[0] == 32 || a[0] == 33) break;  // libc's own
      return set_action(number(a[0]), to<KernelAction>(a[1]), to<KernelAction>(a[2]));
    case SYS_rt_sigprocmask:
      return set_mask(a, context);
    case SYS_rt_sigsuspend:
      return done(sigsuspend(Mask(to<void>(a[0])).get()));
    case SYS_sigaltstack:
      return set_stack(a, context);
    default:
      break;
  }
  known = false;
  return 0;
}

}  // namespace

namespace isochron::interpose {

long mediated_call(long call, const long (&a)[6], ucontext_t* context) {
  if (attached()) {
    if (is_left_out(call)) return -ENOSYS;
    for (const auto part : {time_call, file_call, socket_call}) {
      bool known = true;
      const long result = part(call, a, known);
      if (known) return result;
    }
    bool known = true;
    const long result = process_call(call, a, context, known);
    if (known) return result;
  }
  return plain_call(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

// Futures, std::atomic::wait and language run-times come through here.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  return returned<long>(mediated_call(number, a, nullptr));
}

}  // extern "C"
#pragma GCC visibility pop
