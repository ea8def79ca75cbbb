// A process for each node, messages over TCP (run.hpp). Each pair of nodes with a flow between them has one connection,
// made before the processes start. What a node's turn produced for a peer leaves in one send; time travels with data.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <map>
#include <random>
#include <stdexcept>

#include "flow/child.hpp"
#include "flow/home_core.hpp"
#include "flow/island.hpp"

namespace isochron::flow {
namespace {

constexpr int look_for_end_ms = 100;

[[noreturn]] void fail_with(const char* what) { throw std::runtime_error(std::string(what) + ": " + strerror(errno)); }

/// Two ends of a TCP connection on this machine.
std::pair<int, int> connected_pair() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || bind(listener, generic, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, generic, &size) != 0) {
    fail_with("no TCP port on this machine");
  }
  const int a = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (a < 0 || connect(a, generic, size) != 0) fail_with("no TCP connection on this machine");
  const int b = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (b < 0) fail_with("no TCP connection on this machine");
  close(listener);
  for (const int end : {a, b}) {
    const int yes = 1;
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const timeval longest{0, look_for_end_ms * 1000};
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  }
  return {a, b};
}

class Socket : public Transport {
 public:
  explicit Socket(int end) : end_(end) {}
  ~Socket() override { close(end_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void send(std::span<const std::byte> bytes) override {
    if (pending_.empty()) bytes = bytes.subspan(write(bytes));
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  void flush() {
    const std::size_t sent = write(pending_);
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(sent));
  }
  [[nodiscard]] bool has_pending() const { return !pending_.empty(); }
  /// What came; empty = nothing yet. `block` waits a while.
  std::span<const std::byte> receive(std::span<std::byte> into, bool block) {
    const ssize_t size = recv(end_, into.data(), into.size(), block ? 0 : MSG_DONTWAIT);
    if (size == 0) closed_ = true;
    if (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) closed_ = true;
    return into.first(size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  void end_sending() const { shutdown(end_, SHUT_WR); }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] int end() const { return end_; }

 private:
  std::size_t write(std::span<const std::byte> bytes) {
    const ssize_t size = ::send(end_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) closed_ = true;
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }
  int end_;
  bool closed_ = false;
  std::vector<std::byte> pending_;
};

/// One node in its process, with its connections.
class TcpIsland {
 public:
  TcpIsland(Assembly& assembly, Children& children, std::uint32_t self)
      : island_(assembly, self), children_(children), self_(self), buffer_(256 * 1024) {}

  void join(std::uint32_t other, int end) {
    others_.push_back(other);
    sockets_.push_back(std::make_unique<Socket>(end));
    island_.join(other, *sockets_.back());
  }

  void live(SimTime until, std::uint64_t disturb, HomeCore& home) {
    home.settle();  // a packet to the same core is there several times sooner
    island_.start(until);
    std::minstd_rand random(static_cast<std::uint32_t>(disturb + self_));
    NodeStatus& status = children_.statuses()[self_];
    while (!ended()) {
      status.post_running();
      const std::uint32_t budget = disturb != 0 ? 1 + static_cast<std::uint32_t>(random() % 3) : 1024;
      const Moved moved = home.turn([&] { return island_.go(budget); });
      status.post(island_.node());
      if (disturb != 0 && random() % 64 == 0) usleep(static_cast<useconds_t>(random() % 200));
      if (moved == Moved::on) continue;
      if (island_.finished() && !has_pending()) break;
      listen(!island_.node().news());
    }
    island_.finish();
    leave();
  }

 private:
  [[nodiscard]] bool ended() const { return children_.control().end.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool has_pending() const {
    for (const auto& socket : sockets_) {
      if (socket->has_pending()) return true;
    }
    return false;
  }

  /// Takes what came; waits for something if `wait`.
  void listen(bool wait) {
    if (sockets_.size() == 1 && !sockets_[0]->has_pending()) {
      take(0, wait);
      return;
    }
    polls_.clear();
    for (const auto& socket : sockets_) {
      const short events = socket->has_pending() ? POLLIN | POLLOUT : POLLIN;
      polls_.push_back({socket->closed() ? -1 : socket->end(), events, 0});
    }
    const int longest = wait ? look_for_end_ms : 0;
    if (poll(polls_.data(), polls_.size(), longest) <= 0) return;
    for (std::size_t i = 0; i < polls_.size(); ++i) {
      if ((polls_[i].revents & POLLOUT) != 0) sockets_[i]->flush();
      if ((polls_[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) take(i, false);
    }
  }

  /// A closed connection matters only if this node still needs that peer.
  void take(std::size_t i, bool block) {
    const auto bytes = sockets_[i]->receive(buffer_, block);
    if (!bytes.empty()) {
      const auto taken = island_.arrived(others_[i], bytes);
      if (!taken) throw std::runtime_error(taken.error());
    }
    if (sockets_[i]->closed() && island_.waits_for(others_[i])) await_end(island_.peer(others_[i]));
  }

  /// A peer went without a word: the parent knows why and ends the run. If it does not, that is the failure.
  void await_end(const Peer& peer) {
    for (int i = 0; i < 50 && !ended(); ++i) usleep(20'000);
    if (!ended()) throw std::runtime_error(peer.lost());
  }

  /// Whoever closes a connection with unread bytes destroys what is still on its way: so everybody reads to the end.
  void leave() {
    for (auto& socket : sockets_) socket->end_sending();
    for (auto& socket : sockets_) {
      while (!socket->closed() && !ended()) socket->receive(buffer_, true);
    }
  }

  Island island_;
  Children& children_;
  std::uint32_t self_;
  std::vector<std::byte> buffer_;
  std::vector<std::uint32_t> others_;
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::vector<pollfd> polls_;
};

}  // namespace

RunReport run_tcp(Assembly& assembly, const Options& options) {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Pair, std::pair<int, int>> ends;
  for (const Assembly::Link& link : assembly.links()) {
    const auto [a, b] = std::minmax(link.connection.output.node, link.connection.input.node);
    if (!ends.contains({a, b})) ends[{a, b}] = connected_pair();
  }
  Children children(assembly, options, static_cast<std::uint32_t>(assembly.nodes().size()));
  HomeCore home(10 * options.grain);  // sending and being woken are part of a turn here
  RunReport report = children.run(
      [&](const Children::Group& group) {
        const std::uint32_t n = group.front();
        TcpIsland island(assembly, children, n);
        for (const auto& [pair, sockets] : ends) {
          if (pair.first != n) close(sockets.first);
          if (pair.second != n) close(sockets.second);
          if (pair.first == n) island.join(pair.second, sockets.first);
          if (pair.second == n) island.join(pair.first, sockets.second);
        }
        island.live(options.until, options.disturb, home);
      },
      [&] {
        for (const auto& [pair, sockets] : ends) {
          close(sockets.first);
          close(sockets.second);
        }
      });
  return report;
}

}  // namespace isochron::flow
