// `isochron sweep`: how slow may the on-board computer be?

#include "apps/isochron/sweep.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "apps/isochron/command.hpp"
#include "apps/isochron/parallel.hpp"
#include "apps/isochron/portable_math.hpp"
#include "apps/isochron/sweep_cluster.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/trust.hpp"
#include "core/foreign_text.hpp"
#include "core/time_text.hpp"
#include "run/run.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t speeds_max = 64;
constexpr int trials_max = 100'000;
constexpr const char* default_speeds = "0.125..8";

struct Flags {
  std::string file, speeds, folder;
  std::vector<std::string> sets, over, figures;
  int trials = 10;
  std::uint64_t random = 0, latin = 0;
  int jobs = 0;
  bool json = false;
  bool trust = false;
  std::string keep = "all";
  std::size_t stop_after = 0;
  double stop_within = 0;
  ClusterFlags cluster;
  std::string hosts;
  std::string partition;
};

[[noreturn]] void refuse(const std::string& flag, const std::string& what, const std::string& hint) {
  throw InputError({flag, 0, 0}, what, hint);
}

Fraction speed_from(const std::string& text, const std::string& all) {
  const auto speed = parse_fraction(text);
  if (!speed.ok()) refuse("--cpu-speed " + all, "`" + text + "` is no speed", "as in 0.125..8, or 0.5,1,2");
  return *speed;
}

Fraction doubled(Fraction speed) {
  if (speed.denominator % 2 == 0) return {speed.numerator, speed.denominator / 2};
  return {speed.numerator * 2, speed.denominator};
}

/// a, 2a, 4a, … up to b.
std::vector<Fraction> range_of(Fraction first, Fraction last, const std::string& all) {
  std::vector<Fraction> speeds;
  for (Fraction speed = first; speed.value() <= last.value() * (1 + 1e-9); speed = doubled(speed)) {
    if (speeds.size() == speeds_max) refuse("--cpu-speed " + all, "are too many speeds", "64 at most");
    speeds.push_back(speed);
  }
  if (speeds.empty()) refuse("--cpu-speed " + all, "ends before it begins", "the slower one first, as in 0.125..8");
  return speeds;
}

std::vector<Fraction> speeds_of(const std::string& text) {
  if (const auto dots = text.find(".."); dots != std::string::npos) {
    return range_of(speed_from(text.substr(0, dots), text), speed_from(text.substr(dots + 2), text), text);
  }
  std::vector<Fraction> speeds;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const Fraction speed = speed_from(text.substr(from, comma - from), text);
    if (std::find(speeds.begin(), speeds.end(), speed) == speeds.end()) speeds.push_back(speed);
    if (speeds.size() > speeds_max) refuse("--cpu-speed " + text, "are too many speeds", "64 at most");
    from = comma + 1;
  }
  return speeds;
}

std::vector<Override> overrides_of(const std::vector<std::string>& sets) {
  std::vector<Override> all;
  for (const std::string& set : sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) refuse("--set " + set, "is not PATH=VALUE", "as in --set time.quantum=250us");
    all.push_back({set.substr(0, equals), set.substr(equals + 1)});
  }
  return all;
}

/// Not for secrets: it only has to change when the scenario or the settings do.
std::string fingerprint_of(const Scenario& scenario, const std::vector<std::string>& sets) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  const auto mix = [&](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash = (hash ^ 0xffU) * 0x100000001b3U;
  };
  mix(scenario.text);
  for (const std::string& set : sets) mix(set);
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

/// What in the scenario makes a sweep less telling than its reader may think.
std::vector<std::string> notes_on(const Scenario& scenario) {
  std::vector<std::string> notes;
  if (scenario.time.mode == Mode::callback) {
    notes.push_back("computing is free in callback mode: every speed gives the same run; use time.mode=consistent");
  }
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      const std::string full = robot + "/" + name;
      if (program.cpu_speed) notes.push_back(full + " has a cpu_speed of its own, which the sweep does not change");
      if ((program.compute ? *program.compute : scenario.time.compute).contract == Contract::recorded) {
        notes.push_back(full + " replays recorded durations, which no speed changes");
      }
    }
  }
  return notes;
}

std::size_t jobs_for(const Flags& flags, bool parallel) {
  if (flags.jobs < 0) refuse("--jobs " + std::to_string(flags.jobs), "is no number of runs", "1 or more");
  if (flags.jobs > 1 && !parallel) {
    refuse("--jobs " + std::to_string(flags.jobs), "cannot be: measured runs use the real-time core, one at a time",
           "leave --jobs out, or let every program be modelled, recorded or zero");
  }
  if (flags.jobs > 0) return static_cast<std::size_t>(flags.jobs);
  return parallel ? std::max(1U, std::thread::hardware_concurrency()) : 1;
}

SweepPlan plan_of(const Flags& flags, const Scenario& scenario) {
  SweepPlan plan;
  plan.file = flags.file;
  plan.sets = flags.sets;
  plan.folder = flags.folder.empty() ? "runs/sweep_" + scenario.name : flags.folder;
  plan.fingerprint = fingerprint_of(scenario, flags.sets);
  for (const auto& [name, robot] : scenario.robots) {
    if (plan.bodies.size() < 2) plan.bodies.push_back(robot.body.empty() ? name : robot.body);
  }
  plan.jobs = jobs_for(flags, may_be_parallel(scenario));
  for (const std::string& figure : flags.figures) {
    for (std::size_t from = 0; from <= figure.size();) {
      const std::size_t comma = std::min(figure.find(',', from), figure.size());
      plan.figures.push_back(figure.substr(from, comma - from));
      from = comma + 1;
    }
  }
  if (flags.keep != "all" && flags.keep != "failed" && flags.keep != "none") {
    refuse("--keep " + flags.keep, "is not known", "write all, failed or none");
  }
  plan.keep = flags.keep == "all"      ? SweepPlan::Keep::all
              : flags.keep == "failed" ? SweepPlan::Keep::failed
                                       : SweepPlan::Keep::none;
  plan.stop_after = flags.stop_after;
  plan.stop_within = flags.stop_within;
  if (flags.stop_within < 0 || flags.stop_within >= 0.5) refuse("--stop-within", "must be between 0 and 0.5", "");
  if ((flags.stop_after > 0 || flags.stop_within > 0) && scenario.expect.empty()) {
    refuse("--stop-after, --stop-within", "need expectations", "add `expect:` to the scenario");
  }
  return plan;
}

std::string cell(const Spread& spread, const char* unit = "") {
  if (spread.n == 0) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.3g ± %.2g%s", spread.mean, spread.deviation, unit);
  return text;
}

std::string time_cell(const Spread& spread) {
  if (spread.n == 0) return "-";
  return format_ns_short(static_cast<std::int64_t>(1e9 * spread.mean)) + " ± " +
         format_ns_short(static_cast<std::int64_t>(1e9 * spread.deviation));
}

std::string table_of(const std::vector<SweepRow>& rows, bool expects) {
  std::vector<std::vector<std::string>> cells(1);
  if (!rows.empty()) {
    for (const auto& [key, value] : rows[0].settings) cells[0].push_back(key);
  }
  cells[0].insert(cells[0].end(), {"speed", "runs", "failed"});
  if (expects) cells[0].push_back("all held");
  cells[0].insert(cells[0].end(), {"missed deadlines", "overruns", "drift at most", "mean distance"});
  for (const SweepRow& row : rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (const auto& [key, value] : row.settings) line.push_back(value);
    line.insert(line.end(), {to_string(row.speed), std::to_string(row.finished), std::to_string(row.failed)});
    if (expects) line.push_back(std::to_string(row.all_held));
    line.insert(line.end(), {cell(row.missed), cell(row.overruns), time_cell(row.drift_s), cell(row.distance_m, " m")});
  }
  return table(cells);
}

nlohmann::ordered_json json_of(const Spread& spread) {
  if (spread.n == 0) return nullptr;
  return {
      {"mean", spread.mean}, {"std", spread.deviation}, {"ci95", {spread.mean - spread.ci, spread.mean + spread.ci}},
      {"p5", spread.p5},     {"p50", spread.p50},       {"p95", spread.p95}};
}

std::string json_of(const SweepPlan& plan, const std::vector<SweepRow>& rows, std::size_t skipped, bool complete) {
  nlohmann::ordered_json speeds = nlohmann::ordered_json::array();
  for (const SweepRow& row : rows) {
    speeds.push_back(
        {{"cpu_speed", row.speed.value()},
         {"settings", nlohmann::ordered_json::object()},
         {"finished", row.finished},
         {"failed", row.failed},
         {"all_held", row.all_held},
         {"missed_deadlines", json_of(row.missed)},
         {"overruns", json_of(row.overruns)},
         {"held_share", share_of(row.all_held, row.finished).share},
         {"held_ci95", {share_of(row.all_held, row.finished).low, share_of(row.all_held, row.finished).high}},
         {"drift_max_s", json_of(row.drift_s)},
         {"mean_distance_m", json_of(row.distance_m)}});
    for (const auto& [key, value] : row.settings) speeds.back()["settings"][key] = value;
  }
  return json_text(nlohmann::ordered_json{{"file", plan.file},
                                          {"folder", plan.folder},
                                          {"jobs", plan.jobs},
                                          {"complete", complete},
                                          {"skipped", skipped},
                                          {"bodies", plan.bodies},
                                          {"speeds", speeds}}) +
         "\n";
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

/// Every speed and setting, with all its seeds one after the other.
std::vector<SweepPoint> points_of(const Flags& flags, const Scenario& scenario) {
  // Whoever varies something else means the scenario's own speed.
  const bool own_speed = flags.speeds.empty() && !flags.over.empty();
  const std::vector<Fraction> speeds = own_speed ? std::vector{scenario.time.cpu_speed}
                                                 : speeds_of(flags.speeds.empty() ? default_speeds : flags.speeds);
  if (flags.random > 0 && flags.latin > 0) refuse("--random, --latin", "are two ways to choose", "give one of them");
  const Sampling how = flags.latin > 0 ? Sampling::latin : flags.random > 0 ? Sampling::random : Sampling::grid;
  const std::vector<Settings> all = settings_of(flags.over, how, std::max(flags.random, flags.latin), scenario.seed);
  std::vector<SweepPoint> points;
  for (const Settings& settings : all) {
    for (const Fraction speed : speeds) {
      for (int trial = 0; trial < flags.trials; ++trial) {
        points.push_back({speed, scenario.seed + static_cast<std::uint64_t>(trial), settings});
      }
    }
  }
  return points;
}

/// Each point must be a scenario, or hours later a run would say that it is not.
void check_points(const Flags& flags, const std::vector<SweepPoint>& points) {
  const Settings* checked = nullptr;
  for (const SweepPoint& point : points) {
    if (checked != nullptr && *checked == point.settings) continue;
    checked = &point.settings;
    std::vector<Override> overrides = overrides_of(flags.sets);
    for (const auto& [key, value] : point.settings) {
      if (key == "time.math") refuse("--over time.math", "is one for a whole sweep", "use --set time.math=portable");
      if (key == "seed" || key == "time.cpu_speed") {
        refuse("--over " + key, "is varied already", key == "seed" ? "use --trials" : "use --cpu-speed");
      }
      overrides.push_back({key, value});
    }
    (void)load_scenario(flags.file, overrides);
  }
}

ClusterFlags cluster_of(const Flags& flags, const Scenario& scenario) {
  ClusterFlags cluster = flags.cluster;
  cluster.alone = !may_be_parallel(scenario);
  for (std::size_t from = 0; from < flags.hosts.size();) {
    const std::size_t comma = std::min(flags.hosts.find(',', from), flags.hosts.size());
    if (comma > from) cluster.hosts.push_back(flags.hosts.substr(from, comma - from));
    from = comma + 1;
  }
  if (!flags.partition.empty()) cluster.pass.push_back("--partition=" + flags.partition);
  if (cluster.on != "slurm" && !cluster.pass.empty()) refuse("--sbatch, --partition", "is for --on slurm", "");
  if (cluster.on != "ssh" && !cluster.hosts.empty()) refuse("--hosts", "is for --on ssh", "");
  return cluster;
}

void write_tables(const SweepPlan& plan, const std::vector<SweepPoint>& points, const std::vector<SweepRow>& rows,
                  const SweepLog& log) {
  const Table runs = sweep_table(plan, points, log), summary = summary_table(plan, rows);
  write_file(plan.folder + "/sweep.csv", csv_of(runs));
  write_file(plan.folder + "/sweep.parquet", parquet_of(runs));
  write_file(plan.folder + "/summary.csv", csv_of(summary));
  write_file(plan.folder + "/summary.parquet", parquet_of(summary));
}

/// How much of the cores' time went into runs.
void say_share(const SweepPlan& plan, const std::vector<SweepPoint>& missing, const SweepLog& log, double wall_s,
               const std::string& on) {
  double runs_s = 0;
  std::size_t count = 0;
  for (const SweepPoint& point : missing) {
    if (const SweepResult* result = log.find(point)) runs_s += result->spent_s, ++count;
  }
  if (count == 0 || on != "local") return;
  char text[120];
  std::snprintf(text, sizeof text, "%zu runs in %.1f s; %.0f %% of %zu core%s' time went into runs\n", count, wall_s,
                100 * runs_s / (wall_s * static_cast<double>(plan.jobs)), plan.jobs, plan.jobs == 1 ? "'s" : "s");
  say(text);
}

int sweep(const Flags& flags) {
  if (flags.trials < 1 || flags.trials > trials_max) {
    refuse("--trials " + std::to_string(flags.trials), "is no number of trials", "1 or more, as in --trials 10");
  }
  const Scenario scenario = load_scenario(flags.file, overrides_of(flags.sets));
  demand_trust(scenario, flags.file, flags.trust);
  settle_math(scenario);
  check_scenario(scenario);
  SweepPlan plan = plan_of(flags, scenario);
  const std::vector<SweepPoint> points = points_of(flags, scenario);
  check_points(flags, points);
  SweepLog log(plan);
  std::vector<SweepPoint> missing;
  for (const SweepPoint& point : points) {
    const SweepResult* known = log.find(point);
    if (known == nullptr || !known->done()) missing.push_back(point);
  }
  const std::size_t skipped = points.size() - missing.size();
  if (flags.over.empty()) {
    for (const std::string& note : notes_on(scenario)) say("note: " + note + "\n");
  }
  if (log.foreign() > 0) {
    say("note: " + std::to_string(log.foreign()) +
        " earlier results are of another scenario or other settings, and do not count\n");
  }
  if (skipped > 0) say(std::to_string(skipped) + " of " + std::to_string(points.size()) + " runs were done before\n");

  const auto engine = cluster_engine(cluster_of(flags, scenario), plan, scenario);
  const auto started = std::chrono::steady_clock::now();
  const SweepEnd end = run_sweep(plan, missing, points.size(), log, *engine);
  const bool complete = end != SweepEnd::interrupted;
  if (end == SweepEnd::enough) say("stopped: enough runs by the rule given\n");
  say_share(plan, missing, log, std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(),
            flags.cluster.on);
  const std::vector<SweepRow> rows = rows_of(points, log);
  write_tables(plan, points, rows, log);
  write_file(plan.folder + "/sweep.svg", sweep_svg(scenario.name, rows, flags.over.empty() ? "" : key_to_draw(rows)));
  std::size_t failed = 0;
  for (const SweepRow& row : rows) failed += row.failed;
  print(flags.json ? json_of(plan, rows, skipped, complete)
                   : table_of(rows, !scenario.expect.empty()) + "\nresults " + plan.folder +
                         "/sweep.csv, sweep.parquet, summary.csv, summary.parquet; picture sweep.svg\n" +
                         (complete ? "" : "stopped by Ctrl-C: the same command continues from here\n"));
  if (!complete) return exit_interrupted;
  return failed > 0 ? exit_failed : exit_fine;
}

/// One part of a sweep, as a job of somebody else's engine works on it.
int work_on_part(const std::string& file, std::string results, bool until_stdin_ends) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError({file, 0, 0}, "cannot be read", "it is made by `isochron sweep --on …`");
  const auto json = nlohmann::ordered_json::parse(in, nullptr, false);
  if (!json.is_object())
    throw InputError({file, 0, 0}, "is no part of a sweep", "it is made by `isochron sweep --on …`");
  const SweepPlan plan = plan_from(json);
  settle_math(load_scenario(plan.file, overrides_of(plan.sets)));
  std::vector<SweepPoint> points;
  if (results.empty()) results = plan.folder + "/results.jsonl";
  std::set<std::string> known;  // a job that was put back into the queue goes on where it was
  if (std::ifstream old(results, std::ios::binary); results != "-" && old) {
    for (std::string line; std::getline(old, line);) {
      const auto done = nlohmann::ordered_json::parse(line, nullptr, false);
      if (done.is_object()) known.insert(name_of(point_from(done)));
    }
  }
  for (const auto& point : json.at("points")) {
    if (!known.contains(name_of(point_from(point)))) points.push_back(point_from(point));
  }
  if (!until_stdin_ends) return work_on(plan, points, plan.folder, results);
  // Whoever started it from afar is gone when our input ends. A copy of us works, and hears of it.
  const int out = dup(STDOUT_FILENO);
  const std::string there = "fd:" + std::to_string(out);
  ChildProcess worker([&] { return work_on(plan, points, plan.folder, results == "-" ? there : results); },
                      plan.folder + "/worker.log");
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char ignored[256];
  for (bool told = false; !worker.ended();) {
    const bool ended = !told && poll(&input, 1, 50) > 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0;
    if (told) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (!ended) continue;
    worker.signal(SIGINT);
    told = true;
  }
  return worker.code().value_or(exit_failed);
}

}  // namespace

void add_sweep(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb =
      app.add_subcommand("sweep", "run a scenario at many computer speeds, or over any keys; one table of results");
  verb->add_option("FILE", flags->file, "scenario file")->required();
  verb->add_option("--cpu-speed", flags->speeds, "A..B in factors of two, or a list A,B,C; 1 is this computer")
      ->default_str(default_speeds)
      ->type_name("SPEEDS");
  verb->add_option("--over", flags->over,
                   "vary any key instead: KEY=A,B,C or KEY=LOW..HIGH/N; several give all combinations")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false);
  verb->add_option("--random", flags->random, "with --over: so many random points instead, of the scenario's seed")
      ->type_name("N");
  verb->add_option("--latin", flags->latin,
                   "with --over: so many points as a Latin hypercube: random, and evenly spread")
      ->type_name("N");
  verb->add_option("--figure", flags->figures, "a figure of the report for the table: predator/planner.executed")
      ->type_name("NAMES")
      ->allow_extra_args(false);
  verb->add_option("--keep", flags->keep, "which journals: all, failed (or something did not hold), none")
      ->capture_default_str();
  verb->add_option("--stop-after", flags->stop_after, "enough when so many runs have something that did not hold")
      ->type_name("N");
  verb->add_option("--stop-within", flags->stop_within,
                   "enough when the share of runs that hold is known to ± this with 95 %: 0.02")
      ->type_name("SHARE");
  verb->add_option("--on", flags->cluster.on, "where: local, slurm (job arrays), ssh (with --hosts)")
      ->capture_default_str();
  verb->add_option("--hosts", flags->hosts, "of --on ssh: a,b,user@c")->type_name("HOSTS");
  verb->add_option("--shell", flags->cluster.launch.shell, "of --on ssh: what gives a shell on a host")
      ->capture_default_str();
  verb->add_option("--remote", flags->cluster.launch.remote, "of --on ssh: the isochron command there")
      ->capture_default_str();
  verb->add_option("--remote-folder", flags->cluster.launch.remote_folder, "of --on ssh: for files and journals there")
      ->capture_default_str();
  verb->add_option("--partition", flags->partition, "of --on slurm")->type_name("NAME");
  verb->add_option("--sbatch", flags->cluster.pass, "of --on slurm: an option for sbatch, as in --sbatch=--time=10:00")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  verb->add_option("--trials", flags->trials, "runs at each speed, with seeds seed, seed + 1, …")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--set", flags->sets, "change a value: --set time.quantum=250us")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--jobs", flags->jobs, "runs at the same time; as many as there are cores where contracts allow it")
      ->type_name("N");
  verb->add_option("-o,--output", flags->folder, "folder of journals and results; runs/sweep_NAME if left out")
      ->type_name("FOLDER");
  verb->add_flag("--json", flags->json, "end with one JSON object instead of the table");
  add_trust_flag(*verb, flags->trust);
  verb->callback([&action, flags] { action = [flags] { return sweep(*flags); }; });

  struct Part {
    std::string file, results;
    bool trust = false, until_stdin_ends = false;
  };
  auto part = std::make_shared<Part>();
  CLI::App* work =
      app.add_subcommand("sweep-part", "work on one part of a sweep: what `sweep --on …` starts elsewhere");
  work->group("");  // not for people
  work->add_option("FILE", part->file, "the part")->required();
  work->add_option("--results", part->results, "where a line for each run goes; - is standard output");
  work->add_flag("--until-stdin-ends", part->until_stdin_ends, "stop when standard input ends");
  work->add_flag("--trust", part->trust, "run what the scenario names");
  work->callback([&action, part] {
    action = [part] {
      if (!part->trust) refuse(part->file, "names a scenario that somebody else may have written", "add --trust");
      return work_on_part(part->file, part->results, part->until_stdin_ends);
    };
  });
}

}  // namespace isochron::app
