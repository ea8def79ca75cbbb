#pragma once
// Datagrams of one fixed kind each between processes on this machine or two: blocking to receive, never to send. A
// datagram of another size, or that does not carry the mark of its kind, is ignored: whoever sends it is not ours.
//
// Threads: one receives, any send. Cost: one system call; no allocation.
// Fails:   the constructor throws std::system_error.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "experiments/atlas/signals.hpp"

namespace atlas {

/// 1 kHz: from the robot.
struct SensorDatagram {
  std::uint32_t mark = 0x53454e53;  // SENS
  std::uint32_t executed_ns = 0;    // CPU time that the robot used since the one before
  std::uint64_t sequence = 0;
  std::int64_t time_ns = 0;  // by the robot's clock
  Sensors sensors;
};
/// From the controller.
struct TorqueDatagram {
  std::uint32_t mark = 0x544f5251;  // TORQ
  std::uint32_t spare = 0;
  std::uint64_t sequence = 0;  // of the measurement that they are made from
  Torques torques;
  Hold hold;  // active: instead of the torques, until the next datagram
};
/// From an operator, whenever there is one.
struct OrderDatagram {
  std::uint32_t mark = 0x4f524452;  // ORDR
  std::uint32_t spare = 0;
  Order order;
};

class DatagramSocket {
 public:
  explicit DatagramSocket(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in here = local(port);
    if (socket_ < 0 || bind(socket_, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
      const int error = errno;
      if (socket_ >= 0) close(socket_);
      throw std::system_error(error, std::generic_category(), "UDP port " + std::to_string(port));
    }
  }
  ~DatagramSocket() { close(socket_); }
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  /// How long receive() waits; zero = not at all.
  void patience(std::chrono::milliseconds wait) {
    const timeval time{wait.count() / 1000, (wait.count() % 1000) * 1000};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    flags_ = wait.count() == 0 ? MSG_DONTWAIT : 0;
  }
  /// False: none came in time.
  template <class Datagram>
  bool receive(Datagram& into) {
    while (true) {
      Datagram found;
      const ssize_t size = recv(socket_, &found, sizeof found, flags_ | MSG_TRUNC);
      if (size < 0) return false;
      if (size != sizeof found || found.mark != Datagram{}.mark) continue;
      into = found;
      return true;
    }
  }
  /// The same, and how long it lay here: from the kernel's taking it in until now. Call time_arrivals() first.
  template <class Datagram>
  bool receive(Datagram& into, std::chrono::nanoseconds& waited) {
    while (true) {
      Datagram found;
      iovec piece{&found, sizeof found};
      alignas(cmsghdr) char control[128];
      msghdr message{};
      message.msg_iov = &piece;
      message.msg_iovlen = 1;
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      const ssize_t size = recvmsg(socket_, &message, flags_ | MSG_TRUNC);
      if (size < 0) return false;
      if (size != sizeof found || found.mark != Datagram{}.mark) continue;
      waited = since_arrival(message);
      into = found;
      return true;
    }
  }
  void time_arrivals() {
    const int on = 1;
    setsockopt(socket_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  }
  template <class Datagram>
  void send(const Datagram& datagram, std::uint16_t port) const {
    const sockaddr_in there = local(port);
    (void)!sendto(socket_, &datagram, sizeof datagram, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&there),
                  sizeof there);
  }

 private:
  static std::chrono::nanoseconds since_arrival(msghdr& message) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec then{}, now{};
      std::memcpy(&then, CMSG_DATA(c), sizeof then);
      clock_gettime(CLOCK_REALTIME, &now);
      return std::chrono::seconds(now.tv_sec - then.tv_sec) + std::chrono::nanoseconds(now.tv_nsec - then.tv_nsec);
    }
    return {};
  }
  static sockaddr_in local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  int socket_;
  int flags_ = 0;
};

}  // namespace atlas
