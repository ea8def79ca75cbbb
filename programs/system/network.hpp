#pragma once
// The simulated networks: robots are hosts, with an address on each network they are on, and what one sends comes to
// another after the network's latency, jitter and rate, or is lost, all by the run's seed.
//
//      sent ──► waits until the link is free ──► size / rate ──► latency + jitter ──► there
//
// What is sent on a stream is never lost: it comes later, as if sent again. Within a host nothing takes time.
//
// Promises: the same sends give the same arrivals. Threads: owner. Cost: allocates at set-up and for a new pair of
// hosts.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "core/time.hpp"
#include "programs/spec.hpp"
#include "programs/system/address.hpp"

namespace isochron::programs {

class Socket;

struct Host {
  std::string name;
  std::vector<std::pair<std::uint32_t, std::size_t>> addresses;  // and the network of each
  std::vector<Socket*> sockets;                                  // that are bound
  std::uint16_t next_port = 32768;
  [[nodiscard]] bool has(std::uint32_t ip) const;
};

class Network {
 public:
  Network(const std::vector<NetworkSpec>& networks, const std::vector<std::string>& robots, std::uint64_t seed);

  [[nodiscard]] Host& host(const std::string& robot) { return *hosts_.at(robot); }
  /// The host that has this address as `from` sees it; null: none.
  [[nodiscard]] Host* find(Host& from, std::uint32_t ip);
  [[nodiscard]] std::optional<std::uint32_t> look_up(const Host& from, const std::string& name) const;
  /// The address by which `from` is seen by `to`.
  [[nodiscard]] static std::uint32_t address_towards(const Host& from, const Host& to);
  /// All hosts that a multicast or broadcast of this one comes to, itself among them.
  [[nodiscard]] std::vector<Host*> around(Host& from);
  [[nodiscard]] bool is_broadcast(const Host& from, std::uint32_t ip) const;

  /// When so many bytes that leave at `now` are there; nothing: they are lost. `reliable`: they come later instead.
  std::optional<SimTime> carry(const Host& from, const Host& to, std::size_t bytes, SimTime now, bool reliable);
  /// The time of an empty message, with nothing in its way.
  [[nodiscard]] SimSpan latency(const Host& from, const Host& to) const;
  /// Whether bytes take time by themselves: then they are sent in pieces.
  [[nodiscard]] bool is_rated(const Host& from, const Host& to) const;

 private:
  struct Way {
    std::size_t network = 0;
    RandomStream chance;
    SimTime free;  // the link is busy until then
    SimTime last;
  };
  [[nodiscard]] const NetworkSpec* between(const Host& from, const Host& to) const;
  Way& way(const Host& from, const Host& to, std::size_t network);
  [[nodiscard]] static SimTime healed(const NetworkSpec& network, const Host& from, const Host& to, SimTime now);

  std::vector<NetworkSpec> networks_;
  std::uint64_t seed_;
  std::map<std::string, std::unique_ptr<Host>> hosts_;
  std::map<std::pair<const Host*, const Host*>, Way> ways_;
};

}  // namespace isochron::programs
