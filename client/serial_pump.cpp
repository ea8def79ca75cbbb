#include "client/serial_pump.hpp"

#include <asm/termbits.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <thread>

#include "protocol/serial_line.h"

namespace isochron::client {
namespace {

constexpr std::uint16_t room = 4096;
constexpr std::uint32_t silence_us = 10'000'000, linger_us = 500'000;

std::uint32_t now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint32_t>(t.tv_sec) * 1'000'000U + static_cast<std::uint32_t>(t.tv_nsec / 1000);
}

bool make_raw(int tty, std::uint32_t baud) {
  termios2 settings{};
  if (::ioctl(tty, TCGETS2, &settings) != 0) return false;
  settings.c_iflag = settings.c_oflag = settings.c_lflag = 0;
  settings.c_cflag = CS8 | CREAD | CLOCAL | BOTHER | (BOTHER << IBSHIFT);
  settings.c_ispeed = settings.c_ospeed = baud;
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  return ::ioctl(tty, TCSETS2, &settings) == 0;
}

class Pump {
 public:
  Pump(int tty, int socket, std::uint32_t baud) : tty_(tty), socket_(socket) {
    isochron_line_init(&line_, out_.data(), room, in_.data(), room, baud, now_us());
    isochron_line_open(&line_, static_cast<std::uint16_t>(now_us() ^ static_cast<std::uint32_t>(::getpid())), now_us());
  }
  ~Pump() {
    ::close(socket_);
    ::close(tty_);
  }
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  /// Whether a host has answered.
  bool meet() {
    for (const std::uint32_t begun = now_us(); now_us() - begun < silence_us;) {
      if (!turn()) return false;
      if (line_.state == ISOCHRON_LINE_OPEN) return true;
    }
    return false;
  }
  void run() {
    while (turn() && line_.state == ISOCHRON_LINE_OPEN && isochron_line_silence(&line_, now_us()) < silence_us) {
      if (!ended_ && leaving_.load()) end();
      if (!ended_) continue;
      if (isochron_line_pending(&line_) == 0 || now_us() - ended_at_ > linger_us) break;
    }
    std::array<std::uint8_t, ISOCHRON_LINE_WIRE_MAX> wire;
    (void)put(wire.data(), isochron_line_close(&line_, wire.data()));
  }

  /// The program ends; from any thread.
  void leave() { leaving_.store(true); }

 private:
  /// Carries what there is, and waits where there is nothing. False: the line is gone.
  bool turn() {
    const bool open = line_.state == ISOCHRON_LINE_OPEN;
    const std::size_t free = open && !ended_ ? static_cast<std::size_t>(room) - line_.out_used : 0;
    std::array<pollfd, 2> all{pollfd{tty_, POLLIN, 0}, pollfd{socket_, static_cast<short>(free > 0 ? POLLIN : 0), 0}};
    const nfds_t count = ended_ ? 1 : 2;
    const timespec wait{0, static_cast<long>(std::min(isochron_line_wake(&line_, now_us()), 100'000U)) * 1000};
    ::ppoll(all.data(), count, &wait, nullptr);
    if (all[0].revents != 0 && !take_from_line()) return false;
    if (!ended_ && all[1].revents != 0) take_from_socket(free);
    return send_packets();
  }
  bool take_from_line() {
    std::array<std::uint8_t, 1024> bytes;
    const ssize_t n = ::read(tty_, bytes.data(), bytes.size());
    if (n <= 0) return n < 0 && errno == EINTR;
    isochron_line_take(&line_, bytes.data(), static_cast<std::size_t>(n), now_us());
    const std::size_t whole = isochron_line_read(&line_, in_bytes_.data(), in_bytes_.size());
    for (std::size_t at = 0; at < whole;) {
      const ssize_t sent = ::send(socket_, in_bytes_.data() + at, whole - at, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) break;  // the program does not listen any more
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }
  void take_from_socket(std::size_t free) {
    const ssize_t n = ::recv(socket_, in_bytes_.data(), std::min(free, in_bytes_.size()), 0);
    if (n < 0 && errno == EINTR) return;
    if (n > 0) return void(isochron_line_write(&line_, in_bytes_.data(), static_cast<std::size_t>(n)));
    end();
  }
  void end() {
    ended_ = true;
    ended_at_ = now_us();
  }
  bool send_packets() {
    std::array<std::uint8_t, ISOCHRON_LINE_WIRE_MAX> wire;
    while (const std::size_t size = isochron_line_next(&line_, wire.data(), now_us())) {
      if (!put(wire.data(), size)) return false;
    }
    return true;
  }
  bool put(const std::uint8_t* bytes, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const ssize_t n = ::write(tty_, bytes + at, size - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }

  int tty_, socket_;
  isochron_line line_{};
  std::array<std::uint8_t, room> out_{}, in_{}, in_bytes_{};
  std::atomic<bool> leaving_{false};
  bool ended_ = false;
  std::uint32_t ended_at_ = 0;
};

/// Waits at the program's end for what was said last.
struct Carrier {
  std::shared_ptr<Pump> pump;
  std::thread thread;
  ~Carrier() {
    if (!thread.joinable()) return;
    pump->leave();
    thread.join();
  }
};

}  // namespace

std::string parse_serial(const std::string& text, SerialPlace& place, std::string& name) {
  const auto colon = text.rfind(':');
  const auto slash = colon == std::string::npos ? colon : text.find('/', colon);
  const char* wrong = "it is written as serial:///dev/ttyS1:921600/ROBOT/PROGRAM";
  if (colon == std::string::npos || colon == 0 || text.front() != '/') return wrong;
  const std::string digits = text.substr(colon + 1, slash == std::string::npos ? slash : slash - colon - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place.baud);
  if (error != std::errc{} || end != digits.data() + digits.size() || place.baud < 50 || place.baud > 20'000'000) {
    return wrong;
  }
  place.device = text.substr(0, colon);
  name = slash == std::string::npos ? "" : text.substr(slash + 1);
  return "";
}

int open_serial(const SerialPlace& place, std::string& why) {
  const int tty = ::open(place.device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (tty < 0) return why = place.device + ": " + std::strerror(errno), -1;
  int ends[2] = {-1, -1};
  if (!make_raw(tty, place.baud) || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    why = place.device + " is no serial line of " + std::to_string(place.baud) + " baud: " + std::strerror(errno);
    return ::close(tty), -1;
  }
  auto pump = std::make_shared<Pump>(tty, ends[0], place.baud);
  if (!pump->meet()) {
    why = "nobody answers on " + place.device + "; start isochron serve --serial at its other end";
    return ::close(ends[1]), -1;
  }
  static Carrier carrier;
  if (carrier.thread.joinable()) carrier.thread.join();  // of a connection that is over
  carrier.pump = pump;
  carrier.thread = std::thread([pump] { pump->run(); });
  return ends[1];
}

}  // namespace isochron::client
