// Mode heartbeat: agents of several clients around a dynamics server.

#include "run/agents_run.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include "core/contained.hpp"
#include "core/time_text.hpp"
#include "link/reactor.hpp"
#include "run/agent_client.hpp"
#include "run/program_record.hpp"
#include "run/runners.hpp"
#include "run/v2x_air_run.hpp"
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
    thread_ = std::thread([this] { contained_until_done("the agents' server", [this] { reactor_.run(); }); });
  }
  ~OwnServer() {
    stop();
    server_.reset();
  }
  void stop() {
    if (!thread_.joinable()) return;
    reactor_.stop();
    thread_.join();
  }
  /// Once it has stopped.
  [[nodiscard]] agents::ServerReport report() const { return server_->report(); }
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

AgentClientReport client_report(const std::string& name, std::size_t agents, const AgentClient::Ending& ending) {
  return {.name = name,
          .agents = agents,
          .heartbeats = ending.heartbeats,
          .waits = ending.waits,
          .waited_s = ending.waited.seconds(),
          .oldest_s = ending.oldest.seconds(),
          .sent = ending.link.sent,
          .received = ending.link.received,
          .said_again = ending.link.resent,
          .dropped = ending.link.dropped,
          .joins = ending.link.joins,
          .began_later = ending.skipped,
          .shut_down = ending.shut_down};
}

/// Writes a client's states and progress; one for each thread.
class StateWriter {
 public:
  StateWriter(RunRecord& record, const std::string& client, ParticipantId who)
      : record_(record),
        channel_(record.journal().channel<AgentStates>("/agents/" + client)),
        producer_(record.journal().producer("agents/" + client, 4U << 20U)),
        who_(who) {}
  void write(const AgentStates& states, bool inside) {
    inside ? record_.progress(who_, states.stamp) : record_.leave(who_);
    if (states.stamp <= last_) return;
    last_ = states.stamp;
    producer_.write(channel_, states.stamp, states);
    newest_.store(states.stamp.ns(), std::memory_order_relaxed);
  }
  void end() { record_.leave(who_); }
  /// What the client's programs do is written beside its states.
  void record(AgentPrograms& programs) {
    programs_.emplace(record_, programs.numbered().names, programs.numbered().speeds, programs.plant().variables(),
                      programs.outputs(), &producer_);
    programs.record_with(*programs_, &record_, &producer_);
  }
  [[nodiscard]] Producer& producer() { return producer_; }
  [[nodiscard]] SimTime newest() const { return SimTime::from_ns(newest_.load(std::memory_order_relaxed)); }

 private:
  RunRecord& record_;
  ChannelId channel_;
  Producer& producer_;
  ParticipantId who_;
  std::optional<ProgramRecorder> programs_;
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
  std::unique_ptr<StateWriter> writer;
  AgentClient::Ending ending;
  std::atomic<bool> done{false};
  std::function<void()> leave_air{};
  std::thread thread{};
};

void play(Seat& seat, const Scenario& scenario, const OwnServer& server, RunRecord& record, const RunWatch& watch) {
  agents::Client client(server.key(), client_settings(server.address(), seat.name),
                        to_faults(scenario.faults, scenario.seed));
  const std::jthread stopper([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !watch.stopping()) std::this_thread::sleep_for(20ms);
    if (watch.stopping()) client.stop();
  });
  seat.ending.failure = client.join(30s);
  if (watch.stopping()) seat.ending.failure.clear();  // nobody waits for an answer any more
  if (seat.ending.failure.empty()) {
    Pacer pacer(scenario.time.pace, record.clock(), watch);
    seat.ending =
        seat.client->run(client, SimTime::zero() + scenario.duration, pacer, watch,
                         [&seat](const AgentStates& states, bool inside) { seat.writer->write(states, inside); });
  }
}

/// On a thread of its own: what is thrown ends the run, with its reason.
void take_part(Seat& seat, const Scenario& scenario, const OwnServer& server, RunRecord& record, RunWatch& watch) {
  try {
    play(seat, scenario, server, record, watch);
  } catch (const std::exception& error) {
    seat.ending.failure = error.what();
    watch.stop();  // the others would wait for it
  }
  if (seat.leave_air) seat.leave_air();
  seat.writer->end();
  seat.done.store(true);
}

void conclude(RunReport& report, const std::string& name, AgentClient& client, const AgentClient::Ending& ending) {
  if (!report.agents) report.agents.emplace();
  if (AgentPrograms* programs = client.world().programs()) {
    programs->finish(report);
    if (ending.skipped > 0) {
      report.notes.push_back(name + ": the world went on without it " + std::to_string(ending.skipped) +
                             " times; the clocks of its programs stood still meanwhile");
    }
  }
  report.agents->clients.push_back(client_report(name, client.world().own().size(), ending));
  if (ending.failure.empty()) return;
  report.end = RunReport::End::failed;
  report.why += (report.why.empty() ? "" : "\n") + name + ": " + ending.failure;
}

void conclude(RunReport& report, const agents::ServerReport& server) {
  report.agents->shot_down = server.map.shot_down;
  report.agents->stalled = server.map.stalled;
  report.agents->fenced = server.map.fenced;
  for (std::size_t i = 0; i < agents::drop_kinds; ++i) {
    if (server.counts.dropped[i] == 0) continue;
    report.agents->dropped.emplace_back(to_string(static_cast<agents::Drop>(i)), server.counts.dropped[i]);
  }
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
    seats[i]->writer = std::make_unique<StateWriter>(record, seats[i]->name, ParticipantId(i));
    if (AgentPrograms* programs = seats[i]->client->world().programs()) seats[i]->writer->record(*programs);
    Stage& stage = seats[i]->client->world().stage();
    if (i == 0) {
      stage.begin(record, watch, scenario.agents->heartbeat);  // all are in every world: one of them is seen
    } else {
      stage.begin_readings(record.journal(), seats[i]->writer->producer());
    }
  }
  RunReport report = report_of(scenario);
  report.promised = 3 * scenario.agents->heartbeat;
  std::unique_ptr<RecordedAir> air;
  if (scenario.v2x) air = std::make_unique<RecordedAir>(scenario, record);
  for (const auto& seat : seats) {
    if (!air) continue;
    seat->client->set_air(air->enter(seat->name));
    seat->leave_air = [&air, name = seat->name] { air->shared().leave(name); };
  }
  for (const auto& seat : seats) {
    if (AgentPrograms* programs = seat->client->world().programs()) programs->open(watch, clock);
  }
  SimTime least = SimTime::zero();
  {
    OwnServer server(scenario, static_cast<std::uint32_t>(seats.size()));
    for (const auto& seat : seats) {
      seat->thread = std::thread([&, s = seat.get()] { take_part(*s, scenario, server, record, watch); });
    }
    bool all = false;
    while (!all) {
      std::this_thread::sleep_for(5ms);
      all = true;
      least = SimTime::never();
      for (const auto& seat : seats) {
        all = all && seat->done.load();
        least = std::min(least, seat->writer->newest());
      }
      record.look(watch, least);
    }
    for (const auto& seat : seats) {
      seat->thread.join();
      conclude(report, seat->name, *seat->client, seat->ending);
    }
    server.stop();
    conclude(report, server.report());
  }
  for (const auto& seat : seats) describe_radio(report, seat->name, *seat->client);
  if (air) {
    report.v2x = air->shared().figures();
    describe_standstills(air->shared(), report);
  }
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
  if (AgentPrograms* programs = agents.world().programs()) programs->open(watch, clock);
  agents::ClientSettings settings = client_settings(join.server, join.client);
  settings.updates = join.updates;
  agents::Client client(key, settings, to_faults(scenario.faults, scenario.seed));
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
  SimSpan radio_behind = SimSpan::zero();
  if (comm) {
    said.emplace(record, join.client);
    agents.set_air([&](const v2x::AirUp& up) {
      said->write(up);
      auto news = comm->exchange(up);
      if (news) radio_behind = std::max(radio_behind, up.stamp - news->stamp);
      return news;
    });
  }
  agents.world().stage().begin(record, watch, scenario.agents->heartbeat);
  StateWriter writer(record, join.client, ParticipantId(0));
  if (AgentPrograms* programs = agents.world().programs()) writer.record(*programs);
  RunReport report = report_of(scenario);
  report.promised = 3 * scenario.agents->heartbeat;
  Pacer pacer(scenario.time.pace, clock, watch);
  const auto ending = agents.run(client, SimTime::zero() + scenario.duration, pacer, watch,
                                 [&](const AgentStates& states, bool inside) {
                                   writer.write(states, inside);
                                   record.look(watch, states.stamp);
                                 });
  conclude(report, join.client, agents, ending);
  describe_radio(report, join.client, agents);
  if (scenario.v2x && !comm) report.notes.push_back("no communication server (--comm): its radios were silent");
  if (comm && comm->missed() > 0) {
    report.notes.push_back("no answer from the communication server at " + std::to_string(comm->missed()) +
                           " heartbeats" + (comm->failure().empty() ? "" : ": " + comm->failure()));
  }
  if (radio_behind > 4 * scenario.agents->heartbeat) {
    report.notes.push_back("the radio stood still meanwhile: it was " + format_ns_short(radio_behind.ns()) +
                           " behind at most; the communication server's report names who held it up");
  }
  report.simulated = ending.reached.since_zero();
  if (watch.stopping() && report.end != RunReport::End::failed) report.end = RunReport::End::interrupted;
  record.finish(report);
  report.shares.idle = ending.waited;
  report.shares.world = report.wall - ending.waited;
  return report;
}

}  // namespace isochron
