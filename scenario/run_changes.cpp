#include "scenario/run_changes.hpp"

namespace isochron {
namespace {

std::vector<std::string_view> words_of(std::string_view key) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from <= key.size();) {
    const std::size_t dot = std::min(key.find('.', from), key.size());
    words.push_back(key.substr(from, dot - from));
    from = dot + 1;
  }
  return words;
}

Fraction speed_of(const Scenario& scenario, const std::string& robot, const std::string& program) {
  for (const auto& [name, section] : scenario.robots) {
    if (name != robot) continue;
    for (const auto& [called, one] : section.programs) {
      if (called == program) return one.cpu_speed.value_or(scenario.time.cpu_speed);
    }
  }
  return scenario.time.cpu_speed;
}

constexpr const char* what_can =
    "while a run goes on world.wind, world.walls, sensors, actuators and cpu_speed can be changed; for anything else "
    "run it from the start, with `isochron run --set`";

}  // namespace

std::optional<ChangedPart> changed_part(std::string_view key) {
  const std::vector<std::string_view> words = words_of(key);
  if (words.size() >= 2 && words[0] == "world" && (words[1] == "wind" || words[1] == "walls"))
    return ChangedPart::fields;
  if (words.size() == 2 && words[0] == "time" && words[1] == "cpu_speed") return ChangedPart::speed;
  if (words.size() < 5 || words[0] != "robots") return std::nullopt;
  if (words[2] == "programs" && words[4] == "cpu_speed") return ChangedPart::speed;
  if (words[2] == "sensors" && words[4] != "type") return ChangedPart::sensors;
  if (words[2] == "actuators" && words[4] != "actuator") return ChangedPart::actuators;
  return std::nullopt;
}

std::optional<Override> override_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  return Override{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<Done, std::string> check_change(const Scenario& scenario, const Override& set) {
  const auto part = changed_part(set.path);
  if (!part) return fail("`" + set.path + "` cannot be changed in the middle of a run; " + what_can);
  const bool flows = runs_as_flows(scenario);
  if (flows && *part != ChangedPart::fields) {
    return fail("`" + set.path +
                "` cannot be changed in the middle of a run of flows; there only world.wind and world.walls can");
  }
  const Mode mode = scenario.time.mode;
  if (*part == ChangedPart::speed && mode != Mode::consistent && mode != Mode::repeatable)
    return fail("`" + set.path + "` has no effect in this mode: computing costs nothing, or what the wall clock says");
  try {
    ChangedScenario changed(scenario);
    changed.add(set, SimTime::never());
    (void)changed.now();
  } catch (const InputError& error) {
    return fail(std::string(error.what()));
  }
  return done();
}

bool ChangedScenario::expire(SimTime now) {
  return std::erase_if(settings_, [now](const Setting& one) { return one.until <= now; }) > 0;
}

Scenario ChangedScenario::now() const {
  std::vector<Override> overrides;
  for (const Setting& one : settings_) overrides.push_back(one.set);
  return read_scenario(base_.text, base_.file, base_.folder, overrides);
}

double ChangedScenario::slowness(const Scenario& base, const Scenario& now, const std::string& robot,
                                 const std::string& program) {
  return speed_of(base, robot, program).value() / speed_of(now, robot, program).value();
}

}  // namespace isochron
