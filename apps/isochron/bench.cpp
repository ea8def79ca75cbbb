#include "bench/bench.hpp"

#include "agents/bench/agents_bench.hpp"
#include "apps/isochron/bench_command.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/machine.hpp"
#include "apps/isochron/terminal.hpp"
#ifdef ISOCHRON_BENCH_ROS2
#include "bridge/ros2/bench/ros2_bench.hpp"
#endif
#include "core/bench/core_bench.hpp"
#include "core/foreign_text.hpp"
#include "expect/bench/expect_bench.hpp"
#include "flow/bench/flow_bench.hpp"
#include "journal/bench/journal_bench.hpp"
#include "link/bench/link_bench.hpp"
#include "programs/bench/coordinator_bench.hpp"
#include "programs/bench/stacks_bench.hpp"
#include "programs/board/bench/hil_bench.hpp"
#include "rt/bench/rt_bench.hpp"
#include "run/bench/autopilot_bench.hpp"
#include "run/bench/driven_cars_bench.hpp"
#include "run/bench/flow_run_bench.hpp"
#include "run/bench/fmu_bench.hpp"
#include "run/bench/network_bench.hpp"
#include "run/bench/realtime_bench.hpp"
#include "run/bench/sumo_bench.hpp"
#include "v2x/bench/v2x_bench.hpp"
#include "view/bench/view_bench.hpp"
#include "world/bench/world_bench.hpp"
#include "world/sensors/bench/sensors_bench.hpp"

namespace isochron::app {
namespace {

void bench_world_and_sensors(bench::Report& report) {
  bench::bench_world(report);
  bench::bench_sensors(report);
}

void bench_links(bench::Report& report) {
  bench::bench_link(report);
  bench::bench_network(report);
#ifdef ISOCHRON_BENCH_ROS2
  bench::bench_ros2(report);
#endif
}

void bench_rt_and_requests(bench::Report& report) {
  bench::bench_rt(report);
  bench::bench_realtime(report);
}

void bench_flow_and_runs(bench::Report& report) {
  bench::bench_flow(report);
  bench::bench_flow_runs(report);
  bench_nodes(report);
  bench::bench_fmus(report);
  bench::bench_sumo(report);
}

void bench_boards_and_autopilots(bench::Report& report) {
  bench::bench_hil(report);
  bench::bench_autopilots(report);
}

void bench_agents_and_programs(bench::Report& report) {
  bench::bench_agents(report);
  bench::bench_driven_cars(report);
}

struct Group {
  const char* name;
  void (*measure)(bench::Report&);
};
constexpr Group groups[] = {
    {"core", bench::bench_core},
    {"journal", bench::bench_journal},
    {"expect", bench::bench_expect},
    {"world", bench_world_and_sensors},
    {"flow", bench_flow_and_runs},
    {"coordinator", bench::bench_coordinator},
    {"programs", bench::bench_stacks},
    {"hil", bench_boards_and_autopilots},
    {"rt", bench_rt_and_requests},
    {"v2x", bench::bench_v2x},
    {"links", bench_links},
    {"agents", bench_agents_and_programs},
    {"view", bench::bench_view},
    {"runs", bench_runs},
};

std::string line(const bench::Figure& f) {
  std::string text = (f.target.empty() ? faint("found ")
                      : f.ok           ? green("ok    ")
                                       : red("missed")) +
                     " " + f.name + " " + bold(human(f.value) + " " + f.unit);
  if (!f.target.empty()) text += "  (target " + f.target + ")";
  if (f.ratio) text += "  " + human(*f.ratio) + " x ";
  if (!f.versus.empty()) text += (f.ratio ? "" : "  beside ") + f.versus;
  return text + "\n";
}

nlohmann::ordered_json as_json(const bench::Figure& f) {
  return {{"name", f.name},
          {"value", f.value},
          {"unit", f.unit},
          {"versus", f.versus},
          {"ratio", f.ratio ? nlohmann::ordered_json(*f.ratio) : nlohmann::ordered_json(nullptr)},
          {"target", f.target},
          {"ok", f.ok}};
}

int measure(const std::string& wanted, bool json, bool long_run) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  bool all_ok = true;
  bench::Report report(long_run, [&](const bench::Figure& figure) {
    all_ok = all_ok && figure.ok;
    if (json) {
      results.push_back(as_json(figure));
    } else {
      print(line(figure));
    }
  });
  for (const Group& group : groups) {
    if (!wanted.empty() && wanted != group.name) continue;
    if (!json) print(bold(group.name) + "\n");
    group.measure(report);
  }
  if (json) print(json_text(nlohmann::ordered_json{{"machine", describe_machine()}, {"results", results}}, 2) + "\n");
  return all_ok ? exit_fine : exit_no;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto group = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  auto long_run = std::make_shared<bool>(false);
  std::vector<std::string> names;
  for (const Group& g : groups) names.emplace_back(g.name);
  CLI::App* verb = app.add_subcommand(
      "bench", "measure, each figure beside its limit or an alternative; exit 1 if a target is missed");
  verb->add_option("GROUP", *group, "one group instead of all")->check(CLI::IsMember(names));
  verb->add_flag("--json", *json, "for machines");
  verb->add_flag("--long", *long_run, "take more than a minute for a group");
  verb->callback([&action, group, json, long_run] { action = [=] { return measure(*group, *json, *long_run); }; });
}

}  // namespace isochron::app
