#include "scenario/timed_faults.hpp"

#include <algorithm>

#include "core/nearest_name.hpp"
#include "core/random.hpp"

namespace isochron {
namespace {

constexpr std::uint32_t most_times = 10'000;

struct What {
  const char* word;
  std::string TimedFault::*about;
};
constexpr std::array<What, 5> kinds{{{"blind", &TimedFault::blind},
                                     {"cut", &TimedFault::cut},
                                     {"delay", &TimedFault::delay},
                                     {"push", &TimedFault::push},
                                     {"set", &TimedFault::set}}};

/// What the entry breaks; null: it does not say, or says more than one thing.
const What* kind_of(const TimedFault& fault) {
  const What* found = nullptr;
  for (const What& kind : kinds) {
    if ((fault.*kind.about).empty()) continue;
    if (found != nullptr) return nullptr;
    found = &kind;
  }
  return found;
}

Mark mark_of(const TimedFault& fault, const What& kind, SimTime at) {
  Mark mark{.at = at, .what = kind.word, .about = fault.*kind.about, .seconds = fault.lasts.seconds()};
  if (mark.what == "push") mark.force = fault.force;
  if (mark.what == "set") mark.force = {fault.value, 0, 0};
  return mark;
}

class Checker {
 public:
  Checker(const Scenario& scenario, std::vector<Mistake>& mistakes) : mistakes_(mistakes) {
    for (const auto& [robot, section] : scenario.robots) {
      for (const auto& [name, sensor] : section.sensors) sensors_.push_back(robot + "/" + name);
      for (const auto& [name, program] : section.programs) programs_.push_back(robot + "/" + name);
    }
  }
  void check(const TimedFault& fault) {
    const What* kind = kind_of(fault);
    if (kind == nullptr) {
      return say(fault.place, "an entry of the timeline breaks one thing: blind, cut, delay, push or set",
                 "as in {at: 2s, blind: prey/imu, for: 500ms}");
    }
    check_times(fault);
    const std::string word = kind->word;
    if (word != "set" && fault.lasts <= SimSpan::zero()) {
      say(fault.place_of("for"), "`for` says how long it lasts, and must be positive", "as in for: 500ms");
    }
    if (word == "blind") check_name(fault, "blind", fault.blind, "sensor", sensors_);
    if (word == "delay") check_name(fault, "delay", fault.delay, "program", programs_);
    if (word == "push" && fault.force == std::array<double, 3>{}) {
      say(fault.place_of("force"), "a push needs a `force`", "as in force: [0, 0, 5]");
    }
  }

 private:
  void say(const Place& place, std::string what, std::string hint) {
    mistakes_.push_back({place, std::move(what), std::move(hint)});
  }
  void check_times(const TimedFault& fault) {
    if (fault.at.has_value() == !fault.between.empty()) {
      return say(fault.place, "an entry of the timeline needs `at`, or `between` with two times",
                 "as in at: 2s, or between: [1s, 9s]");
    }
    if (fault.at && *fault.at < SimSpan::zero()) say(fault.place_of("at"), "`at` must not be negative", "");
    if (fault.at && fault.key_places.contains("times")) {
      say(fault.place_of("times"), "`times` is for random times", "give `between` instead of `at`");
    }
    if (fault.at) return;
    const bool in_order =
        fault.between.size() == 2 && fault.between[0] >= SimSpan::zero() && fault.between[0] < fault.between[1];
    if (!in_order) say(fault.place_of("between"), "`between` needs two times, the earlier one first", "as in [1s, 9s]");
    if (fault.times < 1 || fault.times > most_times) say(fault.place_of("times"), "`times` must be 1 to 10000", "");
  }
  void check_name(const TimedFault& fault, const char* key, const std::string& name, const char* kind,
                  const std::vector<std::string>& known) {
    if (std::ranges::find(known, name) != known.end()) return;
    say(fault.place_of(key), std::string("there is no ") + kind + " `" + name + "`", nearest_hint(name, known));
  }

  std::vector<Mistake>& mistakes_;
  std::vector<std::string> sensors_, programs_;
};

void demand(const TimedFault& fault, const char* key, const std::string& name, const char* kind,
            const std::vector<std::string>& known, std::vector<Mistake>& mistakes) {
  if (name.empty() || std::ranges::find(known, name) != known.end()) return;
  mistakes.push_back(
      {fault.place_of(key), std::string("there is no ") + kind + " `" + name + "`", nearest_hint(name, known)});
}

}  // namespace

std::vector<Mark> timed_marks(const Scenario& scenario) {
  std::vector<Mark> marks;
  const std::uint64_t seed = scenario.faults.seed.value_or(scenario.seed);
  for (std::size_t i = 0; i < scenario.faults.timeline.size(); ++i) {
    const TimedFault& fault = scenario.faults.timeline[i];
    const What* kind = kind_of(fault);
    if (kind == nullptr) continue;
    if (fault.at) marks.push_back(mark_of(fault, *kind, SimTime::zero() + *fault.at));
    if (fault.at || fault.between.size() != 2) continue;
    RandomStream chance(seed, "faults/" + std::to_string(i));
    const auto width = static_cast<std::uint64_t>((fault.between[1] - fault.between[0]).ns());
    for (std::uint32_t n = 0; n < fault.times; ++n) {
      const SimSpan later = SimSpan::from_ns(static_cast<std::int64_t>(chance.below(width)));
      marks.push_back(mark_of(fault, *kind, SimTime::zero() + fault.between[0] + later));
    }
  }
  std::ranges::stable_sort(marks, {}, &Mark::at);
  return marks;
}

void check_timed_faults(const Scenario& scenario, std::vector<Mistake>& mistakes) {
  if (scenario.faults.timeline.empty()) return;
  if (!scenario.world) {
    mistakes.push_back({scenario.faults.place, "a timeline of faults needs a `world`", "add `world: {model: …}`"});
  }
  Checker checker(scenario, mistakes);
  for (const TimedFault& fault : scenario.faults.timeline) checker.check(fault);
}

void check_timed_faults(const Scenario& scenario, const world::Catalog& catalog) {
  std::vector<std::string> robots, actuators;
  for (const auto& [robot, section] : scenario.robots) robots.push_back(robot);
  for (const world::ActuatorInfo& actuator : catalog.actuators) actuators.push_back(actuator.name);
  std::vector<std::string> what_can_be_cut = robots;
  what_can_be_cut.insert(what_can_be_cut.end(), actuators.begin(), actuators.end());
  const std::vector<std::string> bodies(catalog.bodies.begin() + (catalog.bodies.empty() ? 0 : 1),
                                        catalog.bodies.end());
  std::vector<Mistake> mistakes;
  for (const TimedFault& fault : scenario.faults.timeline) {
    demand(fault, "push", fault.push, "body", bodies, mistakes);
    demand(fault, "set", fault.set, "actuator", actuators, mistakes);
    demand(fault, "cut", fault.cut, "robot or actuator", what_can_be_cut, mistakes);
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

}  // namespace isochron
