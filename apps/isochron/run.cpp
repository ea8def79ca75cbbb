#include "apps/isochron/run.hpp"

#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "apps/isochron/interrupts.hpp"
#include "apps/isochron/launch_engine.hpp"
#include "apps/isochron/launch_line.hpp"
#include "apps/isochron/metrics.hpp"
#include "apps/isochron/outcome_text.hpp"
#include "apps/isochron/portable_math.hpp"
#include "apps/isochron/run_strict.hpp"
#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/serve_view.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/trust.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "run/graph_text.hpp"
#include "run/trust.hpp"
#include "run/unused_keys.hpp"
#include "run/verdict.hpp"
#include "view/live_source.hpp"
#include "view/recorded_source.hpp"
#include "view/view_server.hpp"

namespace isochron::app {
namespace {

struct Flags : RunFlags {
  bool view = false;
  bool paused = false;
  bool open = false;
  bool leave = false;
  bool strict = false;
  std::uint16_t port = 0;
};

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
  for (Override& one : overrides(flags.faults)) all.push_back(std::move(one));
  return all;
}

std::string programs_table(const RunReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"program", "activations", "overruns", "missed", "preempted", "executed", "blocked", "waited"}};
  for (const ProgramReport& p : report.programs) {
    rows.push_back({p.name, std::to_string(p.activations), std::to_string(p.overruns),
                    std::to_string(p.missed_deadlines), std::to_string(p.preemptions), format_ns_short(p.executed.ns()),
                    format_ns_short(p.blocked.ns()),
                    format_ns_short(p.waited.ns()) + (p.end.empty() ? "" : "  " + p.end)});
  }
  return rows.size() > 1 ? table(rows) + "\n" : "";
}

/// How programs kept time on the wall clock; "" in other modes.
std::string timing_table(const RunReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"on the wall clock", "late p50", "p99", "max", "response p50", "p99", "max"}};
  for (const ProgramReport& p : report.programs) {
    if (!p.timing) continue;
    std::vector<std::string> row{p.name};
    for (const Quantiles& q : {p.timing->late, p.timing->response}) {
      for (const WallSpan span : {q.p50, q.p99, q.max}) row.push_back(format_ns_short(span.ns()));
    }
    rows.push_back(std::move(row));
  }
  return rows.size() > 1 ? table(rows) + "\n" : "";
}

/// What clients of a world with many agents did; "" for other runs.
std::string agents_table(const RunReport& report) {
  if (!report.agents) return "";
  std::vector<std::vector<std::string>> rows{{"client", "agents", "heartbeats", "waited at", "for", "oldest seen",
                                              "sent", "received", "said again", "dropped"}};
  const auto time = [](double seconds) { return format_ns_short(static_cast<std::int64_t>(seconds * 1e9)); };
  for (const AgentClientReport& c : report.agents->clients) {
    rows.push_back({c.name, std::to_string(c.agents), std::to_string(c.heartbeats), std::to_string(c.waits),
                    time(c.waited_s), time(c.oldest_s), std::to_string(c.sent), std::to_string(c.received),
                    std::to_string(c.said_again), std::to_string(c.dropped)});
  }
  std::string text = table(rows);
  for (const AgentClientReport& c : report.agents->clients) {
    if (c.began_later > 0) text += c.name + " began later " + std::to_string(c.began_later) + " times\n";
    if (c.joins > 1) text += c.name + " found back to the server " + std::to_string(c.joins - 1) + " times\n";
    if (c.shut_down > 0) text += c.name + " saw " + std::to_string(c.shut_down) + " agents shut down\n";
  }
  for (const auto& [why, count] : report.agents->dropped) {
    text += "the server dropped " + std::to_string(count) + " as " + why + "\n";
  }
  return text + "\n";
}

std::string shares_line(const RunReport& report) {
  const auto part = [&](WallSpan span) { return format_ns_short(span.ns()); };
  return "wall " + part(report.wall) + " = programs " + part(report.shares.programs) + " + world " +
         part(report.shares.world) + " + coordination " + part(report.shares.coordination) + " + waited " +
         part(report.shares.waited) + " + idle " + part(report.shares.idle) + "\n";
}

std::string ending_of(const RunReport& report) {
  switch (report.end) {
    case RunReport::End::finished:
      return green("finished");
    case RunReport::End::interrupted:
      return yellow("stopped by Ctrl-C");
    case RunReport::End::violated:
      return red("ended at the first violation");
    case RunReport::End::failed:
      break;
  }
  return red("failed") + ": " + report.why;
}

std::string verdict_line(const RunReport& report) {
  const Verdict verdict = verdict_of(report);
  const bool good = verdict.coherence == Coherence::coherent || verdict.coherence == Coherence::in_order;
  return good                                           ? green(verdict.line)
         : verdict.coherence == Coherence::not_coherent ? red(verdict.line)
                                                        : yellow(verdict.line);
}

std::string summary(const RunReport& report) {
  const std::string mode = Words<Mode>::list[static_cast<std::size_t>(report.mode)];
  const std::string ending = ending_of(report);
  char factor[32];
  std::snprintf(factor, sizeof factor, "%.3g", report.real_time_factor());
  std::string text = bold(report.scenario) + " (" + mode + ") " + ending + "\n" + verdict_line(report) + "\n" +
                     to_string(report.simulated) + " simulated in " + format_ns_short(report.wall.ns()) + ", " +
                     factor + "x real time\n" + "drift " + bold(format_ns_short(report.drift_max.ns())) +
                     " at most, 99 % under " + format_ns_short(report.drift_p99.ns()) +
                     (report.drift_exact ? "" : " (not exact)") + "\n" + shares_line(report) +
                     (report.control.empty() ? "" : "measured by " + report.control + "\n") + "\n" +
                     programs_table(report) + timing_table(report) + agents_table(report);
  for (const expect::Judgement& outcome : report.expectations) {
    text += outcome_line(outcome) + "\n";
    if (!outcome.told.empty()) text += "          " + view_command(report.journal, outcome.told[0].at) + "\n";
  }
  for (const std::string& note : report.notes) text += yellow("note: ") + note + "\n";
  return text + "digest " + bold(report.record.digest.hex) + (report.record.digest.complete ? "" : " (incomplete)") +
         "\njournal " + report.journal + " (" + std::to_string(report.record.messages) + " records, " +
         human(static_cast<double>(report.record.bytes)) + "B)\n";
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  std::ifstream in(file);
  if (!in) throw InputError({file, 0, 0}, "cannot be read");
  text << in.rdbuf();
  return text.str();
}

std::unique_ptr<Metrics> serve_metrics(const RunFlags& flags, const Scenario& scenario, const RunWatch& watch) {
  if (!flags.metrics) return nullptr;
  auto metrics = std::make_unique<Metrics>(*flags.metrics, scenario, watch);
  say("metrics at http://127.0.0.1:" + std::to_string(metrics->port()) + "/metrics\n");
  return metrics;
}

/// The run with a page to look at it and steer it; when it has ended, the page shows its journal, until Ctrl-C.
int run_viewed(Scenario scenario, const Flags& flags) {
  RunWatch watch;
  if (scenario.time.pace.factor) {  // the page may change it
    const Fraction& pace = *scenario.time.pace.factor;
    watch.control().set_speed(static_cast<double>(pace.numerator) / static_cast<double>(pace.denominator));
    scenario.time.pace = {};
  }
  if (flags.paused) watch.control().pause();
  view::LiveSource live(scenario, watch);
  view::ViewServer handler(live);
  PosixDisk disk;
  std::unique_ptr<view::RecordedSource> recorded;
  const auto metrics = serve_metrics(flags, scenario, watch);
  const auto server = serve_view(handler, {flags.port, flags.open, flags.json});
  const RunReport report =
      run_watched(scenario, {.journal = flags.journal, .tap = &live.tap()}, !flags.json && !flags.quiet, watch);
  print(flags.json ? to_json(report) + "\n" : summary(report));
  if (auto opened = view::RecordedSource::open(disk, report.journal); opened.ok()) {
    recorded = std::move(opened).value();
    handler.show(*recorded);
  }
  live.ended(report);
  if (!flags.leave && report.end != RunReport::End::interrupted) {
    say("The page shows the journal now. Ctrl-C ends it.\n");
    wait_for_interrupt();
  }
  return exit_code(report);
}

}  // namespace

Scenario scenario_of(const RunFlags& flags, const std::vector<Override>& more) {
  std::vector<Override> all = overrides(flags);
  all.insert(all.end(), more.begin(), more.end());
  Scenario scenario = load_scenario(flags.file, all);
  demand_trust(scenario, flags.file, flags.trust);
  settle_math(scenario);
  return scenario;
}

int run_file(const RunFlags& flags, const std::vector<Override>& more, RunOptions options) {
  if (flags.json) keep_output_for_reports();
  const Scenario scenario = scenario_of(flags, more);
  options.journal = flags.journal;
  options.node = flags.node;
  options.show_output = flags.output;
  std::optional<flow::Graph> graph;
  if (const char* places = std::getenv("ISOCHRON_PLACES")) options.places = read_places(places);
  if (!flags.system.empty()) options.graph = &graph.emplace(read_graph(text_of(flags.system)));
  RunWatch watch;
  const char* const launched = std::getenv("ISOCHRON_LAUNCH");
  const auto terms = launched == nullptr ? std::nullopt : read_launch_terms(launched);
  std::optional<LaunchLine> launcher;
  if (flags.until_stdin_ends) launcher.emplace(watch, terms.value_or(LaunchTerms{}));
  if (terms && launcher) options.rendezvous = &*launcher;
  const auto metrics = serve_metrics(flags, scenario, watch);
  const RunReport report =
      run_watched(scenario, std::move(options), !flags.json && !flags.quiet && !flags.output, watch);
  print(flags.json ? to_json(report) + "\n" : summary(report));
  if (const std::string complaint = expect::complaint(report.expectations); !complaint.empty()) say(complaint + "\n");
  if (report.given_up) {
    std::fflush(nullptr);
    _Exit(exit_code(report));
  }
  return exit_code(report);
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
  add_fault_flags(verb, flags.faults);
  verb.add_flag("--json", flags.json, "end with one JSON object instead of the summary");
  verb.add_flag("--quiet", flags.quiet, "show no progress");
  verb.add_flag("--output", flags.output, "show what programs print");
  add_trust_flag(verb, flags.trust);
}

void add_run(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("run", "run a scenario; leaves a journal and prints drift, deadlines and digest");
  add_run_flags(*verb, *flags);
  verb->add_option("--node", flags->node, "run this node only; the others run in other processes or on other hosts")
      ->type_name("NAME");
  verb->add_option(
          "--system", flags->system,
          "with --node: a file that describes the whole system, as `launch` makes it; then no other node is made "
          "here")
      ->type_name("FILE");
  verb->add_flag("--until-stdin-ends", flags->until_stdin_ends,
                 "stop, as with Ctrl-C, when standard input closes: the remote launcher is gone");
  verb->add_flag("--strict", flags->strict,
                 "run flows twice, with other buffers and other memory, and say where the two part: finds nodes that "
                 "leave a field unset");
  verb->add_option("--metrics", flags->metrics,
                   "serve how far it is as Prometheus reads it, on this port of 127.0.0.1; 0 = any that is free")
      ->type_name("PORT");
  CLI::Option* view = verb->add_flag("--view", flags->view, "look at it and steer it in a web page, while it runs");
  verb->add_flag("--paused", flags->paused, "with --view: wait for the page to let it go")->needs(view);
  verb->add_flag("--open", flags->open, "with --view: open the page in the desktop's browser")->needs(view);
  verb->add_flag("--leave", flags->leave, "with --view: end with the run, instead of showing its journal until Ctrl-C")
      ->needs(view);
  verb->add_option("--port", flags->port, "with --view: of 127.0.0.1; any that is free if left out")
      ->type_name("PORT")
      ->needs(view);
  verb->callback([&action, flags] {
    action = [flags] {
      if (flags->strict) return run_strict(*flags, overrides(*flags));
      if (!flags->view) return run_file(*flags, {}, {});
      return run_viewed(scenario_of(*flags), *flags);
    };
  });
}

void add_check(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb =
      app.add_subcommand("check", "read a scenario and all it names, report every mistake, execute nothing");
  verb->add_option("FILE", flags->file, "scenario file")->required();
  verb->add_option("--set", flags->sets, "change a value first")->type_name("PATH=VALUE")->allow_extra_args(false);
  verb->add_flag("--trust", flags->trust, "load libraries that are not Isochron's own, which runs code in them");
  verb->callback([&action, flags] {
    action = [flags] {
      const Scenario scenario = load_scenario(flags->file, overrides(*flags));
      const auto unloaded = flags->trust ? std::vector<std::string>{} : foreign_libraries(scenario);
      if (unloaded.empty()) check_scenario(scenario);
      print(scenario.file + ": fine (" + scenario.name + ", " + to_string(scenario.duration) + ")\n");
      for (const Mistake& unused : unused_keys(scenario)) print(to_text(unused) + "\n");
      for (const std::string& library : unloaded) {
        print("not loaded, so that what is inside was not checked: " + library + "; --trust loads it\n");
      }
      return exit_fine;
    };
  });
}

}  // namespace isochron::app
