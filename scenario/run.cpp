#include "scenario/run.hpp"

#include "scenario/runners.hpp"

namespace isochron {
namespace {

struct Runner {
  void (*check)(const Scenario&);
  RunReport (*run)(const Scenario&, const RunOptions&, Clock&, Disk&, RunWatch&);
};

Runner runner_for(const Scenario& scenario) {
  (void)scenario;
  return {check_callback, run_callback};
}

}  // namespace

RunReport report_of(const Scenario& scenario) {
  RunReport report;
  report.scenario = scenario.name;
  report.mode = scenario.time.mode;
  return report;
}

void check_scenario(const Scenario& scenario) { runner_for(scenario).check(scenario); }

RunReport run_scenario(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  return runner_for(scenario).run(scenario, options, clock, disk, watch);
}

}  // namespace isochron
