// A random program of two to five processes that talk over pipes, socket pairs, UDP, TCP, epoll and eventfd: some hundred
// calls, by seed. Nothing waits but for the turn; what each call gave is printed.
//
//   forced   one process at a time makes a call, in an order that the seed says: the kernel gives the same every time
//   free     each makes its calls when it likes, with sleeps in between: only on simulated time is it the same twice
//
//   random_program SEED forced|free ADDRESS
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int slots = 10;

/// The same numbers in every process, whatever its library does.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  int below(int n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int>((state_ >> 20) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

enum class Do {
  udp,
  send_to,
  receive,
  listen,
  connect,
  accept,
  send,
  write,
  read,
  shut,
  close,
  poll,
  available,
  error,
  dup,
  watch,
  unwatch,
  look,
  pair,
  pipe,
  event,
  child,
  name,
  peer,
  count
};
constexpr std::array<const char*, static_cast<std::size_t>(Do::count)> names = {
    "udp",     "send_to", "receive", "listen", "connect",   "accept", "send", "write",
    "read",    "shut",    "close",   "poll",   "available", "error",  "dup",  "watch",
    "unwatch", "look",    "pair",    "pipe",   "event",     "child",  "name", "peer"};

struct Step {
  int process = 0;
  Do what = Do::poll;
  int slot = 0, other = 0, whom = 0, number = 0;
};

class Program {
 public:
  Program(int process, const char* address) : process_(process), address_(inet_addr(address)) {
    slots_.fill(-1);
    set_ = epoll_create1(EPOLL_CLOEXEC);
  }
  std::array<int, slots> slots_;

  void perform(const Step& s, int number) {
    errno = 0;
    const long result = act(s);
    char text[160];
    std::snprintf(text, sizeof text, "%d/%d %s(%d,%d,%d,%d) = %ld %s%s\n", number, process_,
                  names[static_cast<std::size_t>(s.what)], s.slot, s.other, s.whom, s.number, result,
                  result < 0 ? strerrorname_np(errno) : "", more_.c_str());
    log_ += text;
    more_.clear();
  }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  [[nodiscard]] sockaddr_in port(int process, int slot) const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = address_;
    to.sin_port = htons(static_cast<std::uint16_t>(20000 + process * slots + slot));
    return to;
  }
  int& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }
  long put(int slot, int descriptor) {
    if (descriptor < 0) return -1;
    if (at(slot) >= 0) close(at(slot));
    at(slot) = descriptor;
    return 0;
  }
  template <class Open>
  long open_bound(int slot, int type, Open&& then) {
    const int one = socket(AF_INET, type | SOCK_NONBLOCK, 0);
    const int yes = 1;
    setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in here = port(process_, slot);
    if (bind(one, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 || then(one) != 0) {
      const int error = errno;
      close(one);
      errno = error;
      return -1;
    }
    return put(slot, one);
  }
  static bool is_event(int descriptor) {
    char path[64], target[64] = {};
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return readlink(path, target, sizeof target - 1) > 0 && std::strcmp(target, "anon_inode:[eventfd]") == 0;
  }
  std::string filled(int size) {
    std::string data(static_cast<std::size_t>(size), 'a');
    for (char& c : data) c = static_cast<char>('a' + next_++ % 26);
    return data;
  }
  long got(long size, const char* data) {
    std::uint32_t sum = 0;
    for (long i = 0; i < size; ++i) sum = sum * 31 + static_cast<unsigned char>(data[i]);
    if (size > 0) more_ = " " + std::to_string(sum);
    return size;
  }

  long act(const Step& s) {
    char data[512];
    const auto size = static_cast<std::size_t>(1 + s.number % 300);
    switch (s.what) {
      case Do::udp:
        return open_bound(s.slot, SOCK_DGRAM, [](int) { return 0; });
      case Do::listen:
        return open_bound(s.slot, SOCK_STREAM, [](int one) { return ::listen(one, 4); });
      case Do::connect: {
        const int one = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        const sockaddr_in to = port(s.whom, s.other);
        const long result = ::connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to);
        const int error = errno;
        put(s.slot, one);
        errno = error;
        return result;
      }
      case Do::send_to: {
        const sockaddr_in to = port(s.whom, s.other);
        const std::string out = filled(static_cast<int>(size));
        return sendto(at(s.slot), out.data(), out.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
                      sizeof to);
      }
      case Do::receive:
        return got(recv(at(s.slot), data, size, s.number % 5 == 0 ? MSG_PEEK : 0), data);
      case Do::accept: {
        const int one = accept4(at(s.slot), nullptr, nullptr, SOCK_NONBLOCK);
        return one < 0 ? -1 : put(s.other, one);
      }
      case Do::send: {
        const std::string out = filled(static_cast<int>(size));
        return ::send(at(s.slot), out.data(), out.size(), MSG_NOSIGNAL);
      }
      case Do::write: {
        if (is_event(at(s.slot))) return 0;  // kernels differ in what sizes they take
        std::string out = filled(static_cast<int>(size));
        iovec parts[2] = {{out.data(), out.size() / 2}, {out.data() + out.size() / 2, out.size() - out.size() / 2}};
        return writev(at(s.slot), parts, 2);
      }
      case Do::read:
        return got(::read(at(s.slot), data, size), data);
      case Do::shut:
        return shutdown(at(s.slot), s.number % 3);
      case Do::close: {
        const int one = std::exchange(at(s.slot), -1);
        return ::close(one);
      }
      case Do::poll: {
        pollfd all[slots];
        for (int i = 0; i < slots; ++i) all[i] = {at(i), POLLIN | POLLOUT, 0};
        const int found = ::poll(all, slots, 0);
        for (const pollfd& one : all) more_ += " " + std::to_string(one.revents);
        return found;
      }
      case Do::available: {
        int there = 0;
        const int result = ioctl(at(s.slot), FIONREAD, &there);
        if (result == 0) more_ = " " + std::to_string(there);
        return result;
      }
      case Do::error: {
        int error = 0;
        socklen_t length = sizeof error;
        const int result = getsockopt(at(s.slot), SOL_SOCKET, SO_ERROR, &error, &length);
        if (result == 0) more_ = " " + std::to_string(error);
        return result;
      }
      case Do::dup: {
        const int one = ::dup(at(s.slot));
        return one < 0 ? -1 : put(s.other, one);
      }
      case Do::watch: {
        epoll_event event{};
        event.events = EPOLLIN | (s.number % 2 != 0 ? EPOLLOUT : 0u) | (s.number % 3 == 0 ? EPOLLET : 0u);
        event.data.u32 = static_cast<std::uint32_t>(s.slot);
        return epoll_ctl(set_, s.number % 4 == 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, at(s.slot), &event);
      }
      case Do::unwatch:
        return epoll_ctl(set_, EPOLL_CTL_DEL, at(s.slot), nullptr);
      case Do::look: {
        epoll_event found[slots * 2];
        const int n = epoll_wait(set_, found, slots * 2, 0);
        std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted;
        for (int i = 0; i < n; ++i)
          sorted.emplace_back(std::uint32_t{found[i].data.u32}, std::uint32_t{found[i].events});
        std::sort(sorted.begin(), sorted.end());
        for (const auto& [slot, events] : sorted) more_ += " " + std::to_string(slot) + ":" + std::to_string(events);
        return n;
      }
      case Do::pair: {
        int ends[2];
        const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
        if (socketpair(AF_UNIX, types[s.number % 3] | SOCK_NONBLOCK, 0, ends) != 0) return -1;
        put(s.slot, ends[0]);
        return s.other == s.slot ? ::close(ends[1]) : put(s.other, ends[1]);
      }
      case Do::pipe: {
        int ends[2];
        if (pipe2(ends, SOCK_NONBLOCK) != 0) return -1;
        put(s.slot, ends[0]);
        return s.other == s.slot ? ::close(ends[1]) : put(s.other, ends[1]);
      }
      case Do::event:
        if (at(s.slot) >= 0 && s.number % 2 == 0) {
          std::uint64_t value = static_cast<std::uint64_t>(s.number);
          return ::write(at(s.slot), &value, sizeof value);
        }
        return put(s.slot, eventfd(static_cast<unsigned>(s.number % 3), EFD_NONBLOCK));
      case Do::child: {
        if (is_event(at(s.slot))) return 0;
        const pid_t child = fork();
        if (child == 0) {
          const ssize_t sent = ::write(at(s.slot), "child", 5);
          _exit(sent < 0 ? 100 : static_cast<int>(sent));
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status) - 1000;
      }
      case Do::name:
      case Do::peer: {
        sockaddr_in address{};
        socklen_t length = sizeof address;
        auto* to = reinterpret_cast<sockaddr*>(&address);
        const int result =
            s.what == Do::name ? getsockname(at(s.slot), to, &length) : getpeername(at(s.slot), to, &length);
        if (result == 0) more_ = " " + std::to_string(address.sin_family);
        // Ports that are chosen by the kernel are its own business.
        if (result == 0 && address.sin_family == AF_INET && ntohs(address.sin_port) < 30000)
          more_ += ":" + std::to_string(ntohs(address.sin_port));
        return result;
      }
      case Do::count:
        break;
    }
    return 0;
  }

  int process_;
  in_addr_t address_;
  int set_ = -1;
  unsigned next_ = 0;
  std::string log_, more_;
};

std::vector<Step> plan_of(std::uint64_t seed, int processes) {
  Chance chance(seed);
  // Those that move bytes come more often than those that open and close.
  const Do often[] = {Do::send,    Do::send,    Do::write, Do::read, Do::read,   Do::receive,
                      Do::receive, Do::send_to, Do::poll,  Do::look, Do::accept, Do::connect};
  std::vector<Step> plan;
  const int count = 150 + chance.below(150);
  for (int i = 0; i < count; ++i) {
    Step step;
    step.process = chance.below(processes);
    step.what = chance.below(2) == 0 ? often[chance.below(std::size(often))]
                                     : static_cast<Do>(chance.below(static_cast<int>(Do::count)));
    if (step.what == Do::close && chance.below(2) == 0) step.what = Do::read;
    const Do openers[] = {Do::udp, Do::udp, Do::listen, Do::listen, Do::pair, Do::pipe};
    if (i < count / 8) step.what = openers[chance.below(std::size(openers))];
    step.slot = chance.below(slots);
    step.other = chance.below(slots);
    step.whom = chance.below(processes);
    step.number = chance.below(1000);
    plan.push_back(step);
  }
  return plan;
}

}  // namespace

int main(int count, char** values) {
  if (count < 4) return std::fprintf(stderr, "SEED forced|free ADDRESS\n"), 2;
  const auto seed = std::strtoull(values[1], nullptr, 10);
  const bool forced = std::strcmp(values[2], "forced") == 0;
  signal(SIGPIPE, SIG_IGN);
  const int processes = 2 + Chance(seed ^ 77).below(4);
  const std::vector<Step> plan = plan_of(seed, processes);

  std::vector<std::array<int, 2>> turns(static_cast<std::size_t>(processes));
  for (auto& turn : turns) {
    if (pipe(turn.data()) != 0) return 1;
  }
  const auto give = [&](int process) { return write(turns[static_cast<std::size_t>(process)][1], "t", 1) == 1; };
  const auto take = [&](int process) {
    char t = 0;
    return read(turns[static_cast<std::size_t>(process)][0], &t, 1) == 1;
  };
  int shared[4][2];  // that all of them have
  const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
  for (int i = 0; i < 3; ++i) {
    if (socketpair(AF_UNIX, types[i] | SOCK_NONBLOCK, 0, shared[i]) != 0) return 1;
  }
  if (pipe2(shared[3], SOCK_NONBLOCK) != 0) return 1;

  int me = 0;
  std::vector<pid_t> children;
  for (int i = 1; i < processes && me == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      me = i;
    } else {
      children.push_back(child);
    }
  }
  Program program(me, values[3]);
  for (int i = 0; i < 4; ++i) {
    program.slots_[static_cast<std::size_t>(2 * i)] = shared[i][0];
    program.slots_[static_cast<std::size_t>(2 * i + 1)] = shared[i][1];
  }
  Chance pauses(seed * 1000 + static_cast<unsigned>(me));
  if (forced && me == 0 && !give(plan.front().process)) return 1;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].process != me) continue;
    if (forced && !take(me)) return 1;
    if (!forced) usleep(static_cast<useconds_t>(pauses.below(3000)));
    program.perform(plan[i], static_cast<int>(i));
    // The last of the plan lets all print, in their order.
    if (forced && !give(i + 1 < plan.size() ? plan[i + 1].process : 0)) return 1;
  }
  if (me != 0 || forced) {
    if (!take(me)) return 1;
  }
  std::string out = program.log();
  for (std::size_t at = 0; at < out.size();) {
    const ssize_t written = write(1, out.data() + at, out.size() - at);
    if (written <= 0) return 1;
    at += static_cast<std::size_t>(written);
  }
  if (me + 1 < processes && !give(me + 1)) return 1;
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  return 0;
}
