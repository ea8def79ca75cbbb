#include "scenario/bench/bare_exchange.hpp"

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

double rate_of(std::uint64_t steps, double seconds) { return seconds > 0 ? static_cast<double>(steps) / seconds : 0; }

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
  Exchanger(link::Carrier& carrier, std::uint32_t self, std::uint32_t count, std::uint64_t steps)
      : carrier_(carrier), self_(self), steps_(steps), reached_(count, 0) {}

  double run() {
    carrier_.start({[this](std::span<const std::byte> bytes) { return took(bytes); }, [this] { round(); }, {}});
    carrier_.run();
    return seconds_;
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
      if (sent_ == 1) start_ = std::chrono::steady_clock::now();
      if (sent_ == steps_) seconds_ = seconds_since(start_);
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
    if (seconds_since(start_) - seconds_ > (all_there ? 0.1 : 0.3)) carrier_.stop();
  }

  link::Carrier& carrier_;
  std::uint32_t self_;
  std::uint64_t steps_;
  std::uint64_t sent_ = 0;
  std::vector<std::uint64_t> reached_;
  std::chrono::steady_clock::time_point start_, sent_at_;
  double seconds_ = -1;
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

double bare_exchange(const MakeCarrier& make, std::uint32_t members, std::uint64_t steps) {
  return rate_of(steps, in_processes(members, [&](std::uint32_t self) {
                   const auto carrier = make(self, members);
                   return Exchanger(*carrier, self, members, steps).run();
                 }));
}

double bare_tcp_exchange(std::uint32_t members, std::uint64_t steps) {
  std::vector<std::vector<int>> to(members, std::vector<int>(members, -1));
  for (std::uint32_t a = 0; a < members; ++a) {
    for (std::uint32_t b = a + 1; b < members; ++b) {
      const auto ends = connected_pair();
      to[a][b] = ends[0], to[b][a] = ends[1];
    }
  }
  const double seconds = in_processes(members, [&](std::uint32_t self) {
    char message[message_size] = {};
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (const int other : to[self]) other < 0 ? void() : transfer(other, message, true);
      for (const int other : to[self]) other < 0 ? void() : transfer(other, message, false);
    }
    return seconds_since(start);
  });
  for (const auto& row : to) {
    for (const int end : row) end < 0 ? 0 : close(end);
  }
  return rate_of(steps, seconds);
}

double bare_memory_exchange(std::uint32_t members, std::uint64_t steps) {
  const std::size_t size = members * sizeof(Slot);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ENSURE(memory != MAP_FAILED, "shared memory");
  auto* slots = static_cast<Slot*>(memory);
  for (std::uint32_t i = 0; i < members; ++i) new (slots + i) Slot();
  const double seconds = in_processes(members, [&](std::uint32_t self) {
    char message[message_size] = {};
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t step = 1; step <= steps; ++step) {
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
    return seconds_since(start);
  });
  munmap(memory, size);
  return rate_of(steps, seconds);
}

}  // namespace isochron::bench
