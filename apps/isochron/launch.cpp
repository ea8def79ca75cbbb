// All nodes of a scenario as processes of their own, here or on other hosts, and one journal of what they left.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/link_flags.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "journal/merge.hpp"
#include "scenario/flow_plan.hpp"
#include "scenario/node_places.hpp"
#include "scenario/ros_bridge.hpp"
#include "scenario/run.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string file, duration, journal;
  std::string shell = "ssh -o BatchMode=yes";
  std::string remote = "isochron";
  std::vector<std::string> sets;
  FaultFlags faults;
  bool json = false;
  bool keep = false;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// A node's name as a part of file names.
std::string file_name(std::string name) {
  std::ranges::replace(name, '/', '.');
  return name;
}

std::vector<std::string> shell_words(const Flags& flags, const std::string& host) {
  if (host.empty()) return {};
  std::vector<std::string> words = words_of(flags.shell);
  words.push_back(host);
  return words;
}

/// One node's process, here or behind a remote shell.
class NodeProcess {
 public:
  NodeProcess(const Flags& flags, const NodePlace& place, const std::string& base)
      : flags_(flags),
        name_(place.name),
        host_(place.host),
        base_(base + "." + file_name(place.name)),
        process_(command(), base_ + ".json") {}

  [[nodiscard]] bool ended() { return process_.ended(); }
  void signal(int number) const { process_.signal(number); }
  /// Passes on what it complains about, with its name in front.
  void pass_on() {
    char text[4096];
    for (ssize_t n = read(complaints(), text, sizeof text); n > 0; n = read(complaints(), text, sizeof text)) {
      line_.append(text, static_cast<std::size_t>(n));
    }
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      say(faint("[" + name_ + "] ") + line_.substr(0, end + 1));
      line_.erase(0, end + 1);
    }
  }
  [[nodiscard]] int complaints() const { return process_.complaints(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string journal() const { return base_ + ".mcap"; }
  [[nodiscard]] bool well() const { return process_.well(); }

  /// What it printed at its end; an object with `end` and `why` in any case.
  [[nodiscard]] Json report() const {
    std::ifstream file(base_ + ".json");
    Json json = Json::parse(file, nullptr, false);
    if (json.is_object() && json.contains("end")) return json;
    return Json{{"end", "failed"}, {"why", "its process was " + process_.how_it_ended()}};
  }

  /// Brings the journal here from the other host.
  bool fetch() const {
    if (host_.empty()) return std::filesystem::exists(journal());
    std::vector<std::string> words = shell_words(flags_, host_);
    words.insert(words.end(), {"cat", journal()});
    ChildProcess copy(words, journal() + ".fetched", "/dev/null");
    copy.wait();
    if (!copy.well()) return false;
    std::filesystem::rename(journal() + ".fetched", journal());
    return true;
  }
  void forget_files(bool journals) const {
    std::error_code ignored;
    std::filesystem::remove(base_ + ".json", ignored);
    if (journals) std::filesystem::remove(journal(), ignored);
  }

 private:
  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> words = shell_words(flags_, host_);
    words.push_back(host_.empty() ? ChildProcess::ourselves : flags_.remote);
    words.insert(words.end(), {"run", flags_.file, "--node", name_, "--json", "--quiet", "--journal", journal()});
    if (!flags_.duration.empty()) words.insert(words.end(), {"--duration", flags_.duration});
    for (const std::string& set : flags_.sets) words.insert(words.end(), {"--set", set});
    return words;
  }
  const Flags& flags_;
  std::string name_, host_, base_;
  std::string line_;
  ChildProcess process_;
};

/// Until all have ended. When one fails the others notice by themselves; who does not within `patience` is ended.
void watch_over(std::vector<std::unique_ptr<NodeProcess>>& nodes, WallSpan patience) {
  StatusLine line;
  std::chrono::steady_clock::time_point failed{};
  int passed_on = 0;
  for (;;) {
    std::size_t running = 0;
    bool well = true;
    std::vector<pollfd> polls;
    for (auto& node : nodes) {
      node->pass_on();
      if (!node->ended())
        ++running;
      else
        well = well && node->well();
      polls.push_back({node->complaints(), POLLIN, 0});
    }
    if (running == 0) break;
    line.show(std::to_string(running) + " of " + std::to_string(nodes.size()) + " nodes run");
    const auto now = std::chrono::steady_clock::now();
    if (!well && failed == std::chrono::steady_clock::time_point{}) failed = now;
    const bool too_long = !well && now - failed > std::chrono::nanoseconds(patience.ns());
    for (; passed_on < InterruptGuard::count(); ++passed_on) {
      for (auto& node : nodes) node->signal(passed_on == 0 ? SIGINT : SIGKILL);
    }
    if (too_long) {
      for (auto& node : nodes) node->signal(SIGTERM);
    }
    poll(polls.data(), polls.size(), 50);
  }
  for (auto& node : nodes) node->pass_on();
}

Json whole_report(const Scenario& scenario, const std::vector<std::unique_ptr<NodeProcess>>& nodes) {
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
std::vector<NodePlace> places_of(const Scenario& scenario, const Flags& flags) {
  if (!runs_as_flows(scenario)) {
    throw InputError({flags.file, 0, 0}, "launch is for scenarios that run as flows",
                     "with `time: {mode: repeatable}` and `nodes`, `ros` or `flows`; otherwise use `isochron run`");
  }
  return node_places(scenario, plan_flows(scenario).system.graph(), true);
}

int launch(const Flags& flags) {
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
  std::vector<std::unique_ptr<NodeProcess>> nodes;
  for (const NodePlace& place : places) nodes.push_back(std::make_unique<NodeProcess>(flags, place, base));
  watch_over(nodes, scenario.network.lost_after + WallSpan(std::chrono::seconds(5)));

  Json report = whole_report(scenario, nodes);
  std::vector<std::string> journals;
  for (const auto& node : nodes) {
    if (node->fetch()) journals.push_back(node->journal());
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
  auto flags = std::make_shared<Flags>();
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
  verb->add_option("--remote", flags->remote, "what isochron is called there")->capture_default_str();
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
