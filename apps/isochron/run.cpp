#include <csignal>
#include <thread>

#include "apps/isochron/command.hpp"
#include "apps/isochron/machine.hpp"
#include "apps/isochron/run_output.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "scenario/run.hpp"
#include "scenario/wall_clock.hpp"

namespace isochron::app {
namespace {

RunWatch* watched = nullptr;
/// The first Ctrl-C stops the run cleanly; the second one is the system's.
void on_interrupt(int signal) {
  if (watched != nullptr) watched->stop();
  std::signal(signal, SIG_DFL);
}

/// Shows how far the run is, until it goes out of scope.
class ProgressDisplay {
 public:
  ProgressDisplay(const RunWatch& watch, SimSpan duration)
      : thread_([this, &watch, duration] { show(watch, duration); }) {}
  ~ProgressDisplay() {
    done_.store(true);
    thread_.join();
  }

 private:
  void show(const RunWatch& watch, SimSpan duration) {
    StatusLine line;
    const auto start = std::chrono::steady_clock::now();
    while (!done_.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const double sim = watch.time().seconds();
      char text[160];
      std::snprintf(text, sizeof text, "%5.1f %%  %.2f of %.2f s simulated  %.2fx real time  drift %s",
                    100 * sim / duration.seconds(), sim, duration.seconds(), sim / wall,
                    format_ns_short(watch.drift().ns()).c_str());
      line.show(text);
    }
  }
  std::atomic<bool> done_{false};
  std::thread thread_;
};

std::string programs_table(const RunReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"program", "activations", "overruns", "missed", "preempted", "executed", "waited"}};
  for (const ProgramReport& p : report.programs) {
    rows.push_back({p.name, std::to_string(p.activations), std::to_string(p.overruns),
                    std::to_string(p.missed_deadlines), std::to_string(p.preemptions), format_ns_short(p.executed.ns()),
                    format_ns_short(p.waited.ns()) + (p.end.empty() ? "" : "  " + p.end)});
  }
  return rows.size() > 1 ? table(rows) + "\n" : "";
}

std::string shares_line(const RunReport& report) {
  const auto part = [&](WallSpan span) { return format_ns_short(span.ns()); };
  return "wall " + part(report.wall) + " = programs " + part(report.shares.programs) + " + world " +
         part(report.shares.world) + " + coordination " + part(report.shares.coordination) + " + idle " +
         part(report.shares.idle) + "\n";
}

std::string summary(const RunReport& report) {
  const std::string mode = Words<Mode>::list[static_cast<std::size_t>(report.mode)];
  const std::string verdict = report.end == RunReport::End::finished      ? green("finished")
                              : report.end == RunReport::End::interrupted ? yellow("stopped by Ctrl-C")
                                                                          : red("failed") + ": " + report.why;
  char factor[32];
  std::snprintf(factor, sizeof factor, "%.3g", report.real_time_factor());
  std::string text = bold(report.scenario) + " (" + mode + ") " + verdict + "\n" + to_string(report.simulated) +
                     " simulated in " + format_ns_short(report.wall.ns()) + ", " + factor + "x real time\n" + "drift " +
                     bold(format_ns_short(report.drift_max.ns())) + " at most, 99 % under " +
                     format_ns_short(report.drift_p99.ns()) + (report.drift_exact ? "" : " (not exact)") + "\n" +
                     shares_line(report) + "\n" + programs_table(report);
  for (const std::string& note : report.notes) text += yellow("note: ") + note + "\n";
  return text + "digest " + bold(report.record.digest.hex) + (report.record.digest.complete ? "" : " (incomplete)") +
         "\njournal " + report.journal + " (" + std::to_string(report.record.messages) + " records, " +
         human(static_cast<double>(report.record.bytes)) + "B)\n";
}

std::map<std::string, std::string> machine_notes() {
  std::map<std::string, std::string> notes;
  const nlohmann::ordered_json machine = describe_machine();
  for (auto entry = machine.begin(); entry != machine.end(); ++entry) {
    notes[entry.key()] = entry->is_string() ? entry->get<std::string>() : entry->dump();
  }
  return notes;
}

}  // namespace

std::vector<Override> overrides(const RunFlags& flags) {
  std::vector<Override> all;
  for (const std::string& set : flags.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos)
      throw InputError({"--set " + set, 0, 0}, "is not PATH=VALUE", "as in --set time.quantum=250us");
    all.push_back({set.substr(0, equals), set.substr(equals + 1)});
  }
  const auto given = [&](const std::string& value, const char* path) {
    if (!value.empty()) all.push_back({path, value});
  };
  given(flags.duration, "duration");
  given(flags.seed, "seed");
  given(flags.pace, "time.pace");
  given(flags.cpu_speed, "time.cpu_speed");
  return all;
}

int show_run(const RunFlags& flags, const Scenario& scenario, const Runner& runner) {
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  watched = &watch;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  RunReport report;
  {
    std::optional<ProgressDisplay> display;
    if (!flags.json && !flags.quiet) display.emplace(watch, scenario.duration);
    report = runner({flags.journal, machine_notes()}, clock, disk, watch);
  }
  watched = nullptr;
  print(flags.json ? to_json(report) + "\n" : summary(report));
  switch (report.end) {
    case RunReport::End::finished:
      return exit_fine;
    case RunReport::End::interrupted:
      return exit_interrupted;
    case RunReport::End::failed:
      return exit_failed;
  }
  return exit_failed;
}

void add_run_flags(CLI::App& verb, RunFlags& flags) {
  verb.add_option("FILE", flags.file, "scenario file")->required();
  verb.add_option("--set", flags.sets, "change a value: --set time.quantum=250us")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb.add_option("--duration", flags.duration, "simulated time to run for")->type_name("TIME");
  verb.add_option("--seed", flags.seed, "of all randomness")->type_name("N");
  verb.add_option("--pace", flags.pace, "free, 1x, 0.5x")->type_name("PACE");
  verb.add_option("--cpu-speed", flags.cpu_speed, "of the robots' computers in units of this one: 0.25")
      ->type_name("FACTOR");
  verb.add_option("--journal", flags.journal, "where the record goes")->type_name("FILE");
  verb.add_flag("--json", flags.json, "end with one JSON object instead of the summary");
  verb.add_flag("--quiet", flags.quiet, "show no progress");
}

void add_run(CLI::App& app, Action& action) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* verb = app.add_subcommand("run", "run a scenario; leaves a journal and prints drift, deadlines and digest");
  add_run_flags(*verb, *flags);
  verb->callback([&action, flags] {
    action = [flags] {
      const Scenario scenario = load_scenario(flags->file, overrides(*flags));
      return show_run(*flags, scenario, [&](const RunOptions& how, Clock& clock, Disk& disk, RunWatch& watch) {
        return run_scenario(scenario, how, clock, disk, watch);
      });
    };
  });
}

void add_check(CLI::App& app, Action& action) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* verb = app.add_subcommand("check", "read a scenario and all it names, report every mistake, start nothing");
  verb->add_option("FILE", flags->file, "scenario file")->required();
  verb->add_option("--set", flags->sets, "change a value first")->type_name("PATH=VALUE")->allow_extra_args(false);
  verb->callback([&action, flags] {
    action = [flags] {
      const Scenario scenario = load_scenario(flags->file, overrides(*flags));
      check_scenario(scenario);
      print(scenario.file + ": fine (" + scenario.name + ", " + to_string(scenario.duration) + ")\n");
      return exit_fine;
    };
  });
}

}  // namespace isochron::app
