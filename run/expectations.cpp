#include "run/expectations.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "run/deadlines.hpp"
#include "run/hold_record.hpp"
#include "run/program_record.hpp"
#include "run/recorded_scenario.hpp"
#include "run/ros_post.hpp"
#include "run/stage.hpp"
#include "run/state_names.hpp"

namespace isochron {
namespace {

using Json = nlohmann::json;

struct ExpectOnly : Section {
  ExpectSection expect;
};

/// A figure's name without its unit, and what the unit makes of it.
struct Unit {
  Quantity quantity = Quantity::number;
  double scale = 1;
};
std::string without_unit(const std::string& key, Unit& unit) {
  const auto ends = [&](std::string_view ending) { return key.size() > ending.size() && key.ends_with(ending); };
  if (ends("_ns")) return unit = {Quantity::time, 1e-9}, key.substr(0, key.size() - 3);
  if (ends("_s")) return unit = {Quantity::time, 1}, key.substr(0, key.size() - 2);
  return key;
}

void flatten(const Json& json, const std::string& name, const Unit& unit, expect::Figures& into) {
  if (json.is_boolean()) {
    into[name] = {json.get<bool>() ? 1.0 : 0.0, Quantity::truth};
  } else if (json.is_number()) {
    into[name] = {json.get<double>() * unit.scale, unit.quantity};
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      Unit inner = unit;
      const std::string word = without_unit(key, inner);
      flatten(value, name.empty() ? word : name + "." + word, inner, into);
    }
  } else if (json.is_array()) {
    for (const Json& item : json) {
      const auto known = item.is_object() ? item.find("name") : item.end();
      if (known != item.end() && known->is_string()) flatten(item, known->get<std::string>(), unit, into);
    }
  }
}

template <Message T>
void add(Names& names, const std::string& topic, mcap::TextMap metadata = {}) {
  const std::size_t channel = std::hash<std::string>{}(topic);
  names.add(channel, ChannelDefinition{topic, {message_name<T>(), ros2msg_schema<T>()}, {true, std::move(metadata)}});
}

/// What the stage and those who act on it record.
Names names_of_stage(const Scenario& scenario) {
  Names names;
  const Stage stage(scenario);
  add<world::WorldState>(names, "/world/state", state_names(stage.catalog()));
  for (const auto& [name, vehicle] : scenario.vehicles) add<VehicleState>(names, "/vehicles/" + name);
  for (const auto& [name, one] : scenario.aircraft) add<AircraftState>(names, "/aircraft/" + name);
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      const std::string full = robot + "/" + name;
      if (scenario.time.mode == Mode::realtime) add<ActivationRecord>(names, "/deadlines/" + full);
      if (!program.run.empty() || runs_on_target(scenario, program)) {
        add<ProgramEvent>(names, "/programs/" + full);
        add<TurnRecord>(names, std::string(turns_prefix) + full);
      }
    }
  }
  for (const ChannelDefinition& channel : stage.reading_channels()) {
    names.add(std::hash<std::string>{}(channel.topic), channel);
  }
  for (const ChannelDefinition& channel : ros_channels(scenario)) {
    names.add(std::hash<std::string>{}(channel.topic), channel);
  }
  if (has_boards(scenario)) add<HoldRecord>(names, "/hil/holds");
  add<DriftRecord>(names, "/isochron/drift");
  add<Mark>(names, marks_topic);
  return names;
}

/// The figures that the run is going to have.
std::map<std::string, Quantity> figure_names(const Scenario& scenario) {
  RunReport report;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      ProgramReport& one = report.programs.emplace_back();
      one.name = robot + "/" + name;
      if (scenario.time.mode == Mode::realtime) one.timing.emplace();
    }
  }
  std::map<std::string, Quantity> names;
  for (const auto& [name, figure] : figures_of(to_json(report))) names.emplace(name, figure.quantity);
  return names;
}

}  // namespace

template <class V>
void describe(V& v, ExpectOnly& s) {
  v.optional("expect", s.expect, "");
}

std::vector<expect::Expectation> expectations_of(const Scenario& scenario) {
  std::vector<Mistake> mistakes;
  auto all = read_expectations(scenario.expect, mistakes);
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return all;
}

std::vector<expect::Expectation> expectations_in(const std::string& text, const std::string& file) {
  const Value root = parse_yaml(text, file);
  ExpectOnly only;
  std::vector<Mistake> mistakes;
  SectionReader reader(root, ".", mistakes);
  describe(reader, only);  // without finish(): all other keys are left alone
  settle_places(only.expect, text);
  auto all = read_expectations(only.expect, mistakes);
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return all;
}

std::vector<expect::Expectation> expectations_of(McapReader& journal) {
  const auto text = recorded_scenario::text_of(journal);
  if (!text) {
    throw InputError({journal.name(), 0, 0}, "has no scenario inside", "name one with --expect SCENARIO");
  }
  return expectations_in(*text, journal.name() + "/" + recorded_scenario::attachment);
}

expect::Figures figures_of(const std::string& report_json) {
  expect::Figures figures;
  Json json = Json::parse(report_json, nullptr, false);
  if (!json.is_object()) return figures;
  json.erase("expectations");
  flatten(json, "", {}, figures);
  return figures;
}

expect::Figures figures_of(McapReader& journal) {
  const auto report = recorded_scenario::report_of(journal);
  return report ? figures_of(*report) : expect::Figures{};
}

void check_expectations(const Scenario& scenario, const Names& names, bool complete) {
  if (scenario.expect.empty()) return;
  const auto figures = figure_names(scenario);
  std::vector<Mistake> mistakes;
  for (const expect::Expectation& expectation : expectations_of(scenario)) {
    check_expectation(expectation, {names, figures, complete}, mistakes);
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

void check_stage_expectations(const Scenario& scenario) {
  if (!scenario.expect.empty() && scenario.world) check_expectations(scenario, names_of_stage(scenario), true);
}

}  // namespace isochron
