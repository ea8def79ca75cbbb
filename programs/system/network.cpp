#include "programs/system/network.hpp"

#include <algorithm>

namespace isochron::programs {

namespace {
constexpr SimSpan sent_again = std::chrono::milliseconds(200);
constexpr std::size_t frame = 66;  // bytes around a payload on the wire

std::uint32_t first_address(std::size_t network) { return 0x0a000001 + static_cast<std::uint32_t>(network << 8); }
}  // namespace

bool Host::has(std::uint32_t ip) const {
  return is_loopback(ip) ||
         std::any_of(addresses.begin(), addresses.end(), [ip](const auto& a) { return a.first == ip; });
}

Network::Network(const std::vector<NetworkSpec>& networks, const std::vector<std::string>& robots, std::uint64_t seed)
    : networks_(networks), seed_(seed) {
  for (const std::string& robot : robots) {
    hosts_[robot] = std::make_unique<Host>();
    hosts_[robot]->name = robot;
  }
  if (networks_.empty()) {  // all of them on one
    networks_.push_back({});
    networks_[0].name = "network";
    for (const std::string& robot : robots) networks_[0].hosts.emplace_back(robot, 0);
  }
  for (std::size_t n = 0; n < networks_.size(); ++n) {
    std::uint32_t next = first_address(n);
    for (auto& [robot, ip] : networks_[n].hosts) {
      if (ip == 0) ip = next;
      next = std::max(next, ip + 1);
      if (const auto found = hosts_.find(robot); found != hosts_.end()) found->second->addresses.emplace_back(ip, n);
    }
  }
}

Host* Network::find(Host& from, std::uint32_t ip) {
  if (ip == 0 || from.has(ip)) return &from;
  for (auto& [name, host] : hosts_) {
    for (const auto& [address, network] : host->addresses) {
      if (address == ip && between(from, *host) != nullptr) return host.get();
    }
  }
  return nullptr;
}

std::optional<std::uint32_t> Network::look_up(const Host& from, const std::string& name) const {
  if (name == "localhost") return loopback;
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return std::nullopt;
  if (found->second.get() == &from && from.addresses.empty()) return loopback;
  return address_towards(*found->second, from);
}

std::uint32_t Network::address_towards(const Host& from, const Host& to) {
  for (const auto& [ip, network] : from.addresses) {
    for (const auto& [other, same] : to.addresses) {
      if (network == same) return ip;
    }
  }
  return from.addresses.empty() ? loopback : from.addresses[0].first;
}

std::vector<Host*> Network::around(Host& from) {
  std::vector<Host*> found;
  for (auto& [name, host] : hosts_) {
    if (host.get() == &from || between(from, *host) != nullptr) found.push_back(host.get());
  }
  return found;
}

bool Network::is_broadcast(const Host& from, std::uint32_t ip) const {
  if (ip == 0xffffffff) return true;
  return std::any_of(from.addresses.begin(), from.addresses.end(),
                     [ip](const auto& a) { return ip == (a.first | 255u) && a.first != ip; });
}

const NetworkSpec* Network::between(const Host& from, const Host& to) const {
  for (const auto& [ip, network] : from.addresses) {
    for (const auto& [other, same] : to.addresses) {
      if (network == same) return &networks_[network];
    }
  }
  return nullptr;
}

Network::Way& Network::way(const Host& from, const Host& to, std::size_t network) {
  const auto found = ways_.find({&from, &to});
  if (found != ways_.end()) return found->second;
  const std::string name = "network " + networks_[network].name + " " + from.name + " " + to.name;
  return ways_.emplace(std::pair(&from, &to), Way{network, RandomStream(seed_, name), {}, {}}).first->second;
}

SimSpan Network::latency(const Host& from, const Host& to) const {
  if (&from == &to) return SimSpan::zero();
  const NetworkSpec* network = between(from, to);
  return network == nullptr ? SimSpan::zero() : std::max(network->latency, SimSpan::from_ns(1));
}

bool Network::is_rated(const Host& from, const Host& to) const {
  const NetworkSpec* network = &from == &to ? nullptr : between(from, to);
  return network != nullptr && network->bits_per_s > 0;
}

/// When two hosts that are apart now can reach each other again; `now` when they are not.
SimTime Network::healed(const NetworkSpec& network, const Host& from, const Host& to, SimTime now) {
  for (const NetworkCut& cut : network.cuts) {
    if (now < cut.from || now >= cut.until) continue;
    const auto in = [&](const Host& host) {
      return std::find(cut.robots.begin(), cut.robots.end(), host.name) != cut.robots.end();
    };
    if (in(from) != in(to)) return cut.until;
  }
  return now;
}

std::optional<SimTime> Network::carry(const Host& from, const Host& to, std::size_t bytes, SimTime now, bool reliable) {
  if (&from == &to) return now;
  const NetworkSpec* network = between(from, to);
  if (network == nullptr) return std::nullopt;
  Way& w = way(from, to, static_cast<std::size_t>(network - networks_.data()));
  SimTime leaves = healed(*network, from, to, now);
  if (leaves > now && !reliable) return std::nullopt;
  if (leaves == SimTime::never()) return SimTime::never();
  leaves = std::max(leaves, w.free);
  if (network->bits_per_s > 0) {
    leaves +=
        SimSpan::from_ns(static_cast<std::int64_t>(static_cast<double>(bytes + frame) * 8e9 / network->bits_per_s));
    w.free = leaves;
  }
  SimTime there = leaves + latency(from, to);
  if (network->jitter > SimSpan::zero()) {
    there +=
        SimSpan::from_ns(static_cast<std::int64_t>(w.chance.uniform() * static_cast<double>(network->jitter.ns())));
  }
  while (network->loss > 0 && w.chance.uniform() < network->loss) {
    if (!reliable) return std::nullopt;
    there += std::max(sent_again, latency(from, to) * 2);
  }
  return there;
}

}  // namespace isochron::programs
