#include "run/v2x_air_run.hpp"

#include <thread>

#include "core/contained.hpp"
#include "core/time_text.hpp"
#include "link/reactor.hpp"
#include "run/agents_run.hpp"
#include "run/runners.hpp"
#include "traffic/v2x_security.hpp"
#include "traffic/v2x_unit.hpp"
#include "v2x/comm/server.hpp"

namespace isochron {

using namespace std::chrono_literals;

SaidLane::SaidLane(RunRecord& record, const std::string& client)
    : channel_(record.journal().channel<v2x::AirUp>("/v2x/said/" + client)),
      producer_(record.journal().producer("v2x/said/" + client, 4U << 20U)) {}

RecordedAir::RecordedAir(const Scenario& scenario, RunRecord& record)
    : record_(record),
      channel_(record.journal().channel<v2x::AirLog>("/v2x/air")),
      producer_(record.journal().producer("v2x/air", 16U << 20U)) {
  shared_ =
      std::make_unique<v2x::SharedAir>(air_settings(scenario), station_owners(scenario), 4 * scenario.agents->heartbeat,
                                       [this](const v2x::AirLog& log) { producer_.write(channel_, log.stamp, log); });
}

AgentClient::Air RecordedAir::enter(const std::string& client) {
  SaidLane& said = *said_.emplace(client, std::make_unique<SaidLane>(record_, client)).first->second;
  shared_->enter(client);
  return [this, client, &said](const v2x::AirUp& up) -> std::optional<v2x::AirNews> {
    said.write(up);
    return shared_->exchange(client, up);
  };
}

std::vector<std::pair<std::string, v2x::Bytes>> scenario_maps(const Scenario& scenario) {
  return map_messages(scenario);
}

std::vector<std::pair<std::string, v2x::Bytes>> scenario_certificates(const Scenario& scenario) {
  std::vector<std::string> names{""}, stations;
  for (const v2x::AirStation& station : air_settings(scenario).stations) stations.push_back(station.name);
  names.insert(names.end(), stations.begin(), stations.end());
  std::vector<std::pair<std::string, v2x::Bytes>> all;
  std::vector<v2x::Bytes> certificates = V2xSecurity(scenario).certificates(stations);
  for (std::size_t i = 0; i < names.size(); ++i) all.emplace_back(names[i], std::move(certificates[i]));
  return all;
}

void describe_standstills(const v2x::SharedAir& air, RunReport& report) {
  for (const auto& s : air.standstills()) {
    report.notes.push_back(
        s.client + " stood still at " + format_ns_short(s.from.ns()) +
        (s.to == SimTime::never() ? " and did not come back" : ", until " + format_ns_short(s.to.ns())) +
        ": the radio went on without it");
  }
}

RunReport serve_comm(const Scenario& scenario, const link::Key& key, const Address& at, const RunOptions& options,
                     Clock& clock, Disk& disk, RunWatch& watch, const std::function<void(const Address&)>& told) {
  if (!scenario.v2x) throw InputError({scenario.file, 0, 0}, "has no `v2x`", "see docs/v2x.md");
  check_agents(scenario);
  RunRecord record(scenario, options, clock, disk, {"comm"});
  RecordedAir air(scenario, record);
  link::EpollReactor reactor;
  v2x::CommServer server(reactor, key, at, air.shared(), agent_clients(scenario));
  told(server.address());
  std::function<void()> look = [&] {
    record.progress(ParticipantId(0), air.shared().time());
    record.look(watch, air.shared().time());
    if (watch.stopping() || server.over()) return reactor.stop();
    reactor.call_at(reactor.now() + WallSpan(20ms), look);
  };
  look();
  contained_until_done("the communication server", [&] { reactor.run(); });
  RunReport report = report_of(scenario);
  report.simulated = air.shared().time().since_zero();
  report.v2x = air.shared().figures();
  if (air.shared().late() > 0) {
    report.notes.push_back(std::to_string(air.shared().late()) + " messages came too late for their time");
  }
  describe_standstills(air.shared(), report);
  if (server.strangers() > 0) report.notes.push_back(std::to_string(server.strangers()) + " strangers shown out");
  if (watch.stopping()) report.end = RunReport::End::interrupted;
  record.finish(report);
  report.shares.idle = report.wall;
  return report;
}

}  // namespace isochron
