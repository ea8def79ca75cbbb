// Many client processes around one server, over loopback: how fast simulated time passes. Beside it, today's other way:
// a barrier by MPI allgather of the same bytes.

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <thread>

#include "agents/bench/parts.hpp"
#include "agents/client.hpp"
#include "agents/server.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using namespace agents;

const link::Key& the_key() {
  static const link::Key key = link::Key::parse("00112233445566778899aabbccddeeff", "bench");
  return key;
}

/// A client process: its agents drift east; whatever they would compute costs nothing.
[[noreturn]] void be_client(int number, const std::vector<Crowd::Place>& places, std::uint16_t port, SimTime until) {
  {
    ClientSettings settings;
    settings.server = Address::loopback(port);
    settings.name = "client" + std::to_string(number);
    Client client(the_key(), settings);
    if (!client.join(20s).empty()) ::_exit(1);
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < places.size(); ++i) {
      ids.push_back(client.add(settings.name + "/" + std::to_string(i), {}, body_type_url()));
    }
    const SimSpan heartbeat = client.heartbeat();
    double seen = 0;
    for (SimTime t = client.start(); t < until; t += heartbeat) {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        BodyState body;
        body.position = {places[i].x + t.seconds(), places[i].y, 0};
        body.linear = {1, 0, 0};
        client.publish(ids[i], t, body);
      }
      Turn turn = client.pass(t);
      while (turn.kind == Turn::begin_at) turn = client.pass(t = turn.time);
      if (turn.kind == Turn::over) break;
      client.look([&](const StateCache& others) {
        others.for_each([&](const Outsider& agent) { seen += others.at(agent, t).body->position[0]; });
      });
    }
    keep(seen);
  }
  ::_exit(0);
}

struct Passed {
  double real_time_factor = 0, heartbeats_per_s = 0, in_sight = 0;
};

/// Forks the clients before any thread starts, then serves them until they have come to the end.
Passed serve(int agents, int clients, SimSpan heartbeat, SimSpan duration) {
  const Crowd crowd(agents, clients);
  link::EpollReactor reactor;
  ServerSettings settings;
  settings.world.heartbeat = heartbeat;
  settings.world.silence = 30s;
  settings.world.stall = 30s;
  Server server(reactor, the_key(), Address::loopback(0), settings);
  server.expect(static_cast<std::uint32_t>(clients), 30s);
  std::vector<pid_t> children;
  for (int i = 0; i < clients; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      be_client(i, crowd.of_client[static_cast<std::size_t>(i)], server.address().port, SimTime::zero() + duration);
    }
    children.push_back(child);
  }
  const SimTime from = SimTime::zero() + duration / 4, to = SimTime::zero() + duration / 4 * 3;
  WallTime began = WallTime::zero(), ended = WallTime::zero();
  SimTime at_began, at_ended;
  double in_sight = 0;
  const WallTime limit = reactor.now() + WallSpan(60s);
  std::function<void()> watch = [&] {
    const SimTime now = server.world().minimum();
    if (now >= from && began == WallTime::zero()) {
      began = reactor.now();
      at_began = now;
    }
    if (now >= to && ended == WallTime::zero()) {
      ended = reactor.now();
      at_ended = now;
      for (const auto& client : server.world().clients()) in_sight += static_cast<double>(client->view.members.size());
      in_sight /= static_cast<double>(std::max<std::size_t>(1, server.world().clients().size()));
    }
    if ((ended != WallTime::zero() && server.world().clients().empty()) || reactor.now() > limit) return reactor.stop();
    reactor.call_at(reactor.now() + WallSpan(1ms), watch);
  };
  watch();
  reactor.run();
  for (const pid_t child : children) {
    if (ended == WallTime::zero()) ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  if (ended == WallTime::zero()) return {};
  const double wall = (ended - began).seconds(), sim = (at_ended - at_began).seconds();
  return {sim / wall, sim / heartbeat.seconds() / wall, in_sight};
}

/// Heartbeats/s of a barrier over MPI with the same bytes; 0 = there is no MPI here.
double by_mpi(int clients, int agents) {
  const std::string program = ISOCHRON_MPI_BARRIER;
  if (program.empty()) return 0;
  const std::string line =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpirun --oversubscribe -np " +
      std::to_string(clients) + " " + program + " " + std::to_string(agents) + " 2>/dev/null";
  FILE* out = ::popen(line.c_str(), "r");
  if (out == nullptr) return 0;
  double rate = 0;
  if (std::fscanf(out, "%lf", &rate) != 1) rate = 0;
  ::pclose(out);
  return rate;
}

}  // namespace

void bench_clients(Report& report) {
  const Passed thousand = serve(1000, 16, 10ms, report.long_run() ? SimSpan(40s) : SimSpan(8s));
  report.at_least("agents_1000_clients_16_heartbeat_10ms_real_time_factor", thousand.real_time_factor, "x", 1);
  report.found("agents_1000_clients_16_agents_in_sight_of_a_client", thousand.in_sight, "");
  if (const double mpi = by_mpi(16, 1000); mpi > 0) {
    report.ratio_at_least("agents_1000_clients_16_heartbeats_per_s", thousand.heartbeats_per_s, "1/s",
                          "a barrier by MPI allgather of the same states", mpi, std::nan(""));
  } else {
    report.found("agents_1000_clients_16_heartbeats_per_s", thousand.heartbeats_per_s, "1/s", "no MPI here");
  }
  const Passed thirty = serve(30, 2, 5ms, report.long_run() ? SimSpan(60s) : SimSpan(20s));
  report.at_least("agents_30_clients_2_heartbeat_5ms_real_time_factor", thirty.real_time_factor, "x", 2);
  if (const double mpi = by_mpi(2, 30); mpi > 0) {
    report.ratio_at_least("agents_30_clients_2_heartbeats_per_s", thirty.heartbeats_per_s, "1/s",
                          "a barrier by MPI allgather of the same states", mpi, std::nan(""));
  }
}

}  // namespace isochron::bench
