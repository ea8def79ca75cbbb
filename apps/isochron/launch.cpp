// All nodes of a scenario as processes of their own, here or on other hosts, and one journal of what they left.

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "apps/isochron/command.hpp"
#include "apps/isochron/launch_engine.hpp"
#include "apps/isochron/launch_node.hpp"
#include "apps/isochron/launch_watch.hpp"
#include "apps/isochron/portable_math.hpp"
#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/staging.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/trust.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "journal/merge.hpp"
#include "link/auth.hpp"
#include "run/flow_plan.hpp"
#include "run/graph_text.hpp"
#include "run/node_places.hpp"
#include "run/ros_wire.hpp"
#include "run/run.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

/// Who says of itself why it failed comes first; the others saw it fail, and all of them say so. Each node has its own
/// reason in the report.
std::string first_causes(std::vector<std::string> causes) {
  constexpr std::size_t most = 6;
  std::ranges::stable_partition(causes, [](const std::string& cause) {
    const std::string who = cause.substr(0, cause.find(": "));
    return cause.find("node " + who + " failed") != std::string::npos || cause.find(" failed: ") == std::string::npos;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(causes.size(), most); ++i) text += causes[i];
  if (causes.size() > most) text += "and " + std::to_string(causes.size() - most) + " more nodes, because of these\n";
  return text;
}

Json whole_report(const Scenario& scenario, const LaunchWatch::Nodes& nodes) {
  Json all{{"scenario", scenario.name}, {"mode", "repeatable"}, {"end", "finished"}, {"why", ""}};
  double wall = 0, simulated = scenario.duration.seconds();
  Json each = Json::array();
  std::vector<std::string> causes;
  for (const auto& node : nodes) {
    const Json one = node->report();
    const std::string end = one.value("end", "failed");
    if (end != "finished") {
      simulated = std::min(simulated, one.value("simulated_s", 0.0));
      if (all["end"] != "failed") all["end"] = end;
      const std::string why = one.value("why", "");
      if (!why.empty()) causes.push_back(node->name() + ": " + why + "\n");
    }
    wall = std::max(wall, one.value("wall_s", 0.0));
    each.push_back({{"node", node->name()},
                    {"end", end},
                    {"wall_s", one.value("wall_s", 0.0)},
                    {"why", one.value("why", "")},
                    {"notes", one.value("notes", Json::array())}});
  }
  all["why"] = first_causes(causes);
  all["simulated_s"] = simulated;
  all["wall_s"] = wall;
  all["real_time_factor"] = wall > 0 ? simulated / wall : 0;
  all["nodes"] = each;
  all["notes"] = Json::array({"each node ran in a process of its own"});
  for (const std::string& note : ros_notes(scenario)) all["notes"].push_back(note);
  return all;
}

void add_restarts(Json& report, const std::vector<LaunchWatch::Restart>& restarts) {
  if (restarts.empty()) return;
  for (const auto& [node, why, host, after_s] : restarts) {
    report["restarts"].push_back({{"node", node}, {"why", why}, {"host", host}, {"after_s", after_s}});
  }
}

std::string summary(const Json& report, const std::string& journal) {
  const bool fine = report["end"] == "finished";
  std::string text = bold(report["scenario"].get<std::string>()) + " (launched) " +
                     (fine ? green("finished") : red(report["end"].get<std::string>())) + "\n" +
                     report["why"].get<std::string>();
  std::vector<std::vector<std::string>> rows{{"node", "end", "wall"}};
  for (const Json& node : report["nodes"]) {
    rows.push_back({node["node"].get<std::string>(), node["end"].get<std::string>(),
                    format_ns_short(static_cast<std::int64_t>(node["wall_s"].get<double>() * 1e9))});
  }
  for (const Json& one : report.value("restarts", Json::array())) {
    const std::string host = one["host"].get<std::string>();
    text += yellow("note: ") + one["node"].get<std::string>() + " was lost after " +
            format_ns_short(static_cast<std::int64_t>(one["after_s"].get<double>() * 1e9)) + " and started again" +
            (host.empty() ? "" : " on " + host) + ": " + one["why"].get<std::string>() + "\n";
  }
  return text + table(rows) + "\ndigest " + bold(report.value("digest", "")) +
         (report.value("digest_complete", false) ? "" : " (incomplete)") + "\njournal " + journal + "\n";
}

flow::Graph graph_of(const Scenario& scenario, const LaunchFlags& flags) {
  if (!runs_as_flows(scenario)) {
    throw InputError({flags.file, 0, 0}, "launch is for scenarios that run as flows",
                     "with `time: {mode: repeatable}` and `nodes` or `flows`; otherwise use `isochron run`");
  }
  return plan_flows(scenario).system.graph();
}

/// Tells this launch's files on other hosts from those of others.
std::string launch_word() {
  const link::Nonce nonce = link::system_nonce();
  std::uint64_t number = 0;
  std::memcpy(&number, nonce.data(), sizeof number);
  return std::to_string(number);
}

int launch(const LaunchFlags& flags) {
  std::vector<Override> overrides;
  for (const std::string& set : flags.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) throw InputError({"--set " + set, 0, 0}, "is not PATH=VALUE", "");
    overrides.push_back({set.substr(0, equals), set.substr(equals + 1)});
  }
  if (!flags.duration.empty()) overrides.push_back({"duration", flags.duration});
  const Scenario scenario = load_scenario(flags.file, overrides);
  demand_trust(scenario, flags.file, flags.trust);
  settle_math(scenario);
  check_carrier(scenario);
  check_restarts(scenario);
  const flow::Graph graph = graph_of(scenario, flags);
  // Keys are the nodes' own affair: they say what is wrong with them.
  std::vector<NodePlace> places = node_places(scenario, graph, true);
  const std::string out = flags.journal.empty() ? scenario.name + ".mcap" : flags.journal;
  const std::string base = std::filesystem::absolute(std::filesystem::path(out).replace_extension()).string();
  const InterruptGuard guard;
  LaunchedRun run{scenario, graph, {}, machine_notes(), graph_text(graph), base, launch_word(), {}};
  LaunchFlags chosen = flags;
  Addresses addresses(run.word);
  use_engine(chosen, places, run, addresses);
  Ports ports;
  const bool one_machine = std::ranges::all_of(places, [](const NodePlace& place) { return place.host.empty(); });
  for (const NodePlace& place : places) {
    if (one_machine && !place.said) run.places.emplace(place.name, ports.take());
  }
  const Staging staging(chosen, scenario, places, run.word);
  for (const NodePlace& place : places) {
    if (const std::string file = staging.scenario_on(place.host); !file.empty()) run.staged[place.host] = file;
  }
  LaunchWatch watch(chosen, run, places, addresses, ports);
  watch.run();

  const LaunchWatch::Nodes& nodes = watch.nodes();
  Json report = whole_report(scenario, nodes);
  add_restarts(report, watch.restarts());
  std::vector<std::string> journals;
  for (const auto& node : nodes) {
    if (node->fetch()) {
      journals.push_back(node->journal());
    } else if (!node->never_began()) {
      report["why"] = report["why"].get<std::string>() + "the journal of " + node->name() +
                      " could not be fetched; it may be at " + node->left_at() + "\n";
    }
  }
  watch.clear();
  staging.clear();
  if (!run.staged.empty()) report["staged_bytes"] = staging.sent();
  PosixDisk disk;
  const auto merged = merge_journals(disk, journals, out, {{"report.json", "application/json", json_text(report)}});
  if (!merged.ok()) {
    report["why"] = report["why"].get<std::string>() + "no common journal: " + merged.error().what + "\n";
    report["end"] = "failed";
  } else {
    report["digest"] = merged->digest.hex;
    report["digest_complete"] = merged->digest.complete && journals.size() == nodes.size();
    report["journal"] = {{"file", out}, {"records", merged->messages}, {"bytes", merged->bytes}};
  }
  for (const auto& node : nodes) node->forget_files(merged.ok() && !flags.keep);
  print(flags.json ? json_text(report) + "\n" : summary(report, out));
  if (InterruptGuard::count() > 0) return exit_interrupted;
  return report["end"] == "finished" ? exit_fine : exit_failed;
}

}  // namespace

void add_launch(CLI::App& app, Action& action) {
  auto flags = std::make_shared<LaunchFlags>();
  CLI::App* verb = app.add_subcommand(
      "launch", "start every node of a scenario in a process of its own, here or on its host; leaves one journal");
  verb->add_option("FILE", flags->file, "scenario file, at the same path on every host")->required();
  verb->add_option("--set", flags->sets, "change a value: --set network.carrier=dds")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  add_fault_flags(*verb, flags->faults);
  verb->add_option("--duration", flags->duration, "simulated time to run for")->type_name("TIME");
  verb->add_option("--journal", flags->journal, "where the common record goes")->type_name("FILE");
  verb->add_option(
          "--on", flags->on,
          "what starts nodes on hosts: ssh for those that have a `host`; slurm, inside an allocation, or mpirun for "
          "all others too")
      ->type_name("ENGINE")
      ->capture_default_str();
  verb->add_option("--restarts", flags->restarts,
                   "start nodes that are lost again so many times, and let them catch up: network.restarts")
      ->type_name("N");
  verb->add_option(
          "--hosts", flags->hosts,
          "the hosts of --on mpirun, and where lost nodes are started again, in turn: a,b=10.0.0.2 (the address "
          "where it is not the name); this machine, or where they were, if left out")
      ->type_name("LIST");
  verb->add_option("--shell", flags->shell, "how to run a command on a node's `host`: this, the host, the command")
      ->capture_default_str();
  verb->add_option("--remote", flags->remote, "what isochron is called there, as a shell there reads it")
      ->capture_default_str();
  verb->add_option("--remote-folder", flags->remote_folder, "where a journal is there, until it is fetched")
      ->type_name("FOLDER")
      ->capture_default_str();
  verb->add_option("--stage", flags->stage,
                   "bring this file or folder to the hosts too, by its path next to the scenario; what the scenario "
                   "names is brought anyway")
      ->type_name("PATH")
      ->allow_extra_args(false);
  verb->add_flag("--in-place", flags->in_place,
                 "bring nothing: the files are at the same paths on the hosts, as on a shared file system");
  add_trust_flag(*verb, flags->trust);
  verb->add_flag("--keep", flags->keep, "keep each node's own journal too");
  verb->add_flag("--json", flags->json, "end with one JSON object instead of the summary");
  verb->callback([&action, flags] {
    action = [flags] {
      if (!flags->restarts.empty()) flags->sets.push_back("network.restarts=" + flags->restarts);
      for (const Override& one : overrides(flags->faults)) flags->sets.push_back(one.path + "=" + one.value);
      return launch(*flags);
    };
  });
}

}  // namespace isochron::app
