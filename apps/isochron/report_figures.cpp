#include "apps/isochron/report_figures.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "run/report_fields.hpp"
#include "scenario/scenario.hpp"
#include "scenario/value.hpp"
#include "v2x/comm/figures.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::json;

const Json& member(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

std::string text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

double number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::uint64_t count(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

// What is not there, or is of another kind, stays as it is.
void take(const Json& json, std::string& value) {
  if (json.is_string()) value = json.get<std::string>();
}
void take(const Json& json, bool& value) {
  if (json.is_boolean()) value = json.get<bool>();
}
template <std::unsigned_integral T>
void take(const Json& json, T& value) {
  if (json.is_number_unsigned()) value = json.get<T>();
}
void take(const Json& json, double& value) {
  if (json.is_number()) value = json.get<double>();
}
template <class C>
void take(const Json& json, Span<C>& value) {
  if (json.is_number()) value = Span<C>::from_ns(std::llround(1e9 * json.get<double>()));
}

template <class Report>
Report report_of(const Json& json) {
  Report report;
  for_each_figure(report, [&](const char* key, auto& value) { take(member(json, key), value); });
  return report;
}
template <class Report>
std::vector<Report> reports_of(const Json& list) {
  std::vector<Report> reports;
  if (!list.is_array()) return reports;
  for (const Json& one : list) reports.push_back(report_of<Report>(one));
  return reports;
}

Quantiles quantiles_of(const Json& json) {
  const auto span = [&](const char* key) { return WallSpan::from_ns(std::llround(number(json, key))); };
  return {span("p50"), span("p99"), span("max")};
}

ProgramReport program_of(const Json& json) {
  auto p = report_of<ProgramReport>(json);
  p.end = text(json, "end");
  if (member(json, "late_ns").is_object()) {
    p.timing = Timing{quantiles_of(member(json, "late_ns")), quantiles_of(member(json, "response_ns"))};
  }
  return p;
}

HilReport hil_of(const Json& json) {
  auto hil = report_of<HilReport>(json);
  hil.targets = reports_of<HilTargetReport>(member(json, "targets"));
  return hil;
}

std::string type_name(const std::string& number) {
  return number == "18" ? "MAP" : number == "19" ? "SPaT" : number == "20" ? "BSM" : "type " + number;
}

/// The share of deliveries that took at most so long, in milliseconds.
Line cumulative(const Json& latencies) {
  Line line;
  double all = 0, seen = 0;
  for (const Json& bin : latencies)
    all += bin.is_array() && bin.size() == 2 && bin[1].is_number() ? bin[1].get<double>() : 0;
  for (const Json& bin : latencies) {
    if (!bin.is_array() || bin.size() != 2 || !bin[0].is_number() || !bin[1].is_number()) continue;
    seen += bin[1].get<double>();
    line.push_back({1e3 * (bin[0].get<double>() + v2x::AirFigures::latency_bin_s), all > 0 ? seen / all : 0});
  }
  return line;
}

V2xFigures v2x_of(const Json& json) {
  V2xFigures v;
  v.messages = count(json, "messages");
  if (const Json& types = member(json, "by_type"); types.is_object()) {
    for (const auto& [type, n] : types.items()) v.by_type.emplace_back(type_name(type), count(types, type.c_str()));
  }
  if (const Json& fates = member(json, "receptions"); fates.is_object()) {
    for (const char* fate : v2x::fate_names) v.receptions.emplace_back(fate, count(fates, fate));
  }
  if (const Json& bins = member(json, "by_distance"); bins.is_array()) {
    for (const Json& bin : bins) {
      if (count(bin, "offered") == 0) continue;
      v.delivery.push_back(
          {(number(bin, "from_m") + number(bin, "to_m")) / 2, number(bin, "delivered") / number(bin, "offered")});
    }
  }
  if (const Json& bins = member(json, "latencies"); bins.is_array()) v.latency = cumulative(bins);
  const Json& latency = member(json, "latency_s");
  v.latency_mean_s = number(latency, "mean");
  v.latency_p99_s = number(latency, "p99");
  v.latency_max_s = number(latency, "max");
  v.busy_mean = number(member(json, "busy"), "mean");
  v.busy_max = number(member(json, "busy"), "max");
  return v;
}

AgentsReport agents_of(const Json& json) {
  auto agents = report_of<AgentsReport>(json);
  agents.clients = reports_of<AgentClientReport>(member(json, "clients"));
  if (const Json& dropped = member(json, "dropped"); dropped.is_object()) {
    for (const auto& item : dropped.items()) {
      agents.dropped.emplace_back(item.key(), count(dropped, item.key().c_str()));
    }
  }
  return agents;
}

/// Where the wall time went; what nobody accounted for is a share of its own rather than left out.
std::vector<WallShare> shares_of(const Json& json, double wall_s) {
  std::vector<WallShare> shares;
  double told = 0;
  for (const char* what : {"programs", "world", "coordination", "waited", "idle"}) {
    shares.push_back({what, std::max(0.0, number(json, what))});
    told += shares.back().seconds;
  }
  shares.push_back({"not accounted for", std::max(0.0, wall_s - told)});
  return shares;
}

}  // namespace

void take_figures(const std::string& report_text, RunData& run) {
  const Json json = Json::parse(report_text, nullptr, false);
  if (!json.is_object()) {
    run.banners.emplace_back("The figures of the run (report.json) cannot be read.");
    return;
  }
  Figures ending;
  ending.end = text(json, "end");
  ending.why = text(json, "why");
  ending.control = text(json, "control");
  ending.simulated_s = number(json, "simulated_s");
  ending.wall_s = number(json, "wall_s");
  ending.real_time_factor = number(json, "real_time_factor");
  ending.drift_max_s = number(json, "drift_max_ns") * 1e-9;
  // A percentile comes from a histogram, rounded up to its bucket; it cannot be more than the most.
  ending.drift_p99_s = std::min(number(json, "drift_p99_ns") * 1e-9, ending.drift_max_s);
  ending.drift_p999_s = std::min(number(json, "drift_p999_ns") * 1e-9, ending.drift_max_s);
  if (const Json& promised = member(json, "drift_promised_ns"); promised.is_number()) {
    ending.promised_s = promised.get<double>() * 1e-9;
  }
  const Json& verdict = member(json, "verdict");
  ending.verdict = {text(verdict, "coherence"), text(verdict, "why"), text(verdict, "line")};
  ending.drift_exact = member(json, "drift_exact") != Json(false);
  if (const Json& programs = member(json, "programs"); programs.is_array()) {
    for (const Json& program : programs) ending.programs.push_back(program_of(program));
  }
  if (const Json& expectations = member(json, "expectations"); expectations.is_array()) {
    for (const Json& one : expectations) {
      ending.expectations.push_back({text(one, "name"), text(one, "expects"), text(one, "verdict"), text(one, "why"),
                                     count(one, "samples"), count(one, "violations"), std::nullopt});
      const Json& told = member(one, "first_violations");
      if (told.is_array() && !told.empty()) ending.expectations.back().first_s = number(told[0], "at_s");
    }
  }
  if (const Json& hil = member(json, "hil"); hil.is_object()) ending.hil = hil_of(hil);
  ending.autopilots = reports_of<AutopilotReport>(member(json, "autopilots"));
  ending.wires = reports_of<WireReport>(member(json, "wires"));
  if (const Json& v2x = member(json, "v2x"); v2x.is_object()) ending.v2x = v2x_of(v2x);
  if (const Json& agents = member(json, "agents"); agents.is_object()) ending.agents = agents_of(agents);
  ending.shares = shares_of(member(json, "wall_shares_s"), ending.wall_s);
  if (const Json& notes = member(json, "notes"); notes.is_array()) {
    for (const Json& note : notes) run.notes.push_back(note.is_string() ? note.get<std::string>() : json_text(note));
  }
  if (const std::string name = text(json, "scenario"); !name.empty()) run.scenario = name;
  if (const std::string mode = text(json, "mode"); !mode.empty()) run.mode = mode;
  run.ending = std::move(ending);
}

void take_scenario(const std::string& yaml, RunData& run) {
  run.scenario_text = yaml;
  try {
    const Value root = parse_yaml(yaml, "scenario.yaml");
    const Value* flows = root.find("flows");
    const Value* executor = flows != nullptr ? flows->find("executor") : nullptr;
    const bool has_flows = root.find("nodes") != nullptr || flows != nullptr;
    if (has_flows) run.executor = executor != nullptr ? executor->scalar : flow::to_string(FlowsSection().executor);
  } catch (const InputError&) {
    run.banners.emplace_back("The scenario inside the journal cannot be read.");
  }
}

}  // namespace isochron::app
