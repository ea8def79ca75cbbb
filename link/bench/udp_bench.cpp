// Datagrams of 64 B through loopback, sender and receiver on one thread and one core (as a server is both), in batches:
// our ports on a reactor beside bare sendmmsg and recvmmsg.

#include <sys/socket.h>

#include <array>
#include <vector>

#include "link/bench/parts.hpp"
#include "link/futex.hpp"
#include "link/reactor.hpp"
#include "link/socket.hpp"

namespace isochron::bench {
namespace {

constexpr std::size_t batch = 64;
constexpr WallSpan for_long = one_measurement;

struct Bare {
  Bare() : from(opened()), to(opened()) {
    const auto length = link::to_system(link::local_address(to), AF_INET, target);
    for (std::size_t i = 0; i < batch; ++i) {
      sent_pieces[i] = {payload.data(), payload.size()};
      sent[i].msg_hdr.msg_iov = &sent_pieces[i];
      sent[i].msg_hdr.msg_iovlen = 1;
      sent[i].msg_hdr.msg_name = &target;
      sent[i].msg_hdr.msg_namelen = length;
      got_pieces[i] = {buffers[i].data(), buffers[i].size()};
    }
  }
  static link::Fd opened() {
    auto socket = link::bound_socket(Address::loopback(0), SOCK_DGRAM);
    ENSURE(socket.ok(), "loopback has a free port");
    return std::move(*socket);
  }
  /// One batch there; how many came.
  std::size_t round() {
    ::sendmmsg(from.get(), sent.data(), batch, 0);
    for (std::size_t i = 0; i < batch; ++i) {
      got[i].msg_hdr = {};
      got[i].msg_hdr.msg_iov = &got_pieces[i];
      got[i].msg_hdr.msg_iovlen = 1;
      got[i].msg_hdr.msg_name = &sources[i];
      got[i].msg_hdr.msg_namelen = sizeof sources[i];
    }
    const int n = ::recvmmsg(to.get(), got.data(), batch, MSG_DONTWAIT, nullptr);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  link::Fd from, to;
  link::SocketAddress target{};
  std::array<std::byte, ping_bytes> payload{};
  std::array<mmsghdr, batch> sent{}, got{};
  std::array<iovec, batch> sent_pieces{}, got_pieces{};
  std::array<link::SocketAddress, batch> sources{};
  std::array<std::array<std::byte, 2048>, batch> buffers{};
};

double bare() {
  Bare sockets;
  const WallTime start = link::monotonic_now();
  WallTime now = start;
  std::size_t came = 0;
  for (; now - start < for_long; now = link::monotonic_now()) came += sockets.round();
  return static_cast<double>(came) / (now - start).seconds();
}

double through_reactor() {
  link::EpollReactor reactor;
  auto from = std::move(*reactor.open_datagrams(Address::loopback(0)));
  auto to = std::move(*reactor.open_datagrams(Address::loopback(0)));
  const std::array<std::byte, ping_bytes> payload{};
  const std::vector<Datagram> datagrams(batch, Datagram{to->local(), payload});
  std::size_t came = 0, waiting = batch;
  const WallTime start = reactor.now();
  WallTime end = start;
  to->set_receiver([&](std::span<const Datagram> received) {
    came += received.size();
    waiting -= std::min(waiting, received.size());
    if (waiting > 0) return;
    end = reactor.now();
    if (end - start >= for_long) return reactor.stop();
    waiting = batch;
    from->send(datagrams);
  });
  from->send(datagrams);
  reactor.run();
  return static_cast<double>(came) / (end - start).seconds();
}

}  // namespace

void bench_udp(Report& report) {
  pin_to_core(0);
  const auto [ours, theirs] = best_of_both(rounds(report), through_reactor, bare);
  report.ratio_at_least("udp_datagrams_64B_one_core", ours, "1/s", "bare sendmmsg/recvmmsg", theirs, 0.6);
}

}  // namespace isochron::bench
