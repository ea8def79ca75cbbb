#include "run/bench/delayed_hosts.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <stdexcept>

namespace isochron::bench {
namespace {

void must(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

ifreq request(const char* name) {
  ifreq r{};
  std::strncpy(r.ifr_name, name, IFNAMSIZ - 1);
  return r;
}

void set_address(int socket, unsigned long what, const char* name, const std::string& address) {
  ifreq r = request(name);
  auto& in = reinterpret_cast<sockaddr_in&>(r.ifr_addr);
  in.sin_family = AF_INET;
  inet_pton(AF_INET, address.c_str(), &in.sin_addr);
  must(ioctl(socket, what, &r), "address of a host");
}

void bring_up(int socket, const char* name) {
  ifreq r = request(name);
  must(ioctl(socket, SIOCGIFFLAGS, &r), "flags");
  r.ifr_flags = static_cast<short>(r.ifr_flags | IFF_UP | IFF_RUNNING);
  must(ioctl(socket, SIOCSIFFLAGS, &r), "interface of a host");
}

}  // namespace

DelayedHosts::DelayedHosts(std::uint32_t count, std::chrono::nanoseconds delay)
    : spaces_(count, -1), tunnels_(count, -1) {
  for (std::uint32_t host = 0; host < count && trouble_.empty(); ++host) {
    // A namespace is a thread's own: this one makes it and goes; the files keep it.
    std::thread([this, host] {
      try {
        make_host(host);
      } catch (const std::runtime_error& error) {
        trouble_ = error.what();
      }
    }).join();
  }
  if (!trouble_.empty()) return;
  forwarder_ = std::thread([this, delay] { forward(delay); });
  for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core) {
    wakers_.emplace_back([this, core] { stay_awake(core); });
  }
}

DelayedHosts::~DelayedHosts() {
  ending_ = true;
  if (forwarder_.joinable()) forwarder_.join();
  for (std::thread& waker : wakers_) waker.join();
  for (const auto& fds : {spaces_, tunnels_}) {
    for (const int fd : fds) {
      if (fd >= 0) close(fd);
    }
  }
}

void DelayedHosts::make_host(std::uint32_t host) {
  must(unshare(CLONE_NEWNET), "a network namespace (needs root)");
  must(spaces_[host] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "its file");
  must(tunnels_[host] = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "/dev/net/tun");
  ifreq r = request("way");
  r.ifr_flags = IFF_TUN | IFF_NO_PI;
  must(ioctl(tunnels_[host], TUNSETIFF, &r), "a tunnel");
  const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  must(control, "a socket");
  set_address(control, SIOCSIFADDR, "way", address(host));
  set_address(control, SIOCSIFNETMASK, "way", "255.255.255.0");
  bring_up(control, "way");
  bring_up(control, "lo");
  close(control);
}

void DelayedHosts::enter(std::uint32_t host) const { must(setns(spaces_[host], CLONE_NEWNET), "entering a host"); }

void DelayedHosts::stay_awake(unsigned core) const {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  const sched_param none{};
  if (sched_setaffinity(0, sizeof one, &one) != 0 || sched_setscheduler(0, SCHED_IDLE, &none) != 0) return;
  while (!ending_) {
  }
}

void DelayedHosts::forward(std::chrono::nanoseconds delay) {
  using Clock = std::chrono::steady_clock;
  struct Packet {
    Clock::time_point due;
    int to;
    std::vector<char> bytes;
  };
  constexpr auto spin = std::chrono::microseconds(200);
  std::deque<Packet> under_way;  // all have the same delay: in order
  std::vector<pollfd> polls;
  for (const int tunnel : tunnels_) polls.push_back({tunnel, POLLIN, 0});
  std::vector<char> room(65536);
  while (!ending_) {
    for (; !under_way.empty() && under_way.front().due <= Clock::now(); under_way.pop_front()) {
      const Packet& packet = under_way.front();
      if (write(packet.to, packet.bytes.data(), packet.bytes.size()) < 0) continue;  // as a network loses it
    }
    bool any = false;
    for (const int tunnel : tunnels_) {
      for (ssize_t n = read(tunnel, room.data(), room.size()); n > 0; n = read(tunnel, room.data(), room.size())) {
        any = true;
        const auto host = static_cast<std::size_t>(static_cast<unsigned char>(room[19]) - 1);  // end of the IPv4 target
        if (n < 20 || (room[0] >> 4) != 4 || host >= tunnels_.size()) continue;
        under_way.push_back({Clock::now() + delay, tunnels_[host], {room.begin(), room.begin() + n}});
      }
    }
    if (any) continue;
    const auto wait = under_way.empty() ? std::chrono::nanoseconds(std::chrono::milliseconds(20))
                                        : under_way.front().due - Clock::now() - spin;
    if (wait <= std::chrono::nanoseconds(0)) continue;
    const timespec longest{0, std::min<long>(wait.count(), 20'000'000)};
    ppoll(polls.data(), polls.size(), &longest, nullptr);
  }
}

}  // namespace isochron::bench
