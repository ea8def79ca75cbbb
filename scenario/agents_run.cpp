// Mode heartbeat: agents of several clients around a dynamics server.

#include "scenario/agents_run.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include "link/reactor.hpp"
#include "scenario/agent_client.hpp"
#include "scenario/runners.hpp"
#include "scenario/v2x_air_run.hpp"
#include "v2x/comm/client.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

/// A server on loopback with a key that nobody else has.
class OwnServer {
 public:
  OwnServer(const Scenario& scenario, std::uint32_t clients)
      : key_(link::Key::generate()),
        server_(std::make_unique<agents::Server>(reactor_, key_, Address::loopback(0), server_settings(scenario))) {
    server_->expect(clients, 60s);
    thread_ = std::thread([this] { reactor_.run(); });
  }
  ~OwnServer() {
    reactor_.stop();
    thread_.join();
    server_.reset();
  }
  [[nodiscard]] const link::Key& key() const { return key_; }
  [[nodiscard]] Address address() const { return server_->address(); }

 private:
  link::EpollReactor reactor_;
  link::Key key_;
  std::unique_ptr<agents::Server> server_;
  std::thread thread_;
};

agents::ClientSettings client_settings(const Address& server, const std::string& name) {
  agents::ClientSettings settings;
  settings.server = server;
  settings.name = name;
  return settings;
}

std::string described(const std::string& name, const AgentClient::Ending& ending) {
  const double share =
      ending.heartbeats == 0 ? 0 : 100.0 * static_cast<double>(ending.waits) / static_cast<double>(ending.heartbeats);
  char text[320];
  std::snprintf(
      text, sizeof text,
      "%s: %llu heartbeats, waited at %.0f %% of them (%s), others' states at most %s old, %llu datagrams out, "
      "%llu in, %llu said again",
      name.c_str(), static_cast<unsigned long long>(ending.heartbeats), share,
      format_ns_short(ending.waited.ns()).c_str(), format_ns_short(ending.oldest.ns()).c_str(),
      static_cast<unsigned long long>(ending.link.sent), static_cast<unsigned long long>(ending.link.received),
      static_cast<unsigned long long>(ending.link.resent));
  std::string line = text;
  if (ending.skipped > 0) line += ", began later " + std::to_string(ending.skipped) + " times";
  if (ending.shut_down > 0) line += ", saw " + std::to_string(ending.shut_down) + " agents shut down";
  return line;
}

/// Writes a client's states and progress; one for each thread.
class Lane {
 public:
  Lane(RunRecord& record, const std::string& client, ParticipantId who)
      : record_(record),
        channel_(record.journal().channel<AgentStates>("/agents/" + client)),
        producer_(record.journal().producer("agents/" + client, 4U << 20U)),
        who_(who) {}
  void write(const AgentStates& states) {
    record_.progress(who_, states.stamp);
    if (states.stamp <= last_) return;
    last_ = states.stamp;
    producer_.write(channel_, states.stamp, states);
    newest_.store(states.stamp.ns(), std::memory_order_relaxed);
  }
  void end() { record_.leave(who_); }
  [[nodiscard]] SimTime newest() const { return SimTime::from_ns(newest_.load(std::memory_order_relaxed)); }

 private:
  RunRecord& record_;
  ChannelId channel_;
  Producer& producer_;
  ParticipantId who_;
  SimTime last_ = SimTime::before_all();
  std::atomic<std::int64_t> newest_{0};
};

/// What one client's radios heard, for the reader.
void describe_radio(RunReport& report, const std::string& name, AgentClient& client) {
  if (client.world().radio() == nullptr) return;
  const V2xUnit::Counts& counts = client.world().radio()->counts();
  std::string line = name + ": " + std::to_string(counts.heard) + " messages heard by radio, " +
                     std::to_string(counts.warnings) + " warnings";
  if (counts.late > 0) {
    line += ", " + std::to_string(counts.late) + " used late, by " + format_ns_short(counts.latest.ns()) + " at most";
  }
  report.notes.push_back(line);
}

struct Seat {
  std::string name;
  std::unique_ptr<AgentClient> client;
  std::unique_ptr<Lane> lane;
  AgentClient::Ending ending;
  std::atomic<bool> done{false};
  std::function<void()> leave_air{};
  std::thread thread{};
};

void play(Seat& seat, const Scenario& scenario, const OwnServer& server, RunRecord& record, const RunWatch& watch) {
  agents::Client client(server.key(), client_settings(server.address(), seat.name),
                        to_faults(scenario.agents->link, scenario.seed));
  seat.ending.failure = client.join(30s);
  if (seat.ending.failure.empty()) {
    const std::jthread stopper([&](const std::stop_token& stop) {
      while (!stop.stop_requested() && !watch.stopping()) std::this_thread::sleep_for(20ms);
      if (watch.stopping()) client.stop();
    });
    Pacer pacer(scenario.time.pace, record.clock(), watch);
    seat.ending = seat.client->run(client, SimTime::zero() + scenario.duration, pacer, watch,
                                   [&seat](const AgentStates& states) { seat.lane->write(states); });
  }
  if (seat.leave_air) seat.leave_air();
  seat.lane->end();
  seat.done.store(true);
}

void conclude(RunReport& report, const std::string& name, const AgentClient::Ending& ending) {
  report.notes.push_back(described(name, ending));
  if (ending.failure.empty()) return;
  report.end = RunReport::End::failed;
  report.why += (report.why.empty() ? "" : "\n") + name + ": " + ending.failure;
}

}  // namespace

agents::ServerSettings server_settings(const Scenario& scenario) {
  agents::ServerSettings settings;
  const AgentsSection& section = *scenario.agents;
  settings.world.heartbeat = section.heartbeat;
  settings.world.vicinity = section.vicinity;
  settings.world.updates = static_cast<agents::wire::Updates>(section.updates);
  settings.world.silence = section.silence;
  settings.world.stall = section.stall;
  return settings;
}

RunReport run_agents(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  check_agents(scenario);
  const auto names = agent_clients(scenario);
  std::vector<std::unique_ptr<Seat>> seats;
  for (const std::string& name : names) {
    seats.push_back(std::make_unique<Seat>());
    seats.back()->name = name;
    seats.back()->client = std::make_unique<AgentClient>(scenario, name);
  }
  RunRecord record(scenario, options, clock, disk, names);
  for (std::uint32_t i = 0; i < seats.size(); ++i) {
    seats[i]->lane = std::make_unique<Lane>(record, seats[i]->name, ParticipantId(i));
  }
  RunReport report = report_of(scenario);
  std::unique_ptr<RecordedAir> air;
  if (scenario.v2x) air = std::make_unique<RecordedAir>(scenario, record);
  for (const auto& seat : seats) {
    if (!air) continue;
    seat->client->set_air(air->enter(seat->name));
    seat->leave_air = [&air, name = seat->name] { air->shared().leave(name); };
  }
  SimTime least = SimTime::zero();
  {
    const OwnServer server(scenario, static_cast<std::uint32_t>(seats.size()));
    for (const auto& seat : seats) {
      seat->thread = std::thread([&, s = seat.get()] { play(*s, scenario, server, record, watch); });
    }
    bool all = false;
    while (!all) {
      std::this_thread::sleep_for(5ms);
      all = true;
      least = SimTime::never();
      for (const auto& seat : seats) {
        all = all && seat->done.load();
        least = std::min(least, seat->lane->newest());
      }
      record.look(watch, least);
    }
    for (const auto& seat : seats) seat->thread.join();
  }
  for (const auto& seat : seats) {
    conclude(report, seat->name, seat->ending);
    describe_radio(report, seat->name, *seat->client);
  }
  if (air) report.v2x = air->shared().figures();
  report.simulated = least.since_zero();
  if (watch.stopping() && report.end != RunReport::End::failed) report.end = RunReport::End::interrupted;
  record.finish(report);
  report.shares.programs = report.wall;
  return report;
}

RunReport join_scenario(const Scenario& scenario, const link::Key& key, const JoinOptions& join,
                        const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  check_agents(scenario);
  AgentClient agents(scenario, join.client);
  agents::ClientSettings settings = client_settings(join.server, join.client);
  settings.updates = join.updates;
  agents::Client client(key, settings, join.faults);
  const std::jthread stopper([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !watch.stopping()) std::this_thread::sleep_for(20ms);
    if (watch.stopping()) client.stop();
  });
  if (const std::string why = client.join(join.patience); !why.empty()) {
    throw InputError({to_string(join.server), 0, 0}, "cannot join: " + why,
                     "is `isochron serve agents` running there, with the same key?");
  }
  std::optional<v2x::CommClient> comm;
  if (join.comm) {
    comm.emplace(key, *join.comm, join.client);
    if (const std::string why = comm->join(join.patience); !why.empty()) {
      throw InputError({to_string(*join.comm), 0, 0}, "cannot join the radio: " + why,
                       "is `isochron serve comm` running there, with the same key and scenario?");
    }
  }
  RunRecord record(scenario, options, clock, disk, {join.client});
  std::optional<SaidLane> said;
  if (comm) {
    said.emplace(record, join.client);
    agents.set_air([&](const v2x::AirUp& up) {
      said->write(up);
      return comm->exchange(up);
    });
  }
  agents.world().stage().begin(record, watch);
  Lane lane(record, join.client, ParticipantId(0));
  RunReport report = report_of(scenario);
  Pacer pacer(scenario.time.pace, clock, watch);
  const auto ending =
      agents.run(client, SimTime::zero() + scenario.duration, pacer, watch, [&](const AgentStates& states) {
        lane.write(states);
        record.look(watch, states.stamp);
      });
  conclude(report, join.client, ending);
  describe_radio(report, join.client, agents);
  if (scenario.v2x && !comm) report.notes.push_back("no communication server (--comm): its radios were silent");
  if (comm && comm->missed() > 0) {
    report.notes.push_back("no answer from the communication server at " + std::to_string(comm->missed()) +
                           " heartbeats" + (comm->failure().empty() ? "" : ": " + comm->failure()));
  }
  report.simulated = ending.reached.since_zero();
  if (watch.stopping() && report.end != RunReport::End::failed) report.end = RunReport::End::interrupted;
  record.finish(report);
  report.shares.idle = ending.waited;
  report.shares.world = report.wall - ending.waited;
  return report;
}

}  // namespace isochron
