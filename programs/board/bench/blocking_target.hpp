#pragma once
// The least that is a target: a blocking socket that speaks protocol/target_wire.hpp. The client library does the same
// with more around it; here only what is measured counts.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/network.hpp"
#include "protocol/target_wire.hpp"

namespace isochron::bench {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

inline int connect_to(const Address& host) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(host.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ENSURE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "loopback connects");
  return socket;
}

inline bool read_all(int socket, std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::recv(socket, to, bytes, 0);
    if (n <= 0) return false;
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

class BlockingTarget {
 public:
  BlockingTarget(const Address& host, const std::string& name) : socket_(connect_to(host)) {
    wire::Hello hello;
    hello.name = name;
    receive();
    send(wire::write(std::span(out_).subspan(4), hello));
    receive();
    ask(protocol::Ask::attach, 0, protocol::version);
  }
  ~BlockingTarget() {
    wire::Request bye;
    send(wire::write_head(std::span(out_).subspan(4), bye));
    ::close(socket_);
  }
  BlockingTarget(const BlockingTarget&) = delete;
  BlockingTarget& operator=(const BlockingTarget&) = delete;

  /// False: the run is over.
  bool ask(protocol::Ask what, std::uint32_t index, std::int64_t number = 0, std::span<const std::byte> payload = {}) {
    wire::Request request;
    request.ask = static_cast<std::uint8_t>(what);
    request.index = index;
    request.number = number;
    request.received = received_;
    request.sent = clock_ns(CLOCK_MONOTONIC);
    std::size_t size = wire::write_head(std::span(out_).subspan(4), request);
    if (!payload.empty()) std::memcpy(out_.data() + 4 + size, payload.data(), payload.size());
    send(size + payload.size());
    for (;;) {
      const auto frame = receive();
      wire::Ping ping;
      if (wire::read(frame, ping)) {
        send(wire::write(std::span(out_).subspan(4), wire::Pong{ping.number, clock_ns(CLOCK_MONOTONIC)}));
        continue;
      }
      received_ = clock_ns(CLOCK_MONOTONIC);
      wire::Answer answer;
      if (!wire::read(frame, answer)) return false;
      time = SimTime::from_ns(answer.time);
      return static_cast<protocol::Verdict>(answer.verdict) != protocol::Verdict::ended;
    }
  }
  /// Bytes of the last request and answer on the wire.
  std::size_t sent_bytes = 0, received_bytes = 0;
  SimTime time;

 private:
  void send(std::size_t size) {
    for (std::size_t i = 0; i < 4; ++i) out_[i] = static_cast<std::byte>(size >> (8 * i));
    sent_bytes = size + 4;
    (void)!::send(socket_, out_.data(), size + 4, MSG_NOSIGNAL);
  }
  std::span<const std::byte> receive() {
    if (!read_all(socket_, in_.data(), 4)) return {};
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= std::to_integer<std::size_t>(in_[i]) << (8 * i);
    received_bytes = length + 4;
    if (length > in_.size() || !read_all(socket_, in_.data(), length)) return {};
    return std::span(in_).first(length);
  }
  int socket_;
  std::int64_t received_ = 0;
  std::vector<std::byte> out_ = std::vector<std::byte>(4096);
  std::vector<std::byte> in_ = std::vector<std::byte>(1 << 20);
};

}  // namespace isochron::bench
