#include "apps/isochron/bench_command.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/terminal.hpp"

namespace isochron::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder of its own, in which commands run.
class Bench {
 public:
  Bench() : folder_(fs::temp_directory_path() / ("isochron_bench_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Bench() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  [[nodiscard]] fs::path path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name).string();
  }
  [[nodiscard]] std::unique_ptr<ChildProcess> start(const Words& words) const {
    return std::make_unique<ChildProcess>(words, path("out").string(), path("err").string());
  }
  struct Ran {
    double seconds = NAN;  // NAN: it failed, and its complaints were shown
    std::string out;
  };
  [[nodiscard]] Ran run(const Words& words) const {
    const auto begin = Clock::now();
    const auto child = start(words);
    child->wait();
    const double took = seconds_since(begin);
    if (child->well()) return {took, text_of(path("out"))};
    const std::string why = text_of(path("err"));
    say(words[0] + " " + words[1] + ": " + why.substr(0, 2000) + "\n");
    return {NAN, ""};
  }
  /// This very command.
  [[nodiscard]] Ran isochron(Words words) const {
    words.insert(words.begin(), ChildProcess::ourselves);
    return run(words);
  }

 private:
  fs::path folder_;
};

/// Nodes in a ring, each passes on a number every 10 ms.
std::string ring(int nodes, const std::string& duration) {
  std::string text = "name: ring\nduration: " + duration + "\nnodes:\n";
  for (int i = 0; i < nodes; ++i) {
    text += "  n" + std::to_string(i) + ": {library: stall_nodes, type: Relay, inputs: {in: n" +
            std::to_string((i + nodes - 1) % nodes) + ".out}}\n";
  }
  return text + "flows: {executor: thread}\ntime: {mode: repeatable}\n";
}

/// Of a process and all that came from it.
void find_family(pid_t pid, std::vector<pid_t>& into) {
  into.push_back(pid);
  std::error_code gone;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) find_family(child, into);
  }
}

/// What is theirs alone and their share of the rest, in bytes.
double memory_of(const std::vector<pid_t>& processes) {
  double bytes = 0;
  for (const pid_t pid : processes) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("Pss:")) bytes += std::stod(line.substr(4)) * 1024;
    }
  }
  return bytes;
}

/// While so many nodes run.
double memory_of_launch(const Bench& bench, int nodes) {
  const std::string file = bench.write("long.yaml", ring(nodes, "1h"));
  const auto child = bench.start({ChildProcess::ourselves, "launch", file, "--set", "journal.record=[none]",
                                  "--journal", bench.path("long.mcap").string()});
  double bytes = NAN;
  const auto begin = Clock::now();
  for (std::vector<pid_t> family; seconds_since(begin) < 60 && !child->ended();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    family.clear();
    find_family(getpid(), family);
    if (family.size() < static_cast<std::size_t>(nodes) + 2) continue;
    std::this_thread::sleep_for(std::chrono::seconds(3));  // all have met, and pass on numbers
    bytes = memory_of(family);
    break;
  }
  child->signal(SIGINT);
  child->wait();
  return bytes;
}

void bench_launch(const Bench& bench, bench::Report& report) {
  const std::string many = bench.write("many.yaml", ring(10'000, "1s"));
  double check = INFINITY;
  for (int i = 0; i < 3; ++i) check = std::fmin(check, bench.isochron({"check", many}).seconds);
  report.at_most("check_10000_nodes", check, "s", 1);
  const std::string file = bench.write("ring.yaml", ring(300, "200ms"));
  const auto launched = bench.isochron({"launch", file, "--journal", bench.path("ring.mcap").string()});
  report.at_most("launch_300_nodes_tcp_start_run_and_merge", launched.seconds, "s", 20);
  const double few = memory_of_launch(bench, 50), more = memory_of_launch(bench, 300);
  report.at_most("launch_memory_of_each_node_added", (more - few) / 250 / 1e6, "MB", 5);
}

/// Messages for each second that the run says it took.
double messages_per_s(const Bench& bench, const std::string& text, double messages) {
  const auto ran = bench.isochron(
      {"run", bench.write("nodes.yaml", text), "--json", "--journal", bench.path("nodes.mcap").string()});
  const Json json = Json::parse(ran.out, nullptr, false);
  return json.is_object() ? messages / json.value("wall_s", nothing) : NAN;
}

/// A relay in Python and one in C++ pass a number to each other: it hears one message and sends one in each step.
void bench_python(const Bench& bench, bench::Report& report) {
  bench.write("relay.py",
              "from isochron import node\n"
              "class Relay(node.Node):\n"
              "    def __init__(self, parameters):\n"
              "        self.heard = self.input('in', 'float64')\n"
              "        self.output('out', 'float64', self.step, every='10ms')\n"
              "    def step(self, time):\n"
              "        return 1.0 if self.heard.latest is None else self.heard.latest + 1\n"
              "node.main(Relay)\n");
  constexpr int steps = 50'000;
  const std::string text = "name: pair\nduration: " + std::to_string(10 * steps) +
                           "ms\nnodes:\n  cxx: {library: stall_nodes, type: Relay, inputs: {in: python.out}}\n"
                           "  python: {run: [python3, relay.py], inputs: {in: cxx.out}}\ntime: {mode: repeatable}\n";
  double best = 0;
  for (int i = 0; i < 3; ++i) best = std::max(best, messages_per_s(bench, text, 2 * steps));
  report.at_least("run_python_node_messages_per_s", best, "1/s", 20'000);
}

/// The heater of examples/room in C and in C++: it hears ten messages for each that it sends.
void bench_c(const Bench& bench, bench::Report& report) {
  const auto room = [&](const std::string& library) {
    const std::string text =
        "name: room\nduration: 200000s\nnodes:\n"
        "  room: {library: room_nodes, type: Room, inputs: {heat: heater.heat}}\n  heater: {library: " +
        library +
        ", type: Heater, inputs: {room: room.temperature}}\nflows: {executor: thread}\ntime: {mode: repeatable}\n";
    return messages_per_s(bench, text, 2'200'000);
  };
  const auto [c, cxx] = bench::side_by_side(
      5, [&] { return room("heater_c"); }, [&] { return room("room_nodes"); });
  report.ratio_at_least("run_c_node_messages_per_s", c, "1/s", "the same in C++", cxx, 0.8);
}

std::string ships(const std::string& duration, const std::string& more) {
  return "name: ships\nduration: " + duration +
         "\nseed: 1\nworld: {model: " SHIPS
         ", step: 10ms, walls: {half_width: 25, reach: 5, stiffness: 20}}\nrobots:\n"
         "  predator: {programs: {chaser: {library: ships_controllers, every: 10ms}}}\n"
         "  prey: {programs: {controller: {library: ships_controllers, every: 10ms}}}\n"
         "expect: {apart: \"always distance(prey, predator) > 0.1\"}\n" +
         more;
}

void bench_fork(const Bench& bench, bench::Report& report) {
  const std::string file = bench.write("long_ships.yaml", ships("1000s", "time: {mode: callback}\n"));
  const std::string journal = bench.path("long_ships.mcap").string();
  if (std::isnan(bench.isochron({"run", file, "--journal", journal, "--quiet"}).seconds)) return;
  double replay = INFINITY, way = INFINITY, began = INFINITY;
  for (int i = 0; i < 3; ++i) {
    replay = std::fmin(
        replay, bench.isochron({"replay", journal, "--quiet", "--journal", bench.path("again.mcap").string()}).seconds);
    const auto forked =
        bench.isochron({"fork", journal, "--at", "990s", "--branch", "same", "--branch",
                        "gust: {wind: [0, 0, 9], for: 1s}", "--json", "-o", bench.path("fork").string()});
    const Json json = Json::parse(forked.out, nullptr, false);
    if (!json.is_object()) continue;
    way = std::fmin(way, json.value("way_s", nothing));
    began = std::fmin(began, json.value("began_after_s", nothing));
  }
  report.ratio_at_most("fork_way_to_990_s", way, "s", "a replay to 1,000 s", replay, 1.1);
  report.at_most("fork_branch_begins_after_t", began, "s", 0.2);
}

/// A second of two ships with modelled computing, thousands of times, and then all results once more.
void bench_sweep(const Bench& bench, bench::Report& report) {
  const int trials = report.long_run() ? 10'000 : 1000;
  const std::string file = bench.write("ships.yaml", ships("1s",
                                                           "time: {mode: repeatable, compute: {modelled: {fixed: "
                                                           "1ms}}}\n"));
  const std::string out = bench.path("sweep").string();
  const Words words{
      "sweep",  file, "--over", "world.walls.stiffness=20", "--trials", std::to_string(trials), "--keep", "none",
      "--json", "-o", out};
  const double took = bench.isochron(words).seconds;
  double in_runs = 0, stepping = 0;
  std::string line, lines;
  Json result;
  for (std::ifstream file_of_results(out + "/sweep.jsonl"); std::getline(file_of_results, line);) {
    result = Json::parse(line, nullptr, false);
    in_runs += result.value("spent_s", 0.0);
    stepping += result.value("wall_s", 0.0);
  }
  const double cores = std::max(1U, std::thread::hardware_concurrency()) * took;
  const std::string name = "sweep_" + std::to_string(trials) + "_runs_of_1_s";
  report.found(name, took, "s");
  report.at_least(name + "_share_of_the_cores_in_runs", in_runs / cores, "", 0.9);
  report.found(name + "_share_of_the_cores_in_steps", stepping / cores, "");
  for (int seed = 1; seed <= 10'000 && result.is_object(); ++seed) {
    result["seed"] = seed;
    lines += result.dump() + "\n";
  }
  std::ofstream(out + "/sweep.jsonl") << lines;
  Words again = words;
  again[5] = "10000";
  report.at_most("collect_10000_results", bench.isochron(again).seconds, "s", 10);
}

/// In Python, as users have it; without numpy it cannot be measured, and is missed.
void bench_env(const Bench& bench, bench::Report& report) {
  const std::string file = bench.write("env.yaml", ships("1000s", "time: {mode: callback}\n"));
  const std::string script = bench.write(
      "env.py",
      "import sys, time, numpy, isochron\n"
      "env = isochron.Env(sys.argv[1], steps=10, worlds=16, observe=['prey.position.x', 'prey.position.y'])\n"
      "env.reset()\n"
      "action = numpy.zeros((16, len(env.acted)))\n"
      "best = (0, 1)\n"
      "for _ in range(7):\n"
      "    start = time.perf_counter()\n"
      "    for _ in range(100): env.step(action)\n"
      "    own = time.perf_counter() - start\n"
      "    bare = env.bare_seconds(1600)\n"
      "    best = max(best, (bare / own, own))\n"
      "print(best[0], 16 * 1000 / best[1])\n");
  std::istringstream found(bench.run({"/usr/bin/python3", script, file}).out);
  double share = NAN, steps = NAN;
  found >> share >> steps;
  report.ratio_at_least("env_16_worlds_steps_per_s", steps, "1/s", "bare stages with snapshots", steps / share, 0.9);
}

}  // namespace

void bench_nodes(bench::Report& report) {
  const Bench bench;
  bench_c(bench, report);
  bench_python(bench, report);
  bench_launch(bench, report);
}

void bench_runs(bench::Report& report) {
  const Bench bench;
  bench_fork(bench, report);
  bench_sweep(bench, report);
  bench_env(bench, report);
}

}  // namespace isochron::app
