// All nodes of a scenario as processes of their own, here or on other hosts, and one journal of what they left.

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "apps/isochron/command.hpp"
#include "apps/isochron/launch_node.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "journal/merge.hpp"
#include "link/auth.hpp"
#include "scenario/flow_plan.hpp"
#include "scenario/node_places.hpp"
#include "scenario/ros_bridge.hpp"
#include "scenario/run.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

using Nodes = std::vector<std::unique_ptr<NodeProcess>>;
using SteadyTime = std::chrono::steady_clock::time_point;

/// Ends a run of which something failed. The others notice by themselves and say whom they waited for; who does not
/// within `patience` is told to stop, and killed if it has not after as long again. Nobody notices one that never
/// began: then all stop at once.
class Ender {
 public:
  Ender(Nodes& nodes, WallSpan patience) : nodes_(nodes), patience_(patience.ns()) {}
  void look(SteadyTime now) {
    for (; interrupts_ < InterruptGuard::count(); ++interrupts_) interrupts_ == 0 ? stop(now) : kill();
    if (now > kill_at_) kill();
    if (kill_at_ != SteadyTime::max()) return;
    for (auto& node : nodes_) {
      if (!node->ended() || node->well()) continue;
      stop_at_ = std::min(stop_at_, node->never_began() ? now : now + patience_);
    }
    if (now >= stop_at_) stop(now);
  }

 private:
  void stop(SteadyTime now) {
    if (kill_at_ != SteadyTime::max()) return;
    kill_at_ = now + patience_;
    for (auto& node : nodes_) node->stop();
  }
  void kill() {
    for (auto& node : nodes_) node->kill();
  }
  Nodes& nodes_;
  std::chrono::nanoseconds patience_;
  SteadyTime stop_at_ = SteadyTime::max(), kill_at_ = SteadyTime::max();
  int interrupts_ = 0;
};

/// Until all have ended.
void watch_over(Nodes& nodes, WallSpan patience) {
  StatusLine line;
  Ender ender(nodes, patience);
  for (;;) {
    std::size_t running = 0;
    std::vector<pollfd> polls;
    for (auto& node : nodes) {
      node->pass_on();
      if (!node->ended()) ++running;
      polls.push_back({node->complaints(), POLLIN, 0});
    }
    if (running == 0) break;
    line.show(std::to_string(running) + " of " + std::to_string(nodes.size()) + " nodes run");
    ender.look(std::chrono::steady_clock::now());
    poll(polls.data(), polls.size(), 50);
  }
  for (auto& node : nodes) node->pass_on();
}

Json whole_report(const Scenario& scenario, const Nodes& nodes) {
  Json all{{"scenario", scenario.name}, {"mode", "repeatable"}, {"end", "finished"}, {"why", ""}};
  double wall = 0, simulated = scenario.duration.seconds();
  Json each = Json::array();
  for (const auto& node : nodes) {
    const Json one = node->report();
    const std::string end = one.value("end", "failed");
    if (end != "finished") {
      simulated = std::min(simulated, one.value("simulated_s", 0.0));
      if (all["end"] != "failed") all["end"] = end;
      const std::string why = one.value("why", "");
      if (!why.empty()) all["why"] = all["why"].get<std::string>() + node->name() + ": " + why + "\n";
    }
    wall = std::max(wall, one.value("wall_s", 0.0));
    each.push_back({{"node", node->name()},
                    {"end", end},
                    {"wall_s", one.value("wall_s", 0.0)},
                    {"why", one.value("why", "")},
                    {"notes", one.value("notes", Json::array())}});
  }
  all["simulated_s"] = simulated;
  all["wall_s"] = wall;
  all["real_time_factor"] = wall > 0 ? simulated / wall : 0;
  all["nodes"] = each;
  all["notes"] = Json::array({"each node ran in a process of its own"});
  for (const std::string& note : RosBridge::notes(scenario)) all["notes"].push_back(note);
  return all;
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
  return text + table(rows) + "\ndigest " + bold(report.value("digest", "")) +
         (report.value("digest_complete", false) ? "" : " (incomplete)") + "\njournal " + journal + "\n";
}

/// Keys are the nodes' own affair: they say what is wrong with them.
std::vector<NodePlace> places_of(const Scenario& scenario, const LaunchFlags& flags) {
  if (!runs_as_flows(scenario)) {
    throw InputError({flags.file, 0, 0}, "launch is for scenarios that run as flows",
                     "with `time: {mode: repeatable}` and `nodes`, `ros` or `flows`; otherwise use `isochron run`");
  }
  return node_places(scenario, plan_flows(scenario).system.graph(), true);
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
  check_scenario(scenario);
  const std::vector<NodePlace> places = places_of(scenario, flags);
  const std::string out = flags.journal.empty() ? scenario.name + ".mcap" : flags.journal;
  const std::string base = std::filesystem::absolute(std::filesystem::path(out).replace_extension()).string();
  const InterruptGuard guard;
  Nodes nodes;
  const std::string word = launch_word();
  for (const NodePlace& place : places) nodes.push_back(std::make_unique<NodeProcess>(flags, place, base, word));
  watch_over(nodes, scenario.network.lost_after + WallSpan(std::chrono::seconds(5)));

  Json report = whole_report(scenario, nodes);
  std::vector<std::string> journals;
  for (const auto& node : nodes) {
    if (node->fetch()) {
      journals.push_back(node->journal());
    } else if (!node->never_began()) {
      report["why"] = report["why"].get<std::string>() + "the journal of " + node->name() +
                      " could not be had; it may be at " + node->left_at() + "\n";
    }
  }
  PosixDisk disk;
  const auto merged = merge_journals(disk, journals, out, {{"report.json", "application/json", report.dump()}});
  if (!merged.ok()) {
    report["why"] = report["why"].get<std::string>() + "no common journal: " + merged.error().what + "\n";
    report["end"] = "failed";
  } else {
    report["digest"] = merged->digest.hex;
    report["digest_complete"] = merged->digest.complete && journals.size() == nodes.size();
    report["journal"] = {{"file", out}, {"records", merged->messages}, {"bytes", merged->bytes}};
  }
  for (const auto& node : nodes) node->forget_files(merged.ok() && !flags.keep);
  print(flags.json ? report.dump() + "\n" : summary(report, out));
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
  verb->add_option("--shell", flags->shell, "how to run a command on a node's `host`: this, the host, the command")
      ->capture_default_str();
  verb->add_option("--remote", flags->remote, "what isochron is called there, as a shell there reads it")
      ->capture_default_str();
  verb->add_option("--remote-folder", flags->remote_folder, "where a journal is there, until it is fetched")
      ->type_name("FOLDER")
      ->capture_default_str();
  verb->add_flag("--keep", flags->keep, "keep each node's own journal too");
  verb->add_flag("--json", flags->json, "end with one JSON object instead of the summary");
  verb->callback([&action, flags] {
    action = [flags] {
      for (const Override& one : overrides(flags->faults)) flags->sets.push_back(one.path + "=" + one.value);
      return launch(*flags);
    };
  });
}

}  // namespace isochron::app
