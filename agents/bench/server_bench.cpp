// The server by itself: datagrams through it beside bare system calls that move the same bytes, and what one more agent
// costs, in time and memory.

#include <malloc.h>
#include <sched.h>
#include <sys/socket.h>

#include <cmath>
#include <cstring>

#include "agents/bench/parts.hpp"
#include "agents/downlink.hpp"
#include "agents/handler.hpp"
#include "link/socket.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using namespace agents;

constexpr std::size_t batch = 64;

void pin() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

void unpin() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

/// One client's datagrams, made and sealed ahead of time.
class Talker {
 public:
  Talker(const std::vector<Crowd::Place>& places, Connection connection, SimSpan heartbeat)
      : places_(places), heartbeat_(heartbeat), sealer_({}) {
    wire::WorldInfo world;
    world.set_heartbeat_ns(heartbeat.ns());
    cache_.joined(connection, world);
    for (std::size_t i = 0; i < places.size(); ++i) {
      cache_.add(std::to_string(connection) + "/" + std::to_string(i), {}, to_any(BodyState{}).type_url());
    }
  }
  /// Everything of one heartbeat.
  std::vector<std::vector<std::byte>> say(int beat) {
    const SimTime t = SimTime::zero() + beat * heartbeat_;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      BodyState body;
      body.position = {places_[i].x + 0.01 * beat, places_[i].y, 0.5};
      body.linear = {1, 0, 0};
      cache_.publish(i, t, body);
    }
    cache_.reached(t);
    cache_.begin_packing({WallTime::zero() + WallSpan(1ms) * beat, WallSpan(10s)});
    std::vector<std::vector<std::byte>> all;
    while (cache_.pack(up_, largest_datagram - connection_bytes - link::seal_bytes)) {
      std::vector<std::byte> bytes(connection_bytes + link::seal_bytes + up_.ByteSizeLong());
      const Connection connection = cache_.connection();
      std::memcpy(bytes.data(), &connection, connection_bytes);
      up_.SerializeToArray(bytes.data() + connection_bytes + link::seal_head_bytes,
                           static_cast<int>(up_.ByteSizeLong()));
      sealer_.seal(std::span(bytes).subspan(connection_bytes));
      all.push_back(std::move(bytes));
    }
    return all;
  }
  void hear(wire::Down& down) { cache_.take(down); }

 private:
  const std::vector<Crowd::Place>& places_;
  SimSpan heartbeat_;
  StateCache cache_;
  link::Sealer sealer_;
  wire::Up up_;
};

/// The server without its sockets and door: what Server does with each batch.
class Core {
 public:
  Core(const Crowd& crowd, SimSpan heartbeat)
      : map_(settings(heartbeat)), downlink_(map_, {}), handler_({.datagrams_per_s = 1e9}) {
    for (std::size_t i = 0; i < crowd.of_client.size(); ++i) {
      const Connection connection = 1000 + i;
      Profile& client = map_.add(connection, "client" + std::to_string(i), wire::VICINITY, now_);
      client.sealer.emplace(std::array<std::byte, 16>{});
      client.endpoint = Address::loopback(static_cast<std::uint16_t>(20000 + i));
      handler_.add(connection, {});
    }
  }
  void take(std::span<const std::byte> bytes) {
    const auto passed = handler_.take(bytes, now_, up_);
    if (!passed) return;
    Profile* client = map_.find(passed->connection);
    map_.take(*client, up_, now_);
    // As if every notice had arrived: acknowledging is the clients' business.
    client->notices.acknowledged(UINT64_MAX);
  }
  std::span<const Datagram> speak() {
    downlink_.gather(now_);
    return downlink_.batch();
  }
  void clear() { downlink_.clear(); }
  void pass(WallSpan span) { now_ += span; }
  [[nodiscard]] WorldMap& map() { return map_; }

 private:
  static WorldSettings settings(SimSpan heartbeat) {
    WorldSettings settings;
    settings.heartbeat = heartbeat;
    settings.silence = 1000s;
    return settings;
  }
  WallTime now_ = WallTime::zero() + WallSpan(10s);
  WorldMap map_;
  Downlink downlink_;
  Handler handler_;
  wire::RawUp up_;
};

/// A loopback socket that sends to a peer and receives, in batches, without a look at what is in them.
class Pipe {
 public:
  Pipe() : from_(opened()), to_(opened()) {
    length_ = link::to_system(link::local_address(to_), AF_INET, target_);
    link::set_option(to_, SOL_SOCKET, SO_RCVBUF, 4 << 20);
    for (std::size_t i = 0; i < batch; ++i) got_pieces_[i] = {buffers_[i].data(), buffers_[i].size()};
  }
  /// Sends them, and hands each to `f` as it comes out.
  template <class F>
  void through(std::span<const std::span<const std::byte>> datagrams, F&& f) {
    for (std::size_t at = 0; at < datagrams.size(); at += batch) {
      const std::size_t n = std::min(batch, datagrams.size() - at);
      for (std::size_t i = 0; i < n; ++i) {
        pieces_[i] = {const_cast<std::byte*>(datagrams[at + i].data()), datagrams[at + i].size()};
        sent_[i].msg_hdr = {&target_, length_, &pieces_[i], 1, nullptr, 0, 0};
        got_[i].msg_hdr = {&sources_[i], sizeof sources_[i], &got_pieces_[i], 1, nullptr, 0, 0};
      }
      ::sendmmsg(from_.get(), sent_.data(), static_cast<unsigned>(n), 0);
      const int came = ::recvmmsg(to_.get(), got_.data(), static_cast<unsigned>(n), MSG_DONTWAIT, nullptr);
      for (int i = 0; i < came; ++i) {
        f(std::span(buffers_[static_cast<std::size_t>(i)]).first(got_[static_cast<std::size_t>(i)].msg_len));
      }
    }
  }

 private:
  static link::Fd opened() {
    auto socket = link::bound_socket(Address::loopback(0), SOCK_DGRAM);
    ENSURE(socket.ok(), "loopback has a free port");
    return std::move(*socket);
  }
  link::Fd from_, to_;
  link::SocketAddress target_{};
  socklen_t length_ = 0;
  std::array<mmsghdr, batch> sent_{}, got_{};
  std::array<iovec, batch> pieces_{}, got_pieces_{};
  std::array<link::SocketAddress, batch> sources_{};
  std::array<std::array<std::byte, 2048>, batch> buffers_{};
};

using Said = std::vector<std::vector<std::byte>>;
std::vector<std::span<const std::byte>> spans(const Said& said) { return {said.begin(), said.end()}; }

/// Datagrams/s in and out, with and without a server between; the same bytes.
std::pair<double, double> relay(int beats) {
  const Crowd crowd(1000, 16);
  constexpr SimSpan heartbeat = 10ms;
  Core core(crowd, heartbeat);
  std::vector<Talker> talkers;
  for (std::size_t i = 0; i < 16; ++i) talkers.emplace_back(crowd.of_client[i], 1000 + i, heartbeat);
  Pipe in, out;
  double with = 0, without = 0;
  std::uint64_t datagrams = 0, relayed = 0;
  for (int beat = 0; beat < beats + 20; ++beat) {
    Said up;
    for (Talker& talker : talkers) {
      for (auto& one : talker.say(beat)) up.push_back(std::move(one));
    }
    const auto up_spans = spans(up);
    const bool count = beat >= 20;  // until then everybody is described
    const WallTime a = wall_now();
    in.through(up_spans, [&](std::span<const std::byte> bytes) { core.take(bytes); });
    core.pass(2ms);
    const auto down = core.speak();
    std::vector<std::span<const std::byte>> down_spans;
    for (const Datagram& one : down) down_spans.push_back(one.bytes);
    out.through(down_spans, [](std::span<const std::byte>) {});
    const WallTime b = wall_now();
    in.through(up_spans, [](std::span<const std::byte>) {});
    out.through(down_spans, [](std::span<const std::byte>) {});
    const WallTime c = wall_now();
    if (count) {
      with += (b - a).seconds();
      without += (c - b).seconds();
      datagrams += up.size() + down_spans.size();
      relayed += down_spans.size();
    }
    core.clear();
  }
  keep(relayed);
  return {static_cast<double>(datagrams) / with, static_cast<double>(datagrams) / without};
}

/// ns of the server's CPU for one agent and heartbeat, without sockets; and bytes of memory for one agent.
std::pair<double, double> cost(int agents, int beats) {
  const Crowd crowd(agents, std::max(1, agents / 62));
  constexpr SimSpan heartbeat = 10ms;
  const auto before = ::mallinfo2();
  Core core(crowd, heartbeat);
  std::vector<Said> warm;
  std::vector<Talker> talkers;
  for (std::size_t i = 0; i < crowd.of_client.size(); ++i)
    talkers.emplace_back(crowd.of_client[i], 1000 + i, heartbeat);
  const auto with_talkers = ::mallinfo2();
  double seconds = 0, memory = 0;
  for (int beat = 0; beat < beats + 8; ++beat) {
    Said up;
    for (Talker& talker : talkers) {
      for (auto& one : talker.say(beat)) up.push_back(std::move(one));
    }
    timespec a{}, b{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (const auto& one : up) core.take(one);
    core.pass(2ms);
    keep(core.speak().size());
    core.clear();
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    if (beat >= 8) {
      seconds += static_cast<double>(b.tv_sec - a.tv_sec) + 1e-9 * static_cast<double>(b.tv_nsec - a.tv_nsec);
    }
    up.clear();
    if (beat == 7) memory = static_cast<double>(::mallinfo2().uordblks) - static_cast<double>(with_talkers.uordblks);
  }
  keep(before.uordblks);
  return {seconds * 1e9 / agents / beats, memory / agents};
}

}  // namespace

void bench_server(Report& report) {
  pin();
  const auto [ours, bare] = relay(report.long_run() ? 400 : 100);
  report.ratio_at_least("server_datagrams_1000_agents_16_clients_one_core", ours, "1/s",
                        "bare sendmmsg/recvmmsg of the same bytes", bare, 0.6);
  unpin();
  const auto [few, few_bytes] = cost(100, 200);
  const auto [some, some_bytes] = cost(1000, 40);
  const auto [many, many_bytes] = cost(10'000, 8);
  report.found("server_ns_per_agent_and_heartbeat_100", few, "ns");
  report.found("server_ns_per_agent_and_heartbeat_1000", some, "ns");
  report.ratio_at_most("server_ns_per_agent_and_heartbeat_10000", many, "ns", "with 1,000 agents (squared: 10 x)", some,
                       3);
  report.found("server_bytes_per_agent", many_bytes, "B", "10,000 agents with 50 neighbours each");
  keep(few_bytes + some_bytes);
}

}  // namespace isochron::bench
