#include "link/reactor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/input_error.hpp"
#include "link/tcp.hpp"
#include "link/udp.hpp"

namespace isochron::link {
namespace {

Fd opened(int fd, const char* what) {
  if (fd < 0) {
    throw InputError({"", 0, 0}, std::string(what) + " is not available: " + std::generic_category().message(errno),
                     "allow this process more open files with `ulimit -n`");
  }
  return Fd(fd);
}

/// Reads the counter of a timerfd or eventfd, so that it is not readable any more.
void drain(const Fd& fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto n = ::read(fd.get(), &count, sizeof count);
}

/// A descriptor of the user's. The front is the user's, the state is shared with a round that may be inside it.
class WatchState final : public Source {
 public:
  WatchState(int watched, std::function<void()> call) : fd(watched), on_readable(std::move(call)) {}
  void ready(std::uint32_t) override {
    if (open) on_readable();
  }
  int fd;
  std::function<void()> on_readable;
  bool open = true;
};

class FdWatch final : public Watch {
 public:
  FdWatch(EpollReactor& reactor, std::shared_ptr<WatchState> state) : reactor_(reactor), state_(std::move(state)) {
    reactor_.set_interest(state_->fd, *state_, 0, EPOLLIN);
    reactor_.count_object(1);
  }
  ~FdWatch() override {
    state_->open = false;
    reactor_.set_interest(state_->fd, *state_, EPOLLIN, 0);
    reactor_.bury(std::move(state_));
    reactor_.count_object(-1);
  }

 private:
  EpollReactor& reactor_;
  std::shared_ptr<WatchState> state_;
};

}  // namespace

EpollReactor::EpollReactor(const Options& options)
    : options_(options),
      epoll_(opened(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      timer_(opened(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd")),
      wake_(opened(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")),
      read_buffer_(64 * 1024),
      batch_(std::make_unique<DatagramBatch>()) {
  for (Fd* fd : {&timer_, &wake_}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = fd;
    ENSURE(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd->get(), &event) == 0, "epoll takes our own descriptors");
  }
}

EpollReactor::~EpollReactor() {
  // What closures own goes with them, and may cancel, post and bury more as it goes.
  timers_.clear();
  while (!posted_.empty()) const auto dropped = std::exchange(posted_, {});
  empty_graveyard();
  ENSURE(objects_ == 0, "a stream, listener or datagram port outlived its reactor");
}

WallTime EpollReactor::now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return WallTime::from_ns(t.tv_sec * 1'000'000'000 + t.tv_nsec);
}

void EpollReactor::post(std::function<void()> what) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(what));
    has_posted_.store(true, std::memory_order_release);
  }
  // Our own thread looks at the queue before it sleeps; and whoever posted first has woken it already.
  if (first && thread_.load(std::memory_order_relaxed) != std::this_thread::get_id()) wake();
}

void EpollReactor::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(wake_.get(), &one, sizeof one);
}

void EpollReactor::stop() {
  stop_.store(true, std::memory_order_release);
  if (thread_.load(std::memory_order_relaxed) != std::this_thread::get_id()) wake();
}

bool EpollReactor::run_posted() {
  if (!has_posted_.load(std::memory_order_acquire)) return false;
  {
    const std::lock_guard lock(mutex_);
    running_.swap(posted_);
    has_posted_.store(false, std::memory_order_relaxed);
  }
  std::size_t done = 0;
  try {
    while (done < running_.size()) std::exchange(running_[done++], nullptr)();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    posted_.insert(posted_.begin(), std::make_move_iterator(running_.begin() + static_cast<std::ptrdiff_t>(done)),
                   std::make_move_iterator(running_.end()));
    running_.clear();
    has_posted_.store(!posted_.empty(), std::memory_order_release);
    throw;
  }
  running_.clear();
  return true;
}

/// Sets the timerfd only when it would come too late; too early costs one idle round, less than a system call each
/// time.
void EpollReactor::arm_timer() {
  const WallTime next = timers_.next();
  if (next >= armed_) return;
  armed_ = next;
  itimerspec spec{};
  const std::int64_t ns = std::max<std::int64_t>(next.ns(), 1);  // 0 would disarm it
  spec.it_value = {ns / 1'000'000'000, ns % 1'000'000'000};
  ENSURE(::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0, "the timer takes any time");
}

void EpollReactor::wait_and_dispatch() {
  std::array<epoll_event, 64> events;
  const int room = static_cast<int>(events.size());
  const bool busy = has_posted_.load(std::memory_order_acquire) || stop_.load(std::memory_order_acquire);
  int n = ::epoll_wait(epoll_.get(), events.data(), room, busy || options_.spin > WallSpan::zero() ? 0 : -1);
  if (n == 0 && !busy) {
    const WallTime until = now() + options_.spin;
    while (n == 0 && now() < until) n = ::epoll_wait(epoll_.get(), events.data(), room, 0);
    if (n == 0) n = ::epoll_wait(epoll_.get(), events.data(), room, -1);
  }
  if (n > 0) dispatch(std::span(events).first(static_cast<std::size_t>(n)));
}

/// Whether any of them was more than our own timer or bell.
bool EpollReactor::dispatch(std::span<const epoll_event> events) {
  bool any = false;
  for (const epoll_event& event : events) {
    void* who = event.data.ptr;
    if (who == &timer_) {
      drain(timer_);
      armed_ = WallTime::never();
    } else if (who == &wake_) {
      drain(wake_);
    } else {
      static_cast<Source*>(who)->ready(event.events);
      any = true;
    }
  }
  return any;
}

void EpollReactor::empty_graveyard() {
  while (!graveyard_.empty()) {
    burying_.swap(graveyard_);
    burying_.clear();  // what goes here may bury what it owned
  }
}

namespace {
/// The reactor's thread is this one.
struct Running {
  explicit Running(std::atomic<std::thread::id>& whose) : thread(whose) {
    ENSURE(thread.load(std::memory_order_relaxed) == std::thread::id{}, "one thread runs a reactor at a time");
    thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~Running() { thread.store({}, std::memory_order_relaxed); }
  std::atomic<std::thread::id>& thread;
};
}  // namespace

bool EpollReactor::poll(WallTime until) {
  const Running running(thread_);
  bool any = run_posted();
  const WallTime begun = now();
  if (timers_.next() <= begun) {
    timers_.fire(begun);
    any = true;
  }
  const WallSpan most = any ? WallSpan::zero() : std::max(std::min(until, timers_.next()) - begun, WallSpan::zero());
  const timespec wait{most.ns() / 1'000'000'000, most.ns() % 1'000'000'000};
  std::array<epoll_event, 64> events;
  int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  if (n == 0 && most > WallSpan::zero()) {
    n = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()), &wait, nullptr);
  }
  if (n > 0) any = dispatch(std::span(events).first(static_cast<std::size_t>(n))) || any;
  any = run_posted() || any;
  empty_graveyard();
  return any;
}

void EpollReactor::run() {
  const Running running(thread_);
  while (!stop_.exchange(false, std::memory_order_acquire)) {
    run_posted();
    if (timers_.next() != WallTime::never()) timers_.fire(now());
    arm_timer();
    wait_and_dispatch();
    empty_graveyard();
  }
}

void EpollReactor::set_interest(int fd, Source& source, std::uint32_t known, std::uint32_t wanted) {
  if (known == wanted) return;
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = &source;
  const int what = known == 0 ? EPOLL_CTL_ADD : wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  ENSURE(::epoll_ctl(epoll_.get(), what, fd, &event) == 0, "epoll takes an open descriptor");
}

std::unique_ptr<Watch> EpollReactor::watch(int fd, std::function<void()> on_readable) {
  return std::make_unique<FdWatch>(*this, std::make_shared<WatchState>(fd, std::move(on_readable)));
}

Result<std::unique_ptr<Listener>, NetError> EpollReactor::listen(
    const Address& at, std::function<void(std::unique_ptr<Stream>)> on_accept) {
  return listen_tcp(*this, at, std::move(on_accept));
}

std::unique_ptr<Stream> EpollReactor::connect(const Address& to) { return connect_tcp(*this, to); }

Result<std::unique_ptr<DatagramPort>, NetError> EpollReactor::open_datagrams(const Address& at) {
  return open_udp(*this, at);
}

}  // namespace isochron::link
