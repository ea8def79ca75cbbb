#include "apps/isochron/report_figures.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
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

ProgramFigures program_of(const Json& json) {
  ProgramFigures p;
  p.name = text(json, "name");
  p.end = text(json, "end");
  p.activations = count(json, "activations");
  p.overruns = count(json, "overruns");
  p.missed = count(json, "missed_deadlines");
  p.preemptions = count(json, "preemptions");
  p.executed_s = number(json, "executed_s");
  p.waited_s = number(json, "waited_s");
  p.blocked_s = number(json, "blocked_s");
  for (const char* what : {"late_ns", "response_ns"}) {
    if (!member(json, what).is_object()) continue;
    for (const char* quantile : {"p50", "p99", "max"})
      p.wall_clock_s.push_back(1e-9 * number(member(json, what), quantile));
  }
  return p;
}

TargetFigures target_of(const Json& json) {
  TargetFigures t;
  t.name = text(json, "name");
  t.holds = count(json, "holds");
  t.late = count(json, "late");
  t.clock_faults = count(json, "clock_faults");
  t.losses = count(json, "losses");
  t.executed_s = number(json, "executed_s");
  t.held_s = number(json, "held_s");
  t.held_most_s = number(json, "held_most_s");
  t.by_world_s = number(json, "held_by_world_s");
  t.by_targets_s = number(json, "held_by_targets_s");
  t.by_pace_s = number(json, "held_by_pace_s");
  t.world_waited_s = number(json, "world_waited_s");
  t.latency_s = number(json, "latency_s");
  t.jitter_s = number(json, "jitter_s");
  return t;
}

AutopilotFigures autopilot_of(const Json& json) {
  AutopilotFigures a;
  a.name = text(json, "name");
  a.protocol = text(json, "protocol");
  a.where = text(json, "where");
  a.time = text(json, "time");
  a.frames = count(json, "frames");
  a.overruns = count(json, "overruns");
  a.missed = count(json, "missed");
  a.wrong = count(json, "wrong_packets") + count(json, "not_numbers");
  a.restarts = count(json, "restarts");
  a.losses = count(json, "losses");
  a.every_s = number(json, "every_s");
  a.response_mean_s = number(json, "response_mean_s");
  a.response_most_s = number(json, "response_most_s");
  a.world_waited_s = number(json, "world_waited_s");
  return a;
}

HilFigures hil_of(const Json& json) {
  HilFigures hil{text(json, "verdict"), text(json, "link"), member(json, "synced") != Json(false), {}};
  if (const Json& targets = member(json, "targets"); targets.is_array()) {
    for (const Json& target : targets) hil.targets.push_back(target_of(target));
  }
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

ClientFigures client_of(const Json& json) {
  ClientFigures c;
  c.name = text(json, "name");
  c.agents = count(json, "agents");
  c.heartbeats = count(json, "heartbeats");
  c.waits = count(json, "waits");
  c.sent = count(json, "sent");
  c.received = count(json, "received");
  c.said_again = count(json, "said_again");
  c.dropped = count(json, "dropped");
  c.joins = count(json, "joins");
  c.began_later = count(json, "began_later");
  c.shut_down = count(json, "shut_down");
  c.waited_s = number(json, "waited_s");
  c.oldest_s = number(json, "oldest_s");
  return c;
}

AgentFigures agents_of(const Json& json) {
  AgentFigures agents;
  if (const Json& clients = member(json, "clients"); clients.is_array()) {
    for (const Json& client : clients) agents.clients.push_back(client_of(client));
  }
  agents.shot_down = count(json, "shot_down");
  agents.stalled = count(json, "stalled");
  agents.fenced = count(json, "fenced");
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
  if (const Json& autopilots = member(json, "autopilots"); autopilots.is_array()) {
    for (const Json& one : autopilots) ending.autopilots.push_back(autopilot_of(one));
  }
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
