#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "run/verdict.hpp"

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
    case RunReport::End::violated:
      return "violated";
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
            {"waited_s", p.waited.seconds()},
            {"blocked_s", p.blocked.seconds()},
            {"startup_cpu_s", p.startup.seconds()},
            {"outsiders", p.outsiders},
            {"outsiders_cpu_s", p.outsiders_cpu.seconds()}};
  if (!p.end.empty()) json["end"] = p.end;
  if (p.timing) {
    json["late_ns"] = to_json(p.timing->late);
    json["response_ns"] = to_json(p.timing->response);
  }
  return json;
}

Json to_json(const HilTargetReport& t) {
  return {{"name", t.name},
          {"executed_s", t.executed_s},
          {"free_s", t.free_s},
          {"holds", t.holds},
          {"held_s", t.held_s},
          {"held_most_s", t.held_most_s},
          {"held_by_world_s", t.held_by_world_s},
          {"held_by_targets_s", t.held_by_targets_s},
          {"held_by_programs_s", t.held_by_programs_s},
          {"held_by_pace_s", t.held_by_pace_s},
          {"world_waited_s", t.world_waited_s},
          {"losses", t.losses},
          {"links", t.links},
          {"ping_s", t.ping_s},
          {"latency_s", t.latency_s},
          {"jitter_s", t.jitter_s},
          {"latency_most_s", t.latency_most_s},
          {"clock_offset_s", t.clock_offset_s},
          {"clock_offset_end_s", t.clock_offset_end_s},
          {"clock_jumps", t.clock_jumps},
          {"clock_faults", t.clock_faults},
          {"clock_rate", t.clock_rate},
          {"late", t.late},
          {"late_s", t.late_s}};
}

Json hil_json(const HilReport& report) {
  Json targets = Json::array();
  for (const HilTargetReport& target : report.targets) targets.push_back(to_json(target));
  return {{"synced", report.synced},   {"link", report.link_cost},  {"requests", report.requests},
          {"refused", report.refused}, {"verdict", report.verdict}, {"targets", targets}};
}

Json to_json(const AutopilotReport& a) {
  return {{"name", a.name},
          {"protocol", a.protocol},
          {"where", a.where},
          {"time", a.time},
          {"every_s", a.every_s},
          {"frames", a.frames},
          {"answers", a.answers},
          {"overruns", a.overruns},
          {"missed", a.missed},
          {"response_mean_s", a.response_mean_s},
          {"response_most_s", a.response_most_s},
          {"world_waited_s", a.waited_s},
          {"world_waited_most_s", a.waited_most_s},
          {"first_controls_s", a.first_s},
          {"wrong_packets", a.wrong},
          {"not_numbers", a.not_numbers},
          {"strangers", a.strangers},
          {"skipped", a.skipped},
          {"ahead", a.ahead},
          {"restarts", a.restarts},
          {"losses", a.losses}};
}

Json to_json(const AgentClientReport& c) {
  return {{"name", c.name},          {"agents", c.agents},     {"heartbeats", c.heartbeats},
          {"waits", c.waits},        {"waited_s", c.waited_s}, {"oldest_s", c.oldest_s},
          {"sent", c.sent},          {"received", c.received}, {"said_again", c.said_again},
          {"dropped", c.dropped},    {"joins", c.joins},       {"began_later", c.began_later},
          {"shut_down", c.shut_down}};
}

Json agents_json(const AgentsReport& report) {
  Json clients = Json::array(), dropped = Json::object();
  for (const AgentClientReport& client : report.clients) clients.push_back(to_json(client));
  for (const auto& [why, count] : report.dropped) dropped[why] = count;
  return {{"clients", clients},
          {"shot_down", report.shot_down},
          {"stalled", report.stalled},
          {"fenced", report.fenced},
          {"dropped", dropped}};
}

Json to_json(const std::vector<expect::ShownValue>& values) {
  Json json = Json::object();
  for (const expect::ShownValue& value : values) {
    if (value.quantity == Quantity::truth) {
      json[value.what] = value.value != 0;
    } else {
      json[value.what] = value.value;
    }
  }
  return json;
}

Json to_json(const expect::Judgement& outcome) {
  Json told = Json::array();
  for (const expect::Violation& violation : outcome.told) {
    told.push_back({{"at_s", violation.at.seconds()},
                    {"until_s", violation.until.seconds()},
                    {"values", to_json(violation.values)}});
  }
  Json json{
      {"name", outcome.name},       {"expects", outcome.text},        {"file", outcome.place.file},
      {"line", outcome.place.line}, {"column", outcome.place.column}, {"verdict", expect::to_string(outcome.verdict)},
      {"why", outcome.why},         {"samples", outcome.samples},     {"violations", outcome.violations},
      {"first_violations", told}};
  if (!outcome.values.empty()) json["values"] = to_json(outcome.values);
  return json;
}

}  // namespace

std::string to_json(const std::vector<expect::Judgement>& outcomes) {
  Json all = Json::array();
  for (const expect::Judgement& outcome : outcomes) all.push_back(to_json(outcome));
  return json_text(all);
}

std::string to_json(const HilReport& report) { return json_text(hil_json(report)); }

double RunReport::real_time_factor() const { return wall.ns() > 0 ? simulated.seconds() / wall.seconds() : 0; }

double RunReport::coordination_share() const {
  return wall.ns() > 0 ? shares.coordination.seconds() / wall.seconds() : 0;
}

std::string to_json(const RunReport& report) {
  Json programs = Json::array();
  for (const ProgramReport& program : report.programs) programs.push_back(to_json(program));
  const Verdict verdict = verdict_of(report);
  Json json{
      {"scenario", report.scenario},
      {"mode", Words<Mode>::list[static_cast<std::size_t>(report.mode)]},
      {"end", to_string(report.end)},
      {"why", report.why},
      {"verdict",
       {{"coherence", isochron::to_string(verdict.coherence)}, {"why", verdict.why}, {"line", verdict.line}}},
      {"simulated_s", report.simulated.seconds()},
      {"wall_s", report.wall.seconds()},
      {"real_time_factor", report.real_time_factor()},
      {"drift_max_ns", report.drift_max.ns()},
      {"drift_p99_ns", report.drift_p99.ns()},
      {"drift_p999_ns", report.drift_p999.ns()},
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
      {"repeatable", report.not_repeatable.empty()},
      {"not_repeatable", report.not_repeatable},
      {"journal", {{"file", report.journal}, {"records", report.record.messages}, {"dropped", report.record.dropped}}},
      {"notes", report.notes}};
  if (report.promised) json["drift_promised_ns"] = report.promised->ns();
  // The report inside a journal cannot tell how large that is going to be.
  if (report.record.bytes > 0) json["journal"]["bytes"] = report.record.bytes;
  if (!report.expectations.empty()) json["expectations"] = Json::parse(to_json(report.expectations));
  if (report.hil) json["hil"] = hil_json(*report.hil);
  if (!report.autopilots.empty()) {
    json["autopilots"] = Json::array();
    for (const AutopilotReport& one : report.autopilots) json["autopilots"].push_back(to_json(one));
  }
  if (report.v2x) json["v2x"] = Json::parse(v2x::to_json(*report.v2x));
  if (report.agents) json["agents"] = agents_json(*report.agents);
  return json_text(json);
}

}  // namespace isochron
