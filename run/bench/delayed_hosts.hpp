#pragma once
// Hosts on one machine: network namespaces whose packets pass through us and come out a fixed time later, since the
// kernels of our machines have no `tc netem`. Host i is 10.78.0.(i + 1).
//
// Waking a sleeping core costs as much here as a whole host's work for a step, and hosts of one's own would not share
// two cores: so threads of idle priority, which give way to everybody, keep the cores from sleeping.
//
// Needs root. Threads: one of its own forwards packets and spins towards their time; one for each core.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace isochron::bench {

class DelayedHosts {
 public:
  DelayedHosts(std::uint32_t count, std::chrono::nanoseconds delay);
  ~DelayedHosts();
  DelayedHosts(const DelayedHosts&) = delete;
  DelayedHosts& operator=(const DelayedHosts&) = delete;

  /// Why there are none; "" = there are.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// The calling process lives on that host from now on.
  void enter(std::uint32_t host) const;
  [[nodiscard]] static std::string address(std::uint32_t host) { return "10.78.0." + std::to_string(host + 1); }

 private:
  void make_host(std::uint32_t host);
  void forward(std::chrono::nanoseconds delay);
  void stay_awake(unsigned core) const;

  std::vector<int> spaces_;   // each host's network namespace
  std::vector<int> tunnels_;  // and its packets
  std::string trouble_;
  std::atomic<bool> ending_{false};
  std::thread forwarder_;
  std::vector<std::thread> wakers_;
};

}  // namespace isochron::bench
