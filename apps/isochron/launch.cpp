// All nodes of a scenario as processes of their own, here or on other hosts, and one journal of what they left.

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "apps/isochron/command.hpp"
#include "apps/isochron/link_flags.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "journal/merge.hpp"
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

volatile std::sig_atomic_t interrupts = 0;
void on_interrupt(int) { interrupts = interrupts + 1; }

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Becomes the command; its output goes to `out`, its complaints to `err`.
[[noreturn]] void become(const std::vector<std::string>& words, int out, int err, pid_t parent) {
  setpgid(0, 0);  // Ctrl-C reaches the nodes through us, once
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
  _exit(127);
}

pid_t start(const std::vector<std::string>& words, const std::string& out_file, int err) {
  const int out = open(out_file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (out < 0) throw InputError({out_file, 0, 0}, std::strerror(errno), "choose another place with --journal");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(words, out, err, parent);
  close(out);
  if (child < 0) throw std::runtime_error(std::string("no process can be started: ") + std::strerror(errno));
  return child;
}

/// One node's process, here or behind a remote shell.
class NodeProcess {
 public:
  NodeProcess(const Flags& flags, const std::string& name, const std::string& host, const std::string& base)
      : name_(name), host_(host), shell_(words_of(flags.shell)), base_(base + "." + name) {
    std::vector<std::string> words = shell_words();
    words.push_back(host.empty() ? "/proc/self/exe" : flags.remote);
    words.insert(words.end(), {"run", flags.file, "--node", name, "--json", "--quiet", "--journal", journal()});
    if (!flags.duration.empty()) words.insert(words.end(), {"--duration", flags.duration});
    for (const std::string& set : flags.sets) words.insert(words.end(), {"--set", set});
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
    complaints_ = ends[0];
    fcntl(complaints_, F_SETFL, O_NONBLOCK);
    pid_ = app::start(words, base_ + ".json", ends[1]);
    close(ends[1]);
  }
  ~NodeProcess() {
    if (!ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(complaints_);
  }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  [[nodiscard]] bool ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  void signal(int number) const {
    if (!ended_) kill(pid_, number);
  }
  /// Passes on what it complains about, with its name in front.
  void pass_on() {
    char text[4096];
    for (ssize_t n = read(complaints_, text, sizeof text); n > 0; n = read(complaints_, text, sizeof text)) {
      line_.append(text, static_cast<std::size_t>(n));
    }
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      say(faint("[" + name_ + "] ") + line_.substr(0, end + 1));
      line_.erase(0, end + 1);
    }
  }
  [[nodiscard]] int complaints() const { return complaints_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string journal() const { return base_ + ".mcap"; }
  [[nodiscard]] bool well() const { return ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

  /// What it printed at its end; an object with `end` and `why` in any case.
  [[nodiscard]] Json report() const {
    std::ifstream file(base_ + ".json");
    Json json = Json::parse(file, nullptr, false);
    if (json.is_object() && json.contains("end")) return json;
    const std::string how = WIFSIGNALED(status_) ? std::string("killed: ") + strsignal(WTERMSIG(status_))
                                                 : "ended with code " + std::to_string(WEXITSTATUS(status_));
    return Json{{"end", "failed"}, {"why", "its process was " + how}};
  }

  /// Brings the journal here from the other host.
  bool fetch() const {
    if (host_.empty()) return std::filesystem::exists(journal());
    std::vector<std::string> words = shell_words();
    words.insert(words.end(), {"cat", journal()});
    const pid_t copy = app::start(words, journal() + ".fetched", STDERR_FILENO);
    int status = 0;
    waitpid(copy, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return false;
    std::filesystem::rename(journal() + ".fetched", journal());
    return true;
  }
  void forget_files(bool journals) const {
    std::error_code ignored;
    std::filesystem::remove(base_ + ".json", ignored);
    if (journals) std::filesystem::remove(journal(), ignored);
  }

 private:
  [[nodiscard]] std::vector<std::string> shell_words() const {
    std::vector<std::string> words;
    if (host_.empty()) return words;
    words = shell_;
    words.push_back(host_);
    return words;
  }
  std::string name_, host_;
  std::vector<std::string> shell_;
  std::string base_;
  pid_t pid_ = 0;
  int status_ = 0;
  int complaints_ = -1;
  bool ended_ = false;
  std::string line_;
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
    for (; passed_on < interrupts; ++passed_on) {
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
  if (scenario.nodes.empty()) {
    throw InputError({flags.file, 0, 0}, "launch is for scenarios with `nodes`", "use `isochron run`");
  }
  const std::string out = flags.journal.empty() ? scenario.name + ".mcap" : flags.journal;
  const std::string base = std::filesystem::absolute(std::filesystem::path(out).replace_extension()).string();
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::vector<std::unique_ptr<NodeProcess>> nodes;
  for (const auto& [name, section] : scenario.nodes) {
    nodes.push_back(std::make_unique<NodeProcess>(flags, name, section.host, base));
  }
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
  if (interrupts > 0) return exit_interrupted;
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
