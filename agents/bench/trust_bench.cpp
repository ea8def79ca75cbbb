// Three clients step in real time beside one that floods, stalls or lies about time: how fast do they still step?

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "agents/bench/parts.hpp"
#include "agents/client.hpp"
#include "agents/server.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using namespace agents;

constexpr int honest = 3;
constexpr SimSpan heartbeat = 5ms;

const link::Key& the_key() {
  static const link::Key key = link::Key::parse("00112233445566778899aabbccddeeff", "bench");
  return key;
}

ClientSettings named(const std::string& name, std::uint16_t port) {
  ClientSettings settings;
  settings.server = Address::loopback(port);
  settings.name = name;
  return settings;
}

/// A heartbeat each 5 ms of wall time, as long as others let it.
void keep_step(int number, std::uint16_t port) {
  Client client(the_key(), named("honest" + std::to_string(number), port));
  if (!client.join(20s).empty()) return;
  const auto agent = client.add("agent" + std::to_string(number), {}, body_type_url());
  auto due = std::chrono::steady_clock::now();
  for (SimTime t = client.start();; t += heartbeat) {
    client.publish(agent, t, BodyState{});
    const Turn turn = client.pass(t);
    if (turn.kind == Turn::over) return;
    if (turn.kind == Turn::begin_at) t = turn.time;
    due = std::max(due + 5ms, std::chrono::steady_clock::now() - 50ms);
    std::this_thread::sleep_until(due);
  }
}

/// A hundred datagrams each millisecond, all with a good seal: five times what one may send.
void flood(std::uint16_t port) {
  link::EpollReactor reactor;
  SharedCache shared(heartbeat);
  ClientLink link(reactor, the_key(), shared, named("rogue", port));
  shared.cache.add("rogue", {}, body_type_url());
  link.start();
  std::function<void()> speak = [&] {
    for (int i = 0; i < 100; ++i) link.flush();
    reactor.call_at(reactor.now() + WallSpan(1ms), speak);
  };
  speak();
  reactor.run();
}

/// Enters the world, and then stands still for good; its link says that it is alive.
void stall(std::uint16_t port) {
  Client client(the_key(), named("rogue", port));
  if (!client.join(20s).empty()) return;
  const auto agent = client.add("rogue", {}, body_type_url());
  client.publish(agent, client.start(), BodyState{});
  Turn turn = client.pass(client.start());
  while (turn.kind == Turn::begin_at) {
    client.publish(agent, turn.time, BodyState{});
    turn = client.pass(turn.time);
  }
  std::this_thread::sleep_for(60s);
}

/// Says that it is far ahead, again and again; shown out, it comes back under another name.
void lie(std::uint16_t port) {
  for (int i = 0;; ++i) {
    link::EpollReactor reactor;
    SharedCache shared(heartbeat);
    ClientLink link(reactor, the_key(), shared, named("rogue" + std::to_string(i), port));
    const auto agent = shared.cache.add("rogue" + std::to_string(i), {}, body_type_url());
    std::function<void()> speak = [&] {
      const auto begin = shared.cache.begin_at();
      const SimTime t = shared.cache.inside() ? shared.cache.minimum() + 1000 * heartbeat
                        : begin               ? *begin
                                              : std::max(shared.cache.minimum(), SimTime::zero());
      shared.cache.publish(agent, t, BodyState{});
      shared.cache.reached(t);
      link.flush();
      if (!shared.failure.empty()) return reactor.stop();
      reactor.call_at(reactor.now() + WallSpan(5ms), speak);
    };
    link.start();
    speak();
    reactor.run();
  }
}

using Rogue = void (*)(std::uint16_t port);

struct Stepped {
  double per_s = 0;
  ServerReport report{};
};

/// Heartbeats/s of the honest ones, from a second after the rogue came (by then a stalled one was shot down).
Stepped steps_beside(Rogue rogue, WallSpan span) {
  link::EpollReactor reactor;
  ServerSettings settings;
  settings.world.heartbeat = heartbeat;
  settings.world.stall = 500ms;
  Server server(reactor, the_key(), Address::loopback(0), settings);
  server.expect(honest, 30s);
  const std::uint16_t port = server.address().port;
  std::vector<pid_t> children;
  const auto start = [&](const std::function<void()>& what) {
    const pid_t child = ::fork();
    if (child == 0) {
      what();
      ::_exit(0);
    }
    children.push_back(child);
  };
  for (int i = 0; i < honest; ++i) start([&] { keep_step(i, port); });
  WallTime began = WallTime::zero();
  SimTime from;
  Stepped stepped;
  std::function<void()> watch = [&] {
    const WallTime now = reactor.now();
    const bool all_in = server.world().in_world() >= honest;
    if (began == WallTime::zero() && all_in) {
      if (rogue != nullptr) start([&] { rogue(port); });
      began = now + WallSpan(1s);
    }
    if (began != WallTime::zero() && now <= began) from = server.world().minimum();
    if (began != WallTime::zero() && now > began + span) {
      stepped.per_s = (server.world().minimum() - from).seconds() / heartbeat.seconds() / (now - began).seconds();
      return reactor.stop();
    }
    reactor.call_at(now + WallSpan(1ms), watch);
  };
  watch();
  reactor.run();
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  stepped.report = server.report();
  return stepped;
}

}  // namespace

void bench_trust(Report& report) {
  const WallSpan span = report.long_run() ? WallSpan(10s) : WallSpan(2s);
  const Stepped alone = steps_beside(nullptr, span);
  const char* const beside = "without it";
  const Stepped flooded = steps_beside(flood, span);
  report.ratio_at_least("steps_per_s_while_one_floods_with_100000_per_s", flooded.per_s, "1/s", beside, alone.per_s,
                        0.95);
  report.found("datagrams_dropped_of_one_that_floods", static_cast<double>(flooded.report.counts.of(Drop::flood)), "");
  const Stepped stalled = steps_beside(stall, span);
  report.ratio_at_least("steps_per_s_after_one_stalled_and_was_shot_down", stalled.per_s, "1/s", beside, alone.per_s,
                        0.95);
  report.at_least("clients_shot_down_for_stalling", static_cast<double>(stalled.report.map.stalled), "", 1);
  const Stepped lied = steps_beside(lie, span);
  report.ratio_at_least("steps_per_s_while_one_lies_about_time", lied.per_s, "1/s", beside, alone.per_s, 0.95);
  report.at_least("lies_fenced", static_cast<double>(lied.report.map.fenced), "", 3);
}

}  // namespace isochron::bench
