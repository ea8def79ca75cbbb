#include <nlohmann/json.hpp>

#include "scenario/run.hpp"

namespace isochron {
namespace {

using Json = nlohmann::ordered_json;

const char* to_string(RunReport::End end) {
  switch (end) {
    case RunReport::End::finished:
      return "finished";
    case RunReport::End::interrupted:
      return "interrupted";
    case RunReport::End::failed:
      return "failed";
  }
  return "";
}

Json to_json(const Quantiles& q) { return {{"p50", q.p50.ns()}, {"p99", q.p99.ns()}, {"max", q.max.ns()}}; }

Json to_json(const ProgramReport& p) {
  Json json{{"name", p.name},
            {"activations", p.activations},
            {"overruns", p.overruns},
            {"missed_deadlines", p.missed_deadlines},
            {"preemptions", p.preemptions},
            {"executed_s", p.executed.seconds()},
            {"waited_s", p.waited.seconds()}};
  if (!p.end.empty()) json["end"] = p.end;
  if (p.timing) {
    json["late_ns"] = to_json(p.timing->late);
    json["response_ns"] = to_json(p.timing->response);
  }
  return json;
}

}  // namespace

double RunReport::real_time_factor() const { return wall.ns() > 0 ? simulated.seconds() / wall.seconds() : 0; }

double RunReport::coordination_share() const {
  return wall.ns() > 0 ? shares.coordination.seconds() / wall.seconds() : 0;
}

std::string to_json(const RunReport& report) {
  Json programs = Json::array();
  for (const ProgramReport& program : report.programs) programs.push_back(to_json(program));
  const Json json{{"scenario", report.scenario},
                  {"mode", Words<Mode>::list[static_cast<std::size_t>(report.mode)]},
                  {"end", to_string(report.end)},
                  {"why", report.why},
                  {"simulated_s", report.simulated.seconds()},
                  {"wall_s", report.wall.seconds()},
                  {"real_time_factor", report.real_time_factor()},
                  {"drift_max_ns", report.drift_max.ns()},
                  {"drift_p99_ns", report.drift_p99.ns()},
                  {"drift_exact", report.drift_exact},
                  {"digest", report.record.digest.hex},
                  {"digest_complete", report.record.digest.complete},
                  {"coordination_share", report.coordination_share()},
                  {"wall_shares_s",
                   {{"programs", report.shares.programs.seconds()},
                    {"world", report.shares.world.seconds()},
                    {"coordination", report.shares.coordination.seconds()},
                    {"waited", report.shares.waited.seconds()},
                    {"idle", report.shares.idle.seconds()}}},
                  {"control", report.control},
                  {"programs", programs},
                  {"journal",
                   {{"file", report.journal},
                    {"records", report.record.messages},
                    {"bytes", report.record.bytes},
                    {"dropped", report.record.dropped}}},
                  {"notes", report.notes}};
  return json.dump();
}

}  // namespace isochron
