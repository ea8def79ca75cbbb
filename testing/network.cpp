#include "testing/network.hpp"

#include "testing/datagrams.hpp"

namespace isochron {

using std::chrono::microseconds;
using std::chrono::milliseconds;

LinkQuality LinkQuality::loopback() {
  LinkQuality quality;
  quality.delay_min = microseconds(1);
  quality.delay_max = microseconds(20);
  return quality;
}

LinkQuality LinkQuality::drawn(RandomStream& random) {
  LinkQuality quality;
  quality.delay_min = microseconds(random.below(1000));
  quality.delay_max = quality.delay_min + microseconds(random.below(random.chance(0.2) ? 200'000 : 5'000));
  if (random.chance(0.7)) quality.loss = random.uniform(0, 0.3);
  if (random.chance(0.5)) quality.duplicate = random.uniform(0, 0.2);
  if (random.chance(0.5)) quality.reorder = random.uniform(0, 0.3);
  quality.reorder_by = milliseconds(1 + random.below(50));
  if (random.chance(0.2)) quality.bytes_per_s = 20'000 + random.below(1'000'000);
  return quality;
}

void SimulatedNetwork::set_quality(const LinkQuality& quality) {
  quality_ = quality;
  for (auto& [hosts, link] : links_) {
    if (hosts.first != hosts.second) link.quality = quality;
  }
}

void SimulatedNetwork::set_quality(const Address& a, const Address& b, const LinkQuality& quality) {
  link(a.ip, b.ip).quality = quality;
  link(b.ip, a.ip).quality = quality;
}

void SimulatedNetwork::cut(const Address& a, const Address& b) {
  cut_one_way(a, b);
  cut_one_way(b, a);
}

void SimulatedNetwork::cut_one_way(const Address& from, const Address& to) {
  scheduler_.history().note(scheduler_.now(), "cut", {number_of(from), number_of(to)});
  cuts_.insert({from.ip, to.ip});
}

void SimulatedNetwork::partition(const std::vector<Address>& island) {
  std::set<Ip> hosts;
  for (const Address& host : island) hosts.insert(host.ip);
  scheduler_.history().note(scheduler_.now(), "partition", {hosts.size()});
  islands_.push_back(std::move(hosts));
}

void SimulatedNetwork::heal() {
  scheduler_.history().note(scheduler_.now(), "heal");
  cuts_.clear();
  islands_.clear();
}

bool SimulatedNetwork::passes(const Ip& from, const Ip& to) const {
  if (cuts_.contains({from, to})) return false;
  for (const auto& island : islands_) {
    if (island.contains(from) != island.contains(to)) return false;
  }
  return true;
}

SimulatedNetwork::Link& SimulatedNetwork::link(const Ip& from, const Ip& to) {
  const auto found = links_.find({from, to});
  if (found != links_.end()) return found->second;
  const std::string name = "link " + to_string(Address{from, 0}) + to_string(Address{to, 0});
  Link fresh{from == to ? LinkQuality::loopback() : quality_, scheduler_.random(name)};
  return links_.emplace(std::pair{from, to}, std::move(fresh)).first->second;
}

/// How long bytes wait for the link to be free and to take them.
WallSpan SimulatedNetwork::queueing(Link& link, std::size_t bytes) {
  if (link.quality.bytes_per_s == 0) return WallSpan::zero();
  const auto takes = WallSpan::from_ns(static_cast<std::int64_t>(bytes * 1'000'000'000 / link.quality.bytes_per_s));
  link.busy_until = std::max(link.busy_until, scheduler_.now()) + takes;
  return link.busy_until - scheduler_.now();
}

WallSpan SimulatedNetwork::delay(Link& link) {
  const auto spread = static_cast<std::uint64_t>((link.quality.delay_max - link.quality.delay_min).ns());
  return link.quality.delay_min + WallSpan::from_ns(static_cast<std::int64_t>(link.random.below(spread + 1)));
}

void SimulatedNetwork::send_datagram(const Ip& from_host, const Ip& to_host, const Address& source,
                                     const Address& target, std::span<const std::byte> bytes) {
  ++counts_.datagrams;
  Link& way = link(from_host, to_host);
  scheduler_.history().note(scheduler_.now(), "datagram", {number_of(source), number_of(target)}, bytes);
  const WallSpan queued = queueing(way, bytes.size());
  if (!passes(from_host, to_host) || way.random.chance(way.quality.loss) || queued > milliseconds(100)) {
    ++counts_.lost;
    return;
  }
  const int copies = way.random.chance(way.quality.duplicate) ? 2 : 1;
  counts_.duplicated += static_cast<std::uint64_t>(copies - 1);
  const Endpoint at{to_host, target.port};
  for (int i = 0; i < copies; ++i) {
    arrive_later(way, queued, from_host, at, source, {bytes.begin(), bytes.end()});
  }
}

void SimulatedNetwork::arrive_later(Link& way, WallSpan queued, const Ip& from_host, const Endpoint& at,
                                    const Address& source, std::vector<std::byte> bytes) {
  WallSpan takes = queued + delay(way);
  if (way.random.chance(way.quality.reorder)) {
    ++counts_.held_back;
    takes += WallSpan::from_ns(static_cast<std::int64_t>(way.random.below(way.quality.reorder_by.ns() + 1)));
  }
  if (!bytes.empty() && way.random.chance(way.quality.corrupt)) {
    ++counts_.corrupted;
    bytes[way.random.below(bytes.size())] ^= static_cast<std::byte>(1u << way.random.below(8));
  }
  scheduler_.after(takes, [this, from_host, at, source, bytes = std::move(bytes)]() mutable {
    const auto port = ports_.find(at);
    const bool arrived = port != ports_.end() && passes(from_host, at.host) &&
                         port->second->arrive(source, from_host == at.host, std::move(bytes));
    if (!arrived) ++counts_.lost;
  });
}

std::uint16_t SimulatedNetwork::free_port(const Ip& host) {
  auto& last = last_port_.try_emplace(host, std::uint16_t{40000}).first->second;
  do {
    last = last == 65535 ? std::uint16_t{40000} : static_cast<std::uint16_t>(last + 1);
  } while (listeners_.contains({host, last}) || ports_.contains({host, last}));
  return last;
}

}  // namespace isochron
