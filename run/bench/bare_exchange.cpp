#include "run/bench/bare_exchange.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "core/ensure.hpp"
#include "link/futex.hpp"

namespace isochron::bench {
namespace {

constexpr std::size_t message_size = 64;
constexpr unsigned give_up_s = 40;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double rate_of(const Course& course, double seconds) {
  return seconds > 0 ? static_cast<double>(course.window) / seconds : 0;
}

struct Ping {
  std::uint32_t from = 0;
  std::uint64_t step = 0;
  std::array<std::byte, message_size - 16> rest{};
};
static_assert(sizeof(Ping) == message_size);

std::span<const std::byte> bytes_of(const Ping& ping) { return std::as_bytes(std::span(&ping, 1)); }

/// One member: step s + 1 is sent when everybody's s is there.
class Exchanger {
 public:
  Exchanger(link::Carrier& carrier, std::uint32_t self, std::uint32_t count, const Course& course)
      : carrier_(carrier), self_(self), steps_(course.steps()), reached_(count, 0), window_(course.window) {}

  double run() {
    carrier_.start({[this](std::span<const std::byte> bytes) { return took(bytes); }, [this] { round(); }, {}});
    carrier_.run();
    return window_.best();
  }

 private:
  std::optional<std::uint32_t> took(std::span<const std::byte> bytes) {
    Ping ping;
    if (bytes.size() != sizeof ping) return std::nullopt;
    std::memcpy(&ping, bytes.data(), sizeof ping);
    reached_.at(ping.from) = std::max(reached_[ping.from], ping.step);
    go_on();
    return ping.from;
  }
  void send(std::uint64_t step) {
    sent_at_ = std::chrono::steady_clock::now();
    Ping ping{self_, step, {}};
    for (std::uint32_t other = 0; other < reached_.size(); ++other) {
      if (other != self_) carrier_.send(other, bytes_of(ping));
    }
  }
  void go_on() {
    reached_[self_] = sent_;
    while (sent_ <= steps_ && *std::ranges::min_element(reached_) == sent_ && sent_ > 0) {
      window_.stepped();
      if (sent_ == steps_) done_at_ = std::chrono::steady_clock::now();
      reached_[self_] = ++sent_;
      send(sent_);
    }
  }
  void round() {
    if (sent_ == 0) sent_ = 1;
    if (seconds_since(sent_at_) > 0.02) send(sent_);  // what went before the other could hear it is lost
    if (sent_ <= steps_) return;
    // Whoever is a step behind still needs our last one, and a socket that is closed early takes it away.
    const bool all_there = *std::ranges::min_element(reached_) > steps_;
    if (seconds_since(done_at_) > (all_there ? 0.1 : 0.3)) carrier_.stop();
  }

  link::Carrier& carrier_;
  std::uint32_t self_;
  std::uint64_t steps_;
  std::uint64_t sent_ = 0;
  std::vector<std::uint64_t> reached_;
  std::chrono::steady_clock::time_point sent_at_, done_at_;
  BestWindow window_;
};

void transfer(int socket, char* data, bool out) {
  for (std::size_t done = 0; done < message_size;) {
    const ssize_t n = out ? send(socket, data + done, message_size - done, MSG_NOSIGNAL)
                          : recv(socket, data + done, message_size - done, 0);
    if (n <= 0) _exit(1);
    done += static_cast<std::size_t>(n);
  }
}

/// Two ends of a TCP connection on this machine.
std::array<int, 2> connected_pair() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ENSURE(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener, 1) == 0, "loopback");
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::array<int, 2> ends{socket(AF_INET, SOCK_STREAM, 0), -1};
  ENSURE(connect(ends[0], reinterpret_cast<sockaddr*>(&address), size) == 0, "loopback connects");
  ends[1] = accept(listener, nullptr, nullptr);
  close(listener);
  const int on = 1;
  for (const int end : ends) setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return ends;
}

int socket_with(std::uint32_t host, std::uint16_t port, sockaddr_in& address) {
  address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, DelayedHosts::address(host).c_str(), &address.sin_addr);
  return socket(AF_INET, SOCK_STREAM, 0);
}

/// From inside a host: whoever has the lower number connects.
std::vector<int> connected_hosts(std::uint32_t self, std::uint32_t members) {
  constexpr std::uint16_t port = 7400;
  const int on = 1;
  sockaddr_in address;
  const int listener = socket_with(self, port, address);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ENSURE(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(listener, 8) == 0,
         "host");
  std::vector<int> others;
  for (std::uint32_t i = 0; i < self; ++i) others.push_back(accept(listener, nullptr, nullptr));
  for (std::uint32_t other = self + 1; other < members; ++other) {
    int end = socket_with(other, port, address);
    while (connect(end, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      close(end);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      end = socket_with(other, port, address);
    }
    others.push_back(end);
  }
  for (const int end : others) setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return others;
}

/// One member: a message to everybody, then one of everybody, step by step.
double exchange_over(const std::vector<int>& others, const Course& course) {
  char message[message_size] = {};
  BestWindow window(course.window);
  for (std::uint64_t step = 0; step < course.steps(); ++step) {
    window.stepped();
    for (const int other : others) transfer(other, message, true);
    for (const int other : others) transfer(other, message, false);
  }
  return window.best();
}

struct alignas(64) Slot {
  std::atomic<std::uint32_t> step{0};
  char message[message_size] = {};
};

}  // namespace

double in_processes(std::uint32_t count, const std::function<double(std::uint32_t)>& member) {
  std::vector<pid_t> children;
  std::vector<int> results;
  for (std::uint32_t i = 0; i < count; ++i) {
    int ends[2];
    ENSURE(pipe(ends) == 0, "a pipe");
    const pid_t child = fork();
    ENSURE(child >= 0, "the benchmark can fork");
    if (child == 0) {
      alarm(give_up_s);
      double seconds = -1;
      try {
        seconds = member(i);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
    }
    close(ends[1]);
    children.push_back(child);
    results.push_back(ends[0]);
  }
  double longest = 0;
  bool failed = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    double seconds = -1;
    failed = read(results[i], &seconds, sizeof seconds) != sizeof seconds || seconds < 0 || failed;
    longest = std::max(longest, seconds);
    close(results[i]);
    waitpid(children[i], nullptr, 0);
  }
  return failed ? -1 : longest;
}

double bare_exchange(const MakeCarrier& make, std::uint32_t members, const Course& course) {
  return rate_of(course, in_processes(members, [&](std::uint32_t self) {
                   const auto carrier = make(self, members);
                   return Exchanger(*carrier, self, members, course).run();
                 }));
}

double bare_tcp_exchange(std::uint32_t members, const Course& course) {
  std::vector<std::vector<int>> to(members);
  for (std::uint32_t a = 0; a < members; ++a) {
    for (std::uint32_t b = a + 1; b < members; ++b) {
      const auto ends = connected_pair();
      to[a].push_back(ends[0]), to[b].push_back(ends[1]);
    }
  }
  const double seconds = in_processes(members, [&](std::uint32_t self) { return exchange_over(to[self], course); });
  for (const auto& row : to) {
    for (const int end : row) close(end);
  }
  return rate_of(course, seconds);
}

double bare_hosts_exchange(const DelayedHosts& hosts, std::uint32_t members, const Course& course) {
  return rate_of(course, in_processes(members, [&](std::uint32_t self) {
                   hosts.enter(self);
                   std::vector<int> others = connected_hosts(self, members);
                   const double best = exchange_over(others, course);
                   std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the last message is still under way
                   return best;
                 }));
}

double bare_memory_exchange(std::uint32_t members, const Course& course) {
  const std::size_t size = members * sizeof(Slot);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ENSURE(memory != MAP_FAILED, "shared memory");
  auto* slots = static_cast<Slot*>(memory);
  for (std::uint32_t i = 0; i < members; ++i) new (slots + i) Slot();
  const double seconds = in_processes(members, [&](std::uint32_t self) {
    char message[message_size] = {};
    BestWindow window(course.window);
    for (std::uint32_t step = 1; step <= course.steps(); ++step) {
      window.stepped();
      std::memcpy(slots[self].message, message, message_size);
      slots[self].step.store(step);
      link::futex_wake(slots[self].step);
      for (std::uint32_t other = 0; other < members; ++other) {
        for (std::uint32_t now = slots[other].step.load(); now < step; now = slots[other].step.load()) {
          link::futex_wait(slots[other].step, now, std::chrono::seconds(1));
        }
        std::memcpy(message, slots[other].message, message_size);
      }
    }
    return window.best();
  });
  munmap(memory, size);
  return rate_of(course, seconds);
}

}  // namespace isochron::bench
