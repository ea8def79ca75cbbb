#pragma once
// Waiting for descriptors of the simulated system, also together with some of the kernel's. A limit of 0: only look.

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

#include <cstdint>

namespace isochron::interpose {

int poll_until(pollfd* set, nfds_t count, std::int64_t limit);
int select_until(int count, fd_set* const (&sets)[3], std::int64_t limit);
int epoll_until(int set, epoll_event* events, int most, std::int64_t limit);

int remember_clock(int timer, clockid_t clock);
int set_timer(int descriptor, bool absolute, const itimerspec& value, itimerspec* old);
int get_timer(int descriptor, itimerspec& value);

/// The signals that a wait lets through, for as long as it waits.
class MaskedSignals {
 public:
  explicit MaskedSignals(const sigset_t* mask) : masked_(mask != nullptr) {
    if (masked_) pthread_sigmask(SIG_SETMASK, mask, &before_);
  }
  ~MaskedSignals() {
    if (masked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  MaskedSignals(const MaskedSignals&) = delete;
  MaskedSignals& operator=(const MaskedSignals&) = delete;

 private:
  bool masked_;
  sigset_t before_;
};

}  // namespace isochron::interpose
