#include "link/serial.hpp"

#include <asm/termbits.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "link/fd.hpp"
#include "protocol/serial_line.h"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t room = 16'384;
constexpr WallSpan try_again = 500ms;
constexpr std::uint32_t silent_most_us = 20'000'000;  // of a board that has bytes to acknowledge

std::uint32_t in_us(WallTime t) { return static_cast<std::uint32_t>(t.ns() / 1000); }

/// Bytes as they are, no flow control, any speed.
bool make_raw(const Fd& line, std::uint32_t baud) {
  termios2 settings{};
  if (::ioctl(line.get(), TCGETS2, &settings) != 0) return false;
  settings.c_iflag = 0;
  settings.c_oflag = 0;
  settings.c_lflag = 0;
  settings.c_cflag = CS8 | CREAD | CLOCAL | BOTHER | (BOTHER << IBSHIFT);
  settings.c_ispeed = settings.c_ospeed = baud;
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  return ::ioctl(line.get(), TCSETS2, &settings) == 0;
}

Result<Fd, std::string> open_device(const SerialAddress& at) {
  Fd line(::open(at.device.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!line.open()) return fail(at.device + ": " + std::strerror(errno));
  if (::isatty(line.get()) == 0) return fail(at.device + " is not a serial line");
  if (::flock(line.get(), LOCK_EX | LOCK_NB) != 0) return fail(at.device + " is in use by another host");
  if (!make_raw(line, at.baud)) {
    return fail(at.device + " does not take " + std::to_string(at.baud) + " baud: " + std::strerror(errno));
  }
  ::ioctl(line.get(), TCFLSH, TCIOFLUSH);
  return line;
}

/// The line and the stream that it carries now. Lives until no callback of a round can be inside it.
class SerialState final : public Source, public std::enable_shared_from_this<SerialState> {
 public:
  SerialState(EpollReactor& reactor, SerialAddress at, std::function<void(std::unique_ptr<Stream>)> on_accept)
      : reactor_(reactor), at_(std::move(at)), on_accept_(std::move(on_accept)) {}

  void take_up(Fd fd) {
    isochron_line_init(&line_, out_.data(), room, in_.data(), room, at_.baud, now_us());
    fd_ = std::move(fd);
    interest_ = EPOLLIN;
    reactor_.set_interest(fd_.get(), *this, 0, interest_);
    set_timer(0ms);
  }

  void close() {
    std::array<std::uint8_t, ISOCHRON_LINE_WIRE_MAX> wire;
    const std::size_t n = isochron_line_close(&line_, wire.data());
    if (n > 0 && fd_.open()) (void)!::write(fd_.get(), wire.data(), n);
    reactor_.cancel(timer_);
    put_down();
    closed_ = true;
  }
  [[nodiscard]] EpollReactor& reactor() { return reactor_; }

  void ready(std::uint32_t events) override {
    if (!fd_.open()) return;
    const auto self = shared_from_this();
    if ((events & EPOLLIN) != 0 && !read()) return;
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return gone(at_.device + " went away");
    pump();
  }

  // Of the stream with this number; an earlier one is over.
  void set_events(std::uint64_t stream, Stream::Events events) {
    if (stream != stream_) return;
    if (events_) reactor_.bury(std::move(events_));
    events_ = std::make_shared<Stream::Events>(std::move(events));
    deliver_soon();
  }
  void send(std::uint64_t stream, std::span<const std::byte> bytes) {
    if (stream != stream_) return;
    queue_.insert(queue_.end(), bytes.begin(), bytes.end());
    pump();
  }
  [[nodiscard]] std::size_t pending(std::uint64_t stream) const {
    return stream == stream_ ? queue_.size() + isochron_line_pending(&line_) : 0;
  }
  void pause(std::uint64_t stream, bool pause) {
    if (stream != stream_) return;
    paused_ = pause;
    if (!pause) deliver_soon();
  }
  [[nodiscard]] WallTime arrived() const { return arrived_; }
  /// What was written still goes out, as long as the reactor runs.
  void drop(std::uint64_t stream) {
    if (stream != stream_) return;
    if (events_) reactor_.bury(std::move(events_));
    events_.reset();
    stream_ = 0;
    closing_ = true;
    deliver_soon();
  }

 private:
  [[nodiscard]] std::uint32_t now_us() { return in_us(reactor_.now()); }

  void put_down() {
    if (!fd_.open()) return;
    reactor_.set_interest(fd_.get(), *this, interest_, 0);
    fd_.reset();
    wire_used_ = wire_sent_ = 0;
  }

  void gone(const std::string& why) {
    put_down();
    end_stream(why);
    set_timer(try_again);
  }

  void end_stream(const std::string& why) {
    queue_.clear();
    if (stream_ == 0) return;
    stream_ = 0;
    const auto events = std::exchange(events_, nullptr);
    if (!events) return;
    reactor_.bury(events);
    if (events->on_closed) events->on_closed({NetFault::closed, why});
  }

  void set_timer(WallSpan in) {
    reactor_.cancel(timer_);
    timer_ = reactor_.call_at(reactor_.now() + in, [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && !self->closed_) self->on_timer();
    });
  }

  void on_timer() {
    if (fd_.open()) return pump();
    auto opened = open_device(at_);
    if (!opened.ok()) return set_timer(try_again);
    take_up(std::move(*opened));
  }

  /// False: the line is gone.
  bool read() {
    std::array<std::uint8_t, 4096> bytes;
    const ssize_t n = ::read(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n <= 0) return gone(at_.device + " went away"), false;
    arrived_ = reactor_.now();
    // A board that is reset within what was read ends one stream and opens another: by single packets, in order.
    for (ssize_t at = 0; at < n && fd_.open(); ++at) {
      isochron_line_take(&line_, bytes.data() + at, 1, in_us(arrived_));
      if (bytes[static_cast<std::size_t>(at)] == 0) look_at_line();
    }
    return fd_.open();
  }

  void look_at_line() {
    if (isochron_line_was_opened(&line_) != 0) {
      end_stream("the board on " + at_.device + " opened the line anew");
      paused_ = false;
      closing_ = false;
      stream_ = ++streams_;
      accept();
    } else if (line_.state == ISOCHRON_LINE_CLOSED) {
      end_stream("the board on " + at_.device + " closed the line");
    }
    deliver();
  }

  void accept();

  void deliver_soon() {
    reactor_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->fd_.open()) {
        self->deliver();
        self->pump();
      }
    });
  }

  void deliver() {
    while (events_ && !paused_ && line_.in_used > 0) {
      std::array<std::uint8_t, 4096> bytes;
      const std::size_t n = isochron_line_read(&line_, bytes.data(), bytes.size());
      const auto events = events_;
      if (events->on_bytes) events->on_bytes(std::as_bytes(std::span(bytes).first(n)));
    }
    if (stream_ == 0) line_.in_used = 0;  // nobody reads it
  }

  /// Sends what is due and the line takes, and asks to be called again in time.
  void pump() {
    if (!fd_.open() || pumping_) return;
    pumping_ = true;
    const bool waited = pending(stream_) > 0;
    do {
      const auto* front = reinterpret_cast<const std::uint8_t*>(queue_.data());
      const std::size_t taken = isochron_line_write(&line_, front, queue_.size());
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(taken));
    } while (send_packets());
    say_closed();
    pumping_ = false;
    if (!fd_.open()) return;
    watch_for_room();
    if (isochron_line_pending(&line_) > 0 && isochron_line_silence(&line_, now_us()) > silent_most_us) {
      line_.state = ISOCHRON_LINE_CLOSED;
      return end_stream("the board on " + at_.device + " has not answered for 20 s");
    }
    set_timer(WallSpan::from_ns(std::int64_t{isochron_line_wake(&line_, now_us())} * 1000 + 1000));
    const auto events = events_;
    if (waited && events && pending(stream_) == 0 && events->on_writable) events->on_writable();
  }

  /// A stream that was dropped is over when all of it has arrived.
  void say_closed() {
    if (!closing_ || pending(0) > 0 || wire_sent_ < wire_used_) return;
    closing_ = false;
    wire_sent_ = 0;
    wire_used_ = isochron_line_close(&line_, wire_.data());
    if (wire_used_ > 0) send_packets();
  }

  /// Whether there may be more to send.
  bool send_packets() {
    if (wire_sent_ == wire_used_) {
      wire_sent_ = 0;
      wire_used_ = isochron_line_next(&line_, wire_.data(), now_us());
    }
    if (wire_used_ == 0) return false;
    const ssize_t n = ::write(fd_.get(), wire_.data() + wire_sent_, wire_used_ - wire_sent_);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return gone(at_.device + " went away"), false;
    wire_sent_ += n > 0 ? static_cast<std::size_t>(n) : 0;
    return wire_sent_ == wire_used_;
  }

  void watch_for_room() {
    const std::uint32_t wanted = wire_sent_ < wire_used_ ? EPOLLIN | EPOLLOUT : EPOLLIN;
    reactor_.set_interest(fd_.get(), *this, interest_, wanted);
    interest_ = wanted;
  }

  EpollReactor& reactor_;
  SerialAddress at_;
  std::function<void(std::unique_ptr<Stream>)> on_accept_;
  Fd fd_;
  std::uint32_t interest_ = 0;
  Reactor::TimerId timer_ = 0;
  isochron_line line_{};
  std::vector<std::uint8_t> out_ = std::vector<std::uint8_t>(room), in_ = std::vector<std::uint8_t>(room);
  std::array<std::uint8_t, ISOCHRON_LINE_WIRE_MAX> wire_{};
  std::size_t wire_used_ = 0, wire_sent_ = 0;
  std::vector<std::byte> queue_;  // what the line has no room for yet
  std::uint64_t streams_ = 0, stream_ = 0;
  std::shared_ptr<Stream::Events> events_;
  WallTime arrived_;
  bool paused_ = false, pumping_ = false, closing_ = false, closed_ = false;
};

class SerialStream final : public Stream {
 public:
  SerialStream(std::shared_ptr<SerialState> state, std::uint64_t number) : state_(std::move(state)), number_(number) {
    state_->reactor().count_object(1);
  }
  ~SerialStream() override {
    EpollReactor& reactor = state_->reactor();
    state_->drop(number_);
    reactor.bury(std::move(state_));
    reactor.count_object(-1);
  }
  void set_events(Events events) override { state_->set_events(number_, std::move(events)); }
  void send(std::span<const std::byte> bytes) override { state_->send(number_, bytes); }
  [[nodiscard]] std::size_t pending() const override { return state_->pending(number_); }
  [[nodiscard]] Address peer() const override { return {}; }
  void pause_reading(bool pause) override { state_->pause(number_, pause); }
  [[nodiscard]] std::optional<WallTime> arrived() const override { return state_->arrived(); }

 private:
  std::shared_ptr<SerialState> state_;
  std::uint64_t number_;
};

void SerialState::accept() { on_accept_(std::make_unique<SerialStream>(shared_from_this(), stream_)); }

class Line final : public SerialListener {
 public:
  explicit Line(std::shared_ptr<SerialState> state) : state_(std::move(state)) { state_->reactor().count_object(1); }
  ~Line() override {
    EpollReactor& reactor = state_->reactor();
    state_->close();
    reactor.bury(std::move(state_));
    reactor.count_object(-1);
  }

 private:
  std::shared_ptr<SerialState> state_;
};

}  // namespace

Result<SerialAddress, std::string> parse_serial(std::string_view text) {
  const auto colon = text.rfind(':');
  SerialAddress address;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.baud);
    if (error == std::errc{} && end == digits.data() + digits.size() && address.baud >= 50 &&
        address.baud <= 20'000'000 && colon > 0 && text.front() == '/') {
      address.device = text.substr(0, colon);
      return address;
    }
  }
  return fail("`" + std::string(text.substr(0, 100)) + "` is not DEVICE:BAUD");
}

Result<std::unique_ptr<SerialListener>, std::string> listen_serial(
    EpollReactor& reactor, const SerialAddress& at, std::function<void(std::unique_ptr<Stream>)> on_accept) {
  auto opened = open_device(at);
  if (!opened.ok()) return fail(opened.error());
  auto state = std::make_shared<SerialState>(reactor, at, std::move(on_accept));
  state->take_up(std::move(*opened));
  return std::unique_ptr<SerialListener>(std::make_unique<Line>(std::move(state)));
}

}  // namespace isochron::link
