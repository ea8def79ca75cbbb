#include "link/tcp.hpp"

#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <vector>

#include "link/socket.hpp"

namespace isochron::link {
namespace {

constexpr int user_timeout_ms = 20'000;
constexpr int accepts_in_a_round = 64;

/// Bytes that the kernel did not take yet: a vector that is eaten from the front.
class SendQueue {
 public:
  [[nodiscard]] std::size_t size() const { return bytes_.size() - eaten_; }
  [[nodiscard]] std::span<const std::byte> front() const { return std::span(bytes_).subspan(eaten_); }
  void push(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void eat(std::size_t n) {
    eaten_ += n;
    if (eaten_ == bytes_.size()) return clear();
    if (eaten_ < bytes_.size() / 2) return;
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(eaten_));
    eaten_ = 0;
  }
  void clear() {
    bytes_.clear();
    eaten_ = 0;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t eaten_ = 0;
};

/// What a clock shows, in nanoseconds.
std::int64_t clock_ns(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

/// The kernel notes arrivals by CLOCK_REALTIME; we count by CLOCK_MONOTONIC. Only how long ago it was is taken over.
std::optional<WallTime> arrival_in(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_TIMESTAMPING) continue;
    const auto* stamps = reinterpret_cast<const scm_timestamping*>(CMSG_DATA(part));
    const std::int64_t stamp = stamps->ts[0].tv_sec * 1'000'000'000LL + stamps->ts[0].tv_nsec;
    const std::int64_t ago = clock_ns(CLOCK_REALTIME) - stamp;
    if (stamp == 0 || ago < 0 || ago > 3'600'000'000'000) return std::nullopt;  // the real-time clock was set meanwhile
    return WallTime::from_ns(clock_ns(CLOCK_MONOTONIC) - ago);
  }
  return std::nullopt;
}

ssize_t receive_stamped(const Fd& socket, std::span<std::byte> buffer, std::optional<WallTime>& arrived) {
  iovec piece{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<std::byte, 256> control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto n = ::recvmsg(socket.get(), &message, MSG_DONTWAIT);
  arrived = n > 0 ? arrival_in(message) : std::nullopt;
  return n;
}

/// One socket. Lives until the round is over in which its stream was destroyed; `open` says whether it was.
class TcpState final : public Source, public std::enable_shared_from_this<TcpState> {
 public:
  TcpState(EpollReactor& reactor, Fd socket, const Address& peer, bool connecting)
      : reactor_(reactor), socket_(std::move(socket)), peer_(peer), connecting_(connecting) {
    set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket_, IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_ms);
    update_interest();
  }
  /// A connection that failed before it began.
  TcpState(EpollReactor& reactor, const Address& peer, NetError why)
      : reactor_(reactor), peer_(peer), failed_(std::move(why)) {}

  void ready(std::uint32_t events) override {
    if (!socket_.open()) return;  // closed by another callback of this round
    if (connecting_) return finish_connecting();
    if ((events & EPOLLOUT) != 0) flush();
    if (!open_ || (events & ~std::uint32_t{EPOLLOUT}) == 0) return;
    if (reading()) {
      read();
    } else {
      // Broken while nobody reads. The rest can be read, and the end told, when somebody does.
      queue_.clear();
      broken_ = true;
      update_interest();
    }
  }

  void set_events(Stream::Events events) {
    if (events_) reactor_.bury(std::move(events_));  // it may be running
    events_ = std::make_shared<Stream::Events>(std::move(events));
    if (failed_) return report_failure_soon();
    update_interest();
  }

  void send(std::span<const std::byte> bytes) {
    if (!socket_.open() || broken_) return;
    if (!connecting_ && queue_.size() == 0) bytes = bytes.subspan(send_now(bytes));
    if (broken_ || bytes.empty()) return;
    queue_.push(bytes);
    update_interest();
  }

  void pause(bool pause) {
    paused_ = pause;
    update_interest();
  }

  void close() {
    open_ = false;
    forget_socket();
  }

  void stamp_arrivals() {
    if (!socket_.open()) return;
    const int what = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    stamping_ = ::setsockopt(socket_.get(), SOL_SOCKET, SO_TIMESTAMPING, &what, sizeof what) == 0;
  }
  [[nodiscard]] const std::optional<WallTime>& arrived() const { return arrived_; }

  [[nodiscard]] std::size_t pending() const { return queue_.size(); }
  [[nodiscard]] const Address& peer() const { return peer_; }
  [[nodiscard]] EpollReactor& reactor() { return reactor_; }

 private:
  [[nodiscard]] bool reading() const { return events_ && !paused_; }

  void update_interest() {
    if (!socket_.open()) return;
    std::uint32_t wanted = 0;
    if (!connecting_ && reading()) wanted |= EPOLLIN;
    if (connecting_ || queue_.size() > 0) wanted |= EPOLLOUT;
    reactor_.set_interest(socket_.get(), *this, interest_, wanted);
    interest_ = wanted;
  }

  void forget_socket() {
    if (!socket_.open()) return;
    reactor_.set_interest(socket_.get(), *this, interest_, 0);
    interest_ = 0;
    socket_.reset();
    queue_.clear();
  }

  /// What the kernel takes; marks the stream broken when it takes nothing ever again. The reading side tells.
  std::size_t send_now(std::span<const std::byte> bytes) {
    const auto n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) return 0;
    broken_ = true;
    queue_.clear();
    update_interest();
    return 0;
  }

  void flush() {
    if (queue_.size() == 0) return;
    queue_.eat(send_now(queue_.front()));
    if (queue_.size() > 0 || broken_) return;
    update_interest();
    const auto events = events_.get();
    if (events != nullptr && events->on_writable) events->on_writable();
  }

  void finish_connecting() {
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    connecting_ = false;
    if (error != 0) {
      failed_ = net_error(error, peer_);
      forget_socket();
      if (events_) tell_closed(*failed_);
      return;
    }
    update_interest();
    flush();
  }

  void read() {
    const auto buffer = reactor_.read_buffer();
    const auto n = stamping_ ? receive_stamped(socket_, buffer, arrived_)
                             : ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
      const auto events = events_.get();
      if (events->on_bytes) events->on_bytes(buffer.first(static_cast<std::size_t>(n)));
    } else if (n == 0) {
      tell_closed({NetFault::closed, to_string(peer_) + " closed the connection"});
    } else if (errno != EAGAIN && errno != EINTR) {
      tell_closed(net_error(errno, peer_));
    }
  }

  void report_failure_soon() {
    reactor_.post([self = shared_from_this()] {
      if (self->open_ && !self->told_) self->tell_closed(*self->failed_);
    });
  }

  void tell_closed(const NetError& why) {
    told_ = true;
    forget_socket();
    const auto events = events_;
    if (events->on_closed) events->on_closed(why);
  }

  EpollReactor& reactor_;
  Fd socket_;
  Address peer_;
  std::shared_ptr<Stream::Events> events_;  // shared with the graveyard while a replaced one may still run
  SendQueue queue_;
  std::optional<NetError> failed_;
  std::optional<WallTime> arrived_;
  std::uint32_t interest_ = 0;
  bool stamping_ = false;
  bool connecting_ = false;
  bool paused_ = false;
  bool broken_ = false;  // nothing can be sent any more
  bool told_ = false;    // on_closed was called
  bool open_ = true;     // its stream is there
};

class TcpStream final : public Stream {
 public:
  explicit TcpStream(std::shared_ptr<TcpState> state) : state_(std::move(state)) { state_->reactor().count_object(1); }
  ~TcpStream() override {
    EpollReactor& reactor = state_->reactor();
    state_->close();
    reactor.bury(std::move(state_));
    reactor.count_object(-1);
  }
  void set_events(Events events) override { state_->set_events(std::move(events)); }
  void send(std::span<const std::byte> bytes) override { state_->send(bytes); }
  [[nodiscard]] std::size_t pending() const override { return state_->pending(); }
  [[nodiscard]] Address peer() const override { return state_->peer(); }
  void pause_reading(bool pause) override { state_->pause(pause); }
  void stamp_arrivals() override { state_->stamp_arrivals(); }
  [[nodiscard]] std::optional<WallTime> arrived() const override { return state_->arrived(); }

 private:
  std::shared_ptr<TcpState> state_;  // shared with the round that may be inside it
};

class ListenerState final : public Source, public std::enable_shared_from_this<ListenerState> {
 public:
  ListenerState(EpollReactor& reactor, Fd socket, std::function<void(std::unique_ptr<Stream>)> on_accept)
      : reactor_(reactor),
        socket_(std::move(socket)),
        spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
        on_accept_(std::move(on_accept)) {
    listen(true);
  }

  void ready(std::uint32_t) override {
    for (int i = 0; i < accepts_in_a_round && socket_.open(); ++i) {
      SocketAddress peer{};
      socklen_t length = sizeof peer;
      Fd socket(::accept4(socket_.get(), &peer.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.open()) {
        if (errno == EMFILE || errno == ENFILE) turn_away();
        return;
      }
      auto state = std::make_shared<TcpState>(reactor_, std::move(socket), from_system(peer), false);
      on_accept_(std::make_unique<TcpStream>(std::move(state)));
    }
  }

  void close() {
    listen(false);
    socket_.reset();
  }
  [[nodiscard]] Address local() const { return local_address(socket_); }
  [[nodiscard]] EpollReactor& reactor() { return reactor_; }

 private:
  void listen(bool wanted) {
    if (wanted == listening_) return;
    constexpr std::uint32_t nothing = 0, callers = EPOLLIN;
    reactor_.set_interest(socket_.get(), *this, listening_ ? callers : nothing, wanted ? callers : nothing);
    listening_ = wanted;
  }

  /// No descriptor is left for the caller. With the spare one it is let in and shown out, or it would wake us forever;
  /// where even that one is gone, it waits a while.
  void turn_away() {
    spare_.reset();
    Fd caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller.open()) return rest();
    caller.reset();
    spare_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }

  void rest() {
    listen(false);
    reactor_.call_at(reactor_.now() + WallSpan(std::chrono::milliseconds(100)), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || !self->socket_.open()) return;
      if (!self->spare_.open()) self->spare_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      self->listen(true);
    });
  }

  EpollReactor& reactor_;
  Fd socket_;
  Fd spare_;
  bool listening_ = false;
  std::function<void(std::unique_ptr<Stream>)> on_accept_;
};

class TcpListener final : public Listener {
 public:
  explicit TcpListener(std::shared_ptr<ListenerState> state) : state_(std::move(state)), local_(state_->local()) {
    state_->reactor().count_object(1);
  }
  ~TcpListener() override {
    EpollReactor& reactor = state_->reactor();
    state_->close();
    reactor.bury(std::move(state_));
    reactor.count_object(-1);
  }
  [[nodiscard]] Address local() const override { return local_; }

 private:
  std::shared_ptr<ListenerState> state_;  // shared with the round that may be inside it
  Address local_;
};

}  // namespace

Result<std::unique_ptr<Listener>, NetError> listen_tcp(EpollReactor& reactor, const Address& at,
                                                       std::function<void(std::unique_ptr<Stream>)> on_accept) {
  auto socket = bound_socket(at, SOCK_STREAM);
  if (!socket) return fail(socket.error());
  if (::listen(socket->get(), SOMAXCONN) != 0) return fail(net_error(errno, at));
  auto state = std::make_shared<ListenerState>(reactor, std::move(*socket), std::move(on_accept));
  return std::unique_ptr<Listener>(std::make_unique<TcpListener>(std::move(state)));
}

std::unique_ptr<Stream> connect_tcp(EpollReactor& reactor, const Address& to) {
  Fd socket(::socket(family_of(to), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  SocketAddress address;
  const socklen_t length = to_system(to, family_of(to), address);
  const bool begun = socket.open() && (::connect(socket.get(), &address.any, length) == 0 || errno == EINPROGRESS);
  auto state = begun ? std::make_shared<TcpState>(reactor, std::move(socket), to, true)
                     : std::make_shared<TcpState>(reactor, to, net_error(errno, to));
  return std::make_unique<TcpStream>(std::move(state));
}

}  // namespace isochron::link
