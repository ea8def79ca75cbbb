#pragma once
// A network in which everything goes wrong that goes wrong in real ones, by seed: delay, loss, duplication, reordering,
// corruption, limited bandwidth, partition and heal (also one way only), connections that break. Hosts are known by
// their IP address; between each two there is a link in each direction with a quality and chance of its own, so that
// adding a host changes nothing for the others.
//
// Requires: reactors (testing/reactor.hpp) are destroyed before their network.
// Threads:  owner thread.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/network.hpp"
#include "core/random.hpp"
#include "testing/scheduler.hpp"

namespace isochron {

class SimulatedReactor;
struct Connection;
struct PortState;

/// How good a link is in one direction. Streams lose nothing: what is lost on the way is repeated later, as TCP does.
struct LinkQuality {
  WallSpan delay_min = std::chrono::microseconds(50);
  WallSpan delay_max = std::chrono::microseconds(200);
  double loss = 0;       // share of datagrams, and of stream segments that must be repeated
  double duplicate = 0;  // share of datagrams that come twice
  double reorder = 0;    // share of datagrams held back by up to `reorder_by`
  WallSpan reorder_by = std::chrono::milliseconds(5);
  double corrupt = 0;             // share of datagrams with one bit flipped
  double reset = 0;               // share of stream segments at which the connection breaks
  std::uint64_t bytes_per_s = 0;  // 0 = no limit; a datagram that would queue for longer than 100 ms is lost

  /// No loss, no delay worth the name: what loopback is like.
  [[nodiscard]] static LinkQuality loopback();
  /// A quality drawn at random, from nearly perfect to terrible.
  [[nodiscard]] static LinkQuality drawn(RandomStream& random);
};

/// What the network did so far.
struct NetworkCounts {
  std::uint64_t datagrams = 0, lost = 0, duplicated = 0, held_back = 0, corrupted = 0;
  std::uint64_t segments = 0, repeated = 0, resets = 0;
};

class SimulatedNetwork {
 public:
  using Ip = std::array<std::uint8_t, 16>;

  explicit SimulatedNetwork(Scheduler& scheduler) : scheduler_(scheduler) {}
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  /// For all links between different hosts, from now on.
  void set_quality(const LinkQuality& quality);
  /// For one link in both directions; ports are ignored.
  void set_quality(const Address& a, const Address& b, const LinkQuality& quality);

  /// Nothing passes between a and b until healed.
  void cut(const Address& a, const Address& b);
  void cut_one_way(const Address& from, const Address& to);
  /// Nothing passes between these hosts and all others.
  void partition(const std::vector<Address>& island);
  void heal();

  /// What cannot pass for this long ends its stream with `unreachable`.
  void set_stream_timeout(WallSpan timeout) { stream_timeout_ = timeout; }
  [[nodiscard]] const NetworkCounts& counts() const { return counts_; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }

 private:
  friend class SimulatedReactor;
  friend class SimulatedDatagrams;
  friend class SimulatedListener;
  friend struct Connection;

  struct Link {
    LinkQuality quality;
    RandomStream random;
    WallTime busy_until = WallTime::zero();
  };
  struct ListenerState {
    SimulatedReactor* reactor;
    Address bound;
    std::function<void(std::unique_ptr<Stream>)> on_accept;
    bool open = true;
  };
  struct Endpoint {  // a port of a host
    Ip host;
    std::uint16_t port;
    friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
  };

  Link& link(const Ip& from, const Ip& to);
  [[nodiscard]] bool passes(const Ip& from, const Ip& to) const;
  [[nodiscard]] WallSpan queueing(Link& link, std::size_t bytes);
  [[nodiscard]] WallSpan delay(Link& link);
  void send_datagram(const Ip& from_host, const Ip& to_host, const Address& source, const Address& target,
                     std::span<const std::byte> bytes);
  void arrive_later(Link& link, WallSpan queued, const Ip& from_host, const Endpoint& at, const Address& source,
                    std::vector<std::byte> bytes);
  std::uint16_t free_port(const Ip& host);

  Scheduler& scheduler_;
  LinkQuality quality_;
  std::map<std::pair<Ip, Ip>, Link> links_;
  std::set<std::pair<Ip, Ip>> cuts_;
  std::vector<std::set<Ip>> islands_;
  std::map<Endpoint, std::shared_ptr<ListenerState>> listeners_;  // shared: an accept may be on its way
  std::map<Endpoint, std::shared_ptr<PortState>> ports_;          // shared: a datagram may be on its way
  std::map<Ip, std::uint16_t> last_port_;
  std::map<Ip, int> hosts_;  // how many processes each has had: these hosts refuse, unknown ones stay silent
  std::uint64_t last_connection_ = 0;
  WallSpan stream_timeout_ = std::chrono::seconds(20);
  NetworkCounts counts_;
};

/// For History: one number for an address.
inline std::uint64_t number_of(const Address& address) { return AddressHash{}(address); }

}  // namespace isochron
