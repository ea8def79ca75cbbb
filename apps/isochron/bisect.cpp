// `isochron bisect`: where is the border? Of a scenario: between values of a key with which all expectations hold and
// values with which they do not. Of a journal: the first time at which a change makes a difference, or the last time at
// which it still does.

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/isochron/branches.hpp"
#include "apps/isochron/child_process.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/portable_math.hpp"
#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/sweep_over.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/trust.hpp"
#include "core/foreign_text.hpp"
#include "core/time_text.hpp"
#include "journal/diff.hpp"
#include "journal/disk.hpp"
#include "journal/named_series.hpp"
#include "run/recorded_scenario.hpp"
#include "run/run.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string file, over, at, by, tolerance, folder, files;
  std::vector<std::string> sets;
  int trials = 1;
  bool json = false;
  bool trust = false;
};

[[noreturn]] void refuse(const std::string& flag, const std::string& what, const std::string& hint) {
  throw InputError({flag, 0, 0}, what, hint);
}

std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// "1%" of the range, or a value with the range's unit.
double tolerance_of(const std::string& text, const ValueRange& range) {
  const double width = range.high - range.low;
  if (text.empty()) return width / 100;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string unit(stop, end);
  if (error == std::errc() && value > 0 && unit != range.unit && unit != "%") {  // another unit of time
    const auto ns = parse_ns(text), one = parse_ns("1" + range.unit);
    if (ns.ok() && one.ok()) return static_cast<double>(*ns) / static_cast<double>(*one);
  }
  if (error != std::errc() || value <= 0 || (unit != "%" && unit != range.unit)) {
    refuse("--tolerance " + text, "is no tolerance", "as in 1%, or 0.01 with the unit of the range");
  }
  return unit == "%" ? width * value / 100 : value;
}

/// One look: a value, and whether all held.
struct Look {
  std::string value;
  bool held = false;
  std::string why;
};

struct Found {
  std::string holds, fails;  // the two sides of the border
  std::vector<Look> looks;
  std::string none;  // there is no border: why
};

/// Halves the range until both sides are as near as asked.
template <class Try>
Found search(const ValueRange& range, double tolerance, Try&& look) {
  Found found;
  const auto at = [&](double value) {
    found.looks.push_back(look(range_text(value, range.unit)));
    say((found.looks.back().held ? "holds  " : "fails  ") + found.looks.back().value +
        (found.looks.back().why.empty() ? "" : "  " + found.looks.back().why) + "\n");
    return found.looks.back().held;
  };
  double low = range.low, high = range.high;
  const bool low_holds = at(low), high_holds = at(high);
  if (low_holds == high_holds) {
    found.none = low_holds ? "everything holds at both ends of the range" : "something fails at both ends of the range";
    return found;
  }
  while (high - low > tolerance) {
    const double middle = low + (high - low) / 2;
    (at(middle) == low_holds ? low : high) = middle;
  }
  found.holds = range_text(low_holds ? low : high, range.unit);
  found.fails = range_text(low_holds ? high : low, range.unit);
  return found;
}

int tell(const Flags& flags, const std::string& what, const Found& found) {
  if (flags.json) {
    Json looks = Json::array();
    for (const Look& look : found.looks)
      looks.push_back({{"value", look.value}, {"held", look.held}, {"why", look.why}});
    Json json{{"what", what}, {"found", found.none.empty()}};
    if (found.none.empty()) {
      json["holds"] = found.holds;
      json["fails"] = found.fails;
    } else {
      json["why"] = found.none;
    }
    json["looks"] = looks;
    print(json_text(json) + "\n");
  } else if (found.none.empty()) {
    print(what + ": " + green("holds") + " at " + bold(found.holds) + ", " + red("fails") + " at " + bold(found.fails) +
          "  (" + std::to_string(found.looks.size()) + " looks)\n");
  } else {
    print(what + ": " + found.none + "\n");
  }
  return found.none.empty() ? exit_fine : exit_no;
}

/// All expectations in all trials of one value.
Look look_at(const Flags& flags, const std::string& key, const std::string& value, std::uint64_t seed) {
  Look look{value, true, ""};
  for (int trial = 0; trial < flags.trials && look.held; ++trial) {
    const std::string base = flags.folder + "/bisect";
    std::vector<std::string> words{ChildProcess::ourselves, "run", flags.file, "--json", "--quiet", "--trust"};
    for (const std::string& set : flags.sets) words.insert(words.end(), {"--set", set});
    words.insert(words.end(), {"--set", key + "=" + value, "--seed",
                               std::to_string(seed + static_cast<std::uint64_t>(trial)), "--journal", base + ".mcap"});
    ChildProcess child(words, base + ".json", base + ".log");
    child.wait();
    const Json report = Json::parse(text_in(base + ".json"), nullptr, false);
    if (!report.is_object() || report.value("end", "") == "failed") {
      throw std::runtime_error(
          "with " + key + "=" + value + " the run failed: " +
          (report.is_object() ? report.value("why", "") : foreign_tail(text_in(base + ".log"), 500)));
    }
    if (report.value("end", "") == "interrupted") throw std::runtime_error("stopped");
    for (const Json& one : report.value("expectations", Json::array())) {
      if (one.value("verdict", "") == "held") continue;
      look.held = false;
      look.why = one.value("name", "") + ": " + one.value("why", "");
      break;
    }
  }
  return look;
}

int bisect_key(const Flags& flags) {
  const std::size_t equals = flags.over.find('=');
  const auto range = equals == std::string::npos ? std::nullopt : range_from(flags.over.substr(equals + 1));
  if (!range) refuse("--over " + flags.over, "is not KEY=LOW..HIGH", "as in --over time.cpu_speed=0.1..1");
  const std::string key = flags.over.substr(0, equals);
  std::vector<Override> overrides;
  for (const std::string& set : flags.sets) {
    const std::size_t at = set.find('=');
    if (at == std::string::npos) refuse("--set " + set, "is not PATH=VALUE", "as in --set duration=5s");
    overrides.push_back({set.substr(0, at), set.substr(at + 1)});
  }
  const Scenario scenario = load_scenario(flags.file, overrides);
  demand_trust(scenario, flags.file, flags.trust);
  if (scenario.expect.empty()) refuse(flags.file, "has no expectations, so nothing can fail", "add `expect:`");
  for (const double end : {range->low, range->high}) {  // both must be scenarios
    std::vector<Override> with = overrides;
    with.push_back({key, range_text(end, range->unit)});
    check_scenario(load_scenario(flags.file, with));
  }
  const double tolerance = tolerance_of(flags.tolerance, *range);
  std::filesystem::create_directories(flags.folder);
  return tell(flags, key, search(*range, tolerance, [&](const std::string& value) {
                return look_at(flags, key, value, scenario.seed);
              }));
}

/// When a change made at a time still breaks something: the border between times.
int bisect_time(const Flags& flags) {
  const auto range = range_from(flags.at);
  const auto unit = range ? parse_ns("1" + range->unit) : Result<std::int64_t, std::string>(fail(std::string()));
  if (!range || !unit.ok()) refuse("--at " + flags.at, "is no range of times", "as in --at 1s..9s");
  const double tolerance = tolerance_of(flags.tolerance, *range);
  return tell(flags, "at", search(*range, tolerance, [&](const std::string& value) {
                BranchPlan plan{
                    .journal = flags.file, .folder = flags.files, .output = flags.folder, .trust = flags.trust};
                plan.at = SimTime::from_ns(parse_ns(value).value());
                const BranchRun run = run_branches(plan, {{"bisect", flags.sets}});
                if (!run.not_same.empty()) throw std::runtime_error(run.not_same);
                const BranchResult& result = run.branches.at(0);
                if (result.end() == "failed")
                  throw std::runtime_error("the branch at " + value + " failed: " + result.why);
                return Look{value, result.held(), result.held() ? "" : "an expectation is violated"};
              }));
}

/// The first time at which a number of both journals is farther apart than `tolerance`.
std::optional<SimTime> part_by(McapReader& a, McapReader& b, const std::string& name, double tolerance) {
  const auto of_a = read_named(a, names_of(a), name), of_b = read_named(b, names_of(b), name);
  if (!of_a.ok()) refuse("--by " + name, of_a.error(), "");
  if (!of_b.ok()) refuse("--by " + name, of_b.error(), "");
  const std::size_t common = std::min(of_a->times.size(), of_b->times.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (of_a->times[i] != of_b->times[i] || std::fabs(of_a->values[i] - of_b->values[i]) > tolerance)
      return of_a->times[i];
  }
  return std::nullopt;
}

int first_time(const Flags& flags) {
  PosixDisk disk;
  auto recorded = McapReader::open(disk, flags.file);
  if (!recorded.ok()) throw InputError({"", 0, 0}, recorded.error().what, "");
  std::vector<Override> overrides;
  for (const std::string& set : flags.sets) {
    const std::size_t at = set.find('=');
    if (at == std::string::npos) refuse("--set " + set, "is not PATH=VALUE", "");
    overrides.push_back({set.substr(0, at), set.substr(at + 1)});
  }
  double tolerance = 0;
  if (!flags.tolerance.empty()) {
    if (flags.by.empty())
      refuse("--tolerance", "needs a number to compare", "add --by NAME, as in --by prey.position.x");
    const char* end = flags.tolerance.data() + flags.tolerance.size();
    if (std::from_chars(flags.tolerance.data(), end, tolerance).ptr != end)
      refuse("--tolerance " + flags.tolerance, "is no number", "as in --tolerance 0.1");
  }
  const Scenario scenario = scenario_to_branch(*recorded, flags.files, overrides);
  demand_trust(scenario, *recorded, flags.trust);
  settle_math(scenario);
  std::filesystem::create_directories(flags.folder);
  const std::string file = flags.folder + "/changed.mcap";
  const RunReport report = run_watched(scenario, {.journal = file, .marks = marks_of(*recorded)}, false);
  if (report.end == RunReport::End::failed) throw std::runtime_error("the changed run failed: " + report.why);
  if (report.end == RunReport::End::interrupted) return exit_interrupted;
  auto changed = McapReader::open(disk, file);
  if (!changed.ok()) throw std::runtime_error(changed.error().what);
  std::optional<SimTime> when;
  std::string text;
  if (!flags.by.empty()) {
    when = part_by(*recorded, *changed, flags.by, tolerance);
    if (when) text = flags.by + " is apart by more than " + std::to_string(tolerance);
  } else if (const auto first = first_difference(*recorded, *changed)) {
    when = first->time;
    text = to_string(*first);
  }
  if (flags.json) {
    Json json{{"what", "first_time"}, {"found", when.has_value()}, {"journal", file}};
    if (when) json["time_s"] = when->since_zero().seconds(), json["difference"] = text;
    print(json_text(json) + "\n");
  } else {
    print(when ? "the first difference is at " + bold(to_string(*when)) + "\n" + text + "\n"
               : "the change makes no difference\n");
  }
  return when ? exit_fine : exit_no;
}

int bisect(const Flags& flags) {
  if (flags.json) keep_output_for_reports();
  const bool journal = flags.file.ends_with(".mcap");
  if (flags.trials < 1) refuse("--trials", "must be 1 or more", "");
  if (!journal) {
    if (flags.over.empty()) refuse(flags.file, "needs a key to vary", "add --over KEY=LOW..HIGH");
    return bisect_key(flags);
  }
  if (!flags.over.empty()) refuse("--over", "is for scenarios", "name the scenario instead of the journal");
  if (flags.sets.empty()) refuse(flags.file, "needs a change", "add --set KEY=VALUE");
  return flags.at.empty() ? first_time(flags) : bisect_time(flags);
}

}  // namespace

void add_bisect(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  flags->folder = "runs/bisect";
  CLI::App* verb = app.add_subcommand("bisect",
                                      "find the border: the slowest CPU or largest delay at which all expectations "
                                      "hold; the first time at which a change makes a difference");
  verb->add_option("FILE", flags->file, "scenario file, or a journal")->required();
  verb->add_option("--over", flags->over, "of a scenario: the key and its range, as in time.cpu_speed=0.1..1")
      ->type_name("KEY=LOW..HIGH");
  verb->add_option("--set", flags->sets, "of a scenario: change a value first; of a journal: the change")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--at", flags->at,
                   "of a journal: make the change at a time, as `fork` does, and find the border between times")
      ->type_name("LOW..HIGH");
  verb->add_option("--by", flags->by, "of a journal: the number that must differ by more than the tolerance")
      ->type_name("NAME");
  verb->add_option("--tolerance", flags->tolerance, "when to stop: 1% of the range if left out, or a value")
      ->type_name("VALUE");
  verb->add_option("--trials", flags->trials, "runs of each value, with seeds seed, seed + 1, …; all must hold")
      ->type_name("N");
  verb->add_option("--folder", flags->files, "where the scenario's files are now, if they were moved")
      ->type_name("FOLDER");
  verb->add_option("-o,--output", flags->folder, "folder for the journals of the runs")->capture_default_str();
  verb->add_flag("--json", flags->json, "one JSON object instead of text");
  add_trust_flag(*verb, flags->trust);
  verb->callback([&action, flags] { action = [flags] { return bisect(*flags); }; });
}

}  // namespace isochron::app
