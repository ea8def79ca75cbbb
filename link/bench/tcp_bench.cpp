// TCP ping-pong of 64 B between two processes: a reactor at both ends, beside blocking sockets at both ends.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "link/bench/parts.hpp"
#include "link/reactor.hpp"
#include "link/socket.hpp"

namespace isochron::bench {
namespace {

using link::Fd;
using Ping = std::array<std::byte, ping_bytes>;

void read_all(int fd, Ping& ping) {
  for (std::size_t at = 0; at < ping.size();) {
    const auto n = ::recv(fd, ping.data() + at, ping.size() - at, 0);
    if (n <= 0) ::_exit(1);
    at += static_cast<std::size_t>(n);
  }
}

void write_all(int fd, const Ping& ping) {
  if (::send(fd, ping.data(), ping.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(ping.size())) ::_exit(1);
}

Fd listening_socket() {
  auto socket = link::bound_socket(Address::loopback(0), SOCK_STREAM);
  ENSURE(socket.ok() && ::listen(socket->get(), 4) == 0, "loopback can be listened on");
  return std::move(*socket);
}

double bare(int partners_core) {
  const Fd listener = listening_socket();
  const Address to = link::local_address(listener);
  pin_to_core(0);
  const auto echo = [&] {
    pin_to_core(partners_core);
    const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
    link::SocketAddress address;
    const auto length = link::to_system(to, AF_INET, address);
    if (::connect(socket.get(), &address.any, length) != 0) ::_exit(1);
    link::set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    for (Ping ping; true;) read_all(socket.get(), ping), write_all(socket.get(), ping);
  };
  return with_partner(echo, [&] {
    Fd socket;
    while (!socket.open()) socket.reset(::accept(listener.get(), nullptr, nullptr));
    link::set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    Ping ping{};
    return rate([&] { write_all(socket.get(), ping), read_all(socket.get(), ping); });
  });
}

/// Echoes on a reactor of its own until killed.
void echo_on_reactor(const Address& to, const link::EpollReactor::Options& options, int core) {
  pin_to_core(core);
  link::EpollReactor reactor(options);
  auto stream = reactor.connect(to);
  stream->set_events(
      {[&](std::span<const std::byte> bytes) { stream->send(bytes); }, {}, [](const NetError&) { ::_exit(0); }});
  reactor.run();
}

double through_reactor(int partners_core, const link::EpollReactor::Options& options) {
  link::EpollReactor reactor(options);
  std::unique_ptr<Stream> stream;
  std::size_t got = 0;
  auto listener = reactor.listen(Address::loopback(0), [&](std::unique_ptr<Stream> accepted) {
    stream = std::move(accepted);
    stream->set_events({[&](std::span<const std::byte> bytes) { got += bytes.size(); }, {}, {}});
  });
  ENSURE(listener.ok(), "loopback can be listened on");
  const Address to = (*listener)->local();
  pin_to_core(0);
  // The measured part runs inside the reactor, as its users do: each answer sends the next ping.
  return with_partner([&] { echo_on_reactor(to, options, partners_core); },
                      [&] {
                        const Ping ping{};
                        std::uint64_t turns = 0;
                        WallTime start, end;
                        const auto on_bytes = [&](std::span<const std::byte> bytes) {
                          got += bytes.size();
                          if (got < ping.size()) return;
                          got = 0;
                          if (++turns % 64 == 0) {
                            end = reactor.now();
                            if (end - start > WallSpan(one_measurement)) return reactor.stop();
                          }
                          stream->send(ping);
                        };
                        std::function<void()> begin = [&] {
                          if (!stream) {
                            reactor.call_at(reactor.now() + std::chrono::milliseconds(1), begin);
                            return;
                          }
                          stream->set_events({on_bytes, {}, {}});
                          start = reactor.now();
                          stream->send(ping);
                        };
                        reactor.post(begin);
                        reactor.run();
                        stream.reset();
                        return static_cast<double>(turns) / (end - start).seconds();
                      });
}

}  // namespace

void bench_tcp(Report& report) {
  for (const int core : {1, 0}) {
    const std::string where = core == 0 ? "_same_core" : "_two_cores";
    const auto [ours, theirs] = best_of_both(
        rounds(report), [&] { return through_reactor(core, {}); }, [&] { return bare(core); });
    report.ratio_at_least("tcp_ping_pong_64B" + where, ours, "1/s", "blocking sockets", theirs, 0.6);
  }
  const auto spinning = through_reactor(1, {.spin = std::chrono::microseconds(50)});
  report.found("tcp_ping_pong_64B_two_cores_spinning", spinning, "1/s");
}

}  // namespace isochron::bench
