#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "run/report_fields.hpp"
#include "run/verdict.hpp"

namespace isochron {

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

namespace {

using Json = nlohmann::ordered_json;

template <class C>
double plain(Span<C> span) {
  return span.seconds();
}
template <class T>
const T& plain(const T& value) {
  return value;
}

Json figures_of(const auto& report) {
  Json json = Json::object();
  for_each_figure(report, [&](const char* key, const auto& value) { json[key] = plain(value); });
  return json;
}

Json to_json(const Quantiles& q) { return {{"p50", q.p50.ns()}, {"p99", q.p99.ns()}, {"max", q.max.ns()}}; }

Json to_json(const ProgramReport& p) {
  Json json = figures_of(p);
  if (!p.end.empty()) json["end"] = p.end;
  if (p.timing) {
    json["late_ns"] = to_json(p.timing->late);
    json["response_ns"] = to_json(p.timing->response);
  }
  return json;
}

Json hil_json(const HilReport& report) {
  Json json = figures_of(report);
  json["targets"] = Json::array();
  for (const HilTargetReport& target : report.targets) json["targets"].push_back(figures_of(target));
  return json;
}

Json agents_json(const AgentsReport& report) {
  Json json{{"clients", Json::array()}};
  for (const AgentClientReport& client : report.clients) json["clients"].push_back(figures_of(client));
  json.update(figures_of(report));
  json["dropped"] = Json::object();
  for (const auto& [why, count] : report.dropped) json["dropped"][why] = count;
  return json;
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
    for (const AutopilotReport& one : report.autopilots) json["autopilots"].push_back(figures_of(one));
  }
  if (!report.wires.empty()) {
    json["wires"] = Json::array();
    for (const WireReport& one : report.wires) json["wires"].push_back(figures_of(one));
  }
  if (report.v2x) json["v2x"] = Json::parse(v2x::to_json(*report.v2x));
  if (report.agents) json["agents"] = agents_json(*report.agents);
  return json_text(json);
}

}  // namespace isochron
