#include "scenario/timed_faults.hpp"

#include <algorithm>

#include "core/nearest_name.hpp"
#include "core/random.hpp"
#include "scenario/run_changes.hpp"

namespace isochron {
namespace {

constexpr std::uint32_t most_times = 10'000;

/// One kind of fault: its key, and what that names.
struct What {
  enum class Of : std::uint8_t { sensor, field, program, model, all };
  const char* word;
  std::string TimedFault::*about;  // null: says() knows
  Of of;
  bool lasts;  // needs `for`
};
constexpr std::array<What, 16> kinds{{{"blind", &TimedFault::blind, What::Of::sensor, true},
                                      {"freeze", &TimedFault::freeze, What::Of::sensor, true},
                                      {"bias", &TimedFault::bias, What::Of::field, true},
                                      {"cut", &TimedFault::cut, What::Of::model, true},
                                      {"delay", &TimedFault::delay, What::Of::program, true},
                                      {"stop", &TimedFault::stop, What::Of::program, true},
                                      {"slow", &TimedFault::slow, What::Of::program, true},
                                      {"kill", &TimedFault::kill, What::Of::program, false},
                                      {"unplug", &TimedFault::unplug, What::Of::program, false},
                                      {"push", &TimedFault::push, What::Of::model, true},
                                      {"set", &TimedFault::set, What::Of::model, false},
                                      {"change", &TimedFault::change, What::Of::all, false},
                                      {"link", nullptr, What::Of::all, true},
                                      {"disk", &TimedFault::disk, What::Of::all, false},
                                      {"blade", &TimedFault::blade, What::Of::model, false},
                                      {"wind", nullptr, What::Of::all, true}}};

std::string all_words() {
  std::string text;
  for (const What& kind : kinds) text += (text.empty() ? "" : ", ") + std::string(kind.word);
  return text;
}

bool says(const TimedFault& fault, const What& kind) {
  if (kind.about != nullptr) return !(fault.*kind.about).empty();
  const std::string_view word = kind.word;
  return word == "wind" ? fault.wind.has_value() : !fault.link.empty();
}

/// What the entry breaks; null: it does not say, or says more than one thing.
const What* kind_of(const TimedFault& fault) {
  const What* found = nullptr;
  for (const What& kind : kinds) {
    if (!says(fault, kind)) continue;
    if (found != nullptr) return nullptr;
    found = &kind;
  }
  return found;
}

/// A gust is a change of the wind.
std::string gust_text(const std::array<double, 3>& velocity) {
  char text[120];
  std::snprintf(text, sizeof text, "world.wind.velocity=[%.17g, %.17g, %.17g]", velocity[0], velocity[1], velocity[2]);
  return text;
}

std::string ends_text(const std::vector<std::string>& ends) {
  return ends.size() == 1 ? ends[0] : ends[0] + ", " + ends[1];
}

double share_lost(const TimedFault& fault) {
  const bool given = fault.key_places.contains("loss") || fault.key_places.contains("lag");
  return given ? fault.loss.value : 1;
}

Mark mark_of(const TimedFault& fault, const What& kind, SimTime at) {
  Mark mark{.at = at, .what = kind.word, .seconds = fault.lasts.seconds()};
  if (kind.about != nullptr) mark.about = fault.*kind.about;
  if (mark.what == "change") mark.about += "=" + fault.to;
  if (mark.what == "wind") mark.what = "change", mark.about = gust_text(*fault.wind);
  if (mark.what == "push") mark.force = fault.force;
  if (mark.what == "slow" || mark.what == "bias" || mark.what == "blade") mark.force = {fault.by, 0, 0};
  if (mark.what == "link") mark.about = ends_text(fault.link), mark.force = {share_lost(fault), fault.lag.seconds(), 0};
  if (mark.what == "set") mark.force = {fault.value, 0, 0};
  return mark;
}

class Checker {
 public:
  Checker(const Scenario& scenario, std::vector<Mistake>& mistakes) : mistakes_(mistakes) {
    for (const auto& [robot, section] : scenario.robots) {
      for (const auto& [name, sensor] : section.sensors) sensors_.push_back(robot + "/" + name);
      for (const auto& [name, program] : section.programs) programs_.push_back(robot + "/" + name);
      ends_.push_back(robot);
    }
    ends_.insert(ends_.end(), programs_.begin(), programs_.end());
  }
  void check(const TimedFault& fault) {
    const What* kind = kind_of(fault);
    if (kind == nullptr) {
      return say(fault.place, "an entry of the timeline breaks one thing: " + all_words(),
                 "as in {at: 2s, blind: prey/imu, for: 500ms}");
    }
    check_times(fault);
    const std::string word = kind->word;
    if (kind->lasts && fault.lasts <= SimSpan::zero()) {
      say(fault.place_of("for"), "`for` says how long it lasts, and must be positive", "as in for: 500ms");
    }
    if (!kind->lasts && word != "change" && fault.key_places.contains("for")) {
      say(fault.place_of("for"), "`for` has no meaning with `" + word + "`, which is done once", "leave it out");
    }
    check_about(fault, *kind);
    check_unused(fault, word);
    if (word == "link") check_link(fault);
    if (word == "disk" && fault.disk != "full") {
      say(fault.place_of("disk"), "a disk can be `full`, not `" + fault.disk + "`", "write disk: full");
    }
    if (word == "bias" && fault.by == 0) {
      say(fault.place_of("by"), "`by` says how much is added, and must not be zero", "as in by: 0.1");
    }
    if (word == "blade" && !(fault.by >= 0 && fault.by < 1)) {
      say(fault.place_of("by"), "`by` says what share of its thrust a broken rotor keeps: 0 to less than 1", "");
    }
    if (word == "slow" && fault.by <= 0) {
      say(fault.place_of("by"), "`by` says how many times as much computing costs, and must be positive",
          "as in by: 4");
    }
    if (word == "change" && !fault.key_places.contains("to")) {
      say(fault.place, "a change needs `to`, the new value", "as in {at: 2s, change: world.wind.drag, to: 0.5}");
    }
    if (word == "push" && fault.force == std::array<double, 3>{}) {
      say(fault.place_of("force"), "a push needs a `force`", "as in force: [0, 0, 5]");
    }
  }

 private:
  void check_about(const TimedFault& fault, const What& kind) {
    if (kind.about == nullptr) return;
    const std::string& about = fault.*kind.about;
    if (kind.of == What::Of::program) check_name(fault, kind.word, about, "program", programs_);
    if (kind.of == What::Of::sensor) check_name(fault, kind.word, about, "sensor", sensors_);
    if (kind.of != What::Of::field) return;
    // ROBOT/SENSOR, of a camera with /OUTPUT, then the field.
    std::string sensor = about.substr(0, about.find('.'));
    const std::size_t output = sensor.find('/', sensor.find('/') + 1);
    if (sensor.find('/') != std::string::npos && output != std::string::npos) sensor.resize(output);
    check_name(fault, kind.word, sensor, "sensor", sensors_);
    if (about.find('.') == std::string::npos) {
      say(fault.place_of(kind.word), "a bias needs a field of the sensor's message",
          "as in prey/imu.angular_velocity.z");
    }
  }
  /// What an entry says and does not use would be ignored in silence.
  void check_unused(const TimedFault& fault, const std::string& word) {
    constexpr std::array<std::pair<const char*, std::string_view>, 6> uses{{{"force", "push"},
                                                                            {"value", "set"},
                                                                            {"by", "slow bias blade"},
                                                                            {"to", "change"},
                                                                            {"loss", "link"},
                                                                            {"lag", "link"}}};
    for (const auto& [key, words] : uses) {
      if (!fault.key_places.contains(key) || words.find(word) != std::string_view::npos) continue;
      say(fault.place_of(key), std::string("`") + key + "` has no meaning with `" + word + "`", "leave it out");
    }
  }
  void check_link(const TimedFault& fault) {
    if (fault.link.size() > 2) {
      return say(fault.place_of("link"), "a link has two ends: [A, B], or [A] for all of A's", "");
    }
    for (const std::string& end : fault.link) check_name(fault, "link", end, "robot or program", ends_);
    if (fault.link.size() == 2 && fault.link[0] == fault.link[1]) {
      say(fault.place_of("link"), "a link has two different ends", "as in [predator, prey]");
    }
    if (fault.lag < SimSpan::zero()) say(fault.place_of("lag"), "`lag` must not be negative", "");
    if (share_lost(fault) == 0 && fault.lag == SimSpan::zero()) {
      say(fault.place, "this link loses nothing and is not late", "give `loss`, `lag`, or neither");
    }
  }
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
  std::vector<std::string> sensors_, programs_, ends_;
};

void demand(const TimedFault& fault, const char* key, const std::string& name, const char* kind,
            const std::vector<std::string>& known, std::vector<Mistake>& mistakes) {
  if (name.empty() || std::ranges::find(known, name) != known.end()) return;
  mistakes.push_back(
      {fault.place_of(key), std::string("there is no ") + kind + " `" + name + "`", nearest_hint(name, known)});
}

const ProgramSection* program_of(const Scenario& scenario, const std::string& name) {
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [program, found] : section.programs) {
      if (robot + "/" + program == name) return &found;
    }
  }
  return nullptr;
}

/// Why a fault of a program would do nothing in this run; "" = it is obeyed.
std::string no_effect(const Scenario& scenario, const What& kind, const ProgramSection& program) {
  const std::string word = kind.word;
  const bool board = runs_on_target(scenario, program);
  if (word == "unplug") return board ? "" : "it does not run on a board";
  if (board && word == "kill") return "it runs on a board; `unplug` it";
  if (board && word == "slow") return "it runs on a board, which computes as fast as it does";
  const Mode mode = scenario.time.mode;
  if (word == "slow" && mode == Mode::callback) return "computing is free in mode callback";
  if (word == "slow" && mode == Mode::realtime) return "on the wall clock it computes as fast as this machine does";
  if (mode == Mode::realtime && !program.library.empty())
    return "in mode realtime a controller in a library has a thread of its own, which nobody stops";
  return "";
}

/// What cannot be done in this mode, or not while a run goes on.
void demand_obeyed(const Scenario& scenario, const TimedFault& fault, std::vector<Mistake>& mistakes) {
  const What* kind = kind_of(fault);
  const bool programs = kind != nullptr && kind->of == What::Of::program;
  if (const ProgramSection* program = programs ? program_of(scenario, fault.*kind->about) : nullptr) {
    if (const std::string why = no_effect(scenario, *kind, *program); !why.empty()) {
      mistakes.push_back({fault.place_of(kind->word),
                          std::string("`") + kind->word + "` of " + fault.*kind->about + " has no effect: " + why, ""});
    }
  }
  if (!fault.disk.empty() && runs_as_flows(scenario)) {
    mistakes.push_back({fault.place_of("disk"), "`disk` has no effect where the world is a node of flows",
                        "use another mode, or a small file system"});
  }
  if (fault.change.empty()) return;
  if (const auto good = check_change(scenario, {fault.change, fault.to}); !good.ok()) {
    mistakes.push_back({fault.place_of("change"), good.error(), ""});
  }
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

std::vector<Mark> planned_marks(const Scenario& scenario) {
  return scenario.faults.marks ? *scenario.faults.marks : timed_marks(scenario);
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
  std::vector<std::string> rotors;
  for (const auto& [name, section] : scenario.aircraft) {
    std::ranges::copy_if(actuators, std::back_inserter(rotors),
                         [prefix = name + "/motor"](const std::string& one) { return one.starts_with(prefix); });
  }
  std::vector<std::string> what_can_be_cut = robots;
  what_can_be_cut.insert(what_can_be_cut.end(), actuators.begin(), actuators.end());
  const std::vector<std::string> bodies(catalog.bodies.begin() + (catalog.bodies.empty() ? 0 : 1),
                                        catalog.bodies.end());
  std::vector<Mistake> mistakes;
  for (const TimedFault& fault : scenario.faults.timeline) {
    demand(fault, "push", fault.push, "body", bodies, mistakes);
    demand(fault, "set", fault.set, "actuator", actuators, mistakes);
    demand(fault, "blade", fault.blade, "rotor", rotors, mistakes);
    demand(fault, "cut", fault.cut, "robot or actuator", what_can_be_cut, mistakes);
    demand_obeyed(scenario, fault, mistakes);
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

}  // namespace isochron
