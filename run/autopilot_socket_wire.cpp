#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "programs/futex.hpp"
#include "run/autopilot_wire.hpp"

namespace isochron {
namespace {

constexpr std::size_t largest = 65536;

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

sockaddr_in loopback_at(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

std::string text_of(const sockaddr_in& at) {
  char ip[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &at.sin_addr, ip, sizeof ip);
  return std::string(ip) + ":" + std::to_string(ntohs(at.sin_port));
}

bool same(const sockaddr_in& a, const sockaddr_in& b) {
  return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
}

void wait_for(std::initializer_list<int> fds, WallTime until) {
  pollfd polled[2];
  nfds_t count = 0;
  for (const int fd : fds) {
    if (fd >= 0) polled[count++] = {fd, POLLIN, 0};
  }
  const std::int64_t left = std::max<std::int64_t>(0, (until - programs::wall_now()).ns());
  const timespec limit{left / 1'000'000'000, left % 1'000'000'000};
  ppoll(polled, count, &limit, nullptr);
}

class UdpWire final : public AutopilotWire {
 public:
  UdpWire(Descriptor socket, std::uint16_t port)
      : socket_(std::move(socket)), port_(port), where_("UDP port " + std::to_string(port)), room_(largest) {}

  std::optional<Event> receive(SimTime now_of_world) override {
    if (!held_.empty()) return Event{Event::Kind::bytes, std::exchange(held_, {}), ""};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got = recvfrom(socket_.get(), room_.data(), room_.size(), MSG_DONTWAIT | MSG_TRUNC,
                                 reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0 && errno == ECONNREFUSED) {  // what we sent before
      refused_ = true;
      forget_errors();
      return receive(now_of_world);
    }
    if (got < 0) return std::nullopt;
    autopilot::Bytes bytes(room_.begin(), room_.begin() + std::min<ssize_t>(got, largest));
    const WallTime now = programs::wall_now();
    if (peer_ && same(*peer_, from)) {
      heard_ = now;
      return Event{Event::Kind::bytes, std::move(bytes), ""};
    }
    if (peer_ && (now - heard_).ns() < replaced_after_ns) return Event{Event::Kind::stranger, {}, text_of(from)};
    peer_ = from;
    heard_ = now;
    held_ = std::move(bytes);  // after its coming
    return Event{Event::Kind::came, {}, text_of(from)};
  }

  void send(const autopilot::Packet& packet, SimTime) override {
    sockaddr_in to = packet.beyond > 0 ? loopback_at(static_cast<std::uint16_t>(port_ + packet.beyond))
                                       : peer_.value_or(sockaddr_in{});
    if (to.sin_port == 0) return;
    sendto(socket_.get(), packet.bytes.data(), packet.bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
           reinterpret_cast<sockaddr*>(&to), sizeof to);
  }

  bool refused() override { return std::exchange(refused_, false); }

  void wait(WallTime until) override {
    if (held_.empty()) wait_for({socket_.get()}, until);
  }
  const std::string& where() const override { return where_; }

 private:
  void forget_errors() {
    msghdr none{};
    while (recvmsg(socket_.get(), &none, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0) none = {};
  }

  Descriptor socket_;
  bool refused_ = false;
  std::uint16_t port_;
  std::string where_;
  autopilot::Bytes room_, held_;
  std::optional<sockaddr_in> peer_;
  WallTime heard_;
};

class TcpWire final : public AutopilotWire {
 public:
  TcpWire(Descriptor listener, std::uint16_t port)
      : listener_(std::move(listener)), where_("TCP port " + std::to_string(port)), room_(largest) {}

  std::optional<Event> receive(SimTime) override {
    if (auto event = look_at_peer()) return event;
    sockaddr_in from{};
    socklen_t size = sizeof from;
    Descriptor next(accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!next.open()) return std::nullopt;
    if (peer_.open()) return Event{Event::Kind::stranger, {}, text_of(from)};  // closes it
    const int yes = 1;
    setsockopt(next.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    peer_ = std::move(next);
    return Event{Event::Kind::came, {}, text_of(from)};
  }

  // What it does not read while it is asked for nothing would be more than a socket holds: it is gone then.
  void send(const autopilot::Packet& packet, SimTime) override {
    std::size_t at = 0;
    while (peer_.open() && at < packet.bytes.size()) {
      const ssize_t sent = ::send(peer_.get(), packet.bytes.data() + at, packet.bytes.size() - at, MSG_NOSIGNAL);
      if (sent > 0) {
        at += static_cast<std::size_t>(sent);
      } else if (sent < 0 && errno != EINTR) {
        went_ = true;
        peer_ = Descriptor();
      }
    }
  }

  void wait(WallTime until) override { wait_for({peer_.get(), listener_.get()}, until); }
  const std::string& where() const override { return where_; }

 private:
  std::optional<Event> look_at_peer() {
    if (std::exchange(went_, false)) return Event{Event::Kind::went, {}, ""};
    if (!peer_.open()) return std::nullopt;
    const ssize_t got = recv(peer_.get(), room_.data(), room_.size(), MSG_DONTWAIT);
    if (got > 0) return Event{Event::Kind::bytes, {room_.begin(), room_.begin() + got}, ""};
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    peer_ = Descriptor();
    return Event{Event::Kind::went, {}, ""};
  }

  Descriptor listener_, peer_;
  bool went_ = false;
  std::string where_;
  autopilot::Bytes room_;
};

}  // namespace

Result<std::unique_ptr<AutopilotWire>, std::string> open_socket_wire(bool streams, std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, (streams ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (streams) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (!streams) setsockopt(socket.get(), IPPROTO_IP, IP_RECVERR, &yes, sizeof yes);
  const sockaddr_in at = loopback_at(port);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      (streams && listen(socket.get(), 4) != 0)) {
    return fail((streams ? "TCP port " : "UDP port ") + std::to_string(port) + " of this machine: " + strerror(errno));
  }
  if (streams) return std::unique_ptr<AutopilotWire>(std::make_unique<TcpWire>(std::move(socket), port));
  return std::unique_ptr<AutopilotWire>(std::make_unique<UdpWire>(std::move(socket), port));
}

}  // namespace isochron
