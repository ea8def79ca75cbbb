// Callback mode with controllers in shared libraries: the world steps, calls whoever is due, and waits. Computing is
// free in simulated time; what it really cost is still measured, because Δ is the point of the comparison.

#include <time.h>

#include "core/progress.hpp"
#include "scenario/coordinator_specs.hpp"
#include "scenario/runners.hpp"
#include "scenario/stage_senses.hpp"
#include "world/controller.hpp"

namespace isochron {
namespace {

CpuTime thread_cpu() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return CpuTime::from_ns(t.tv_sec * 1'000'000'000LL + t.tv_nsec);
}

/// One controller of the scenario, when it is due next, and what it has cost.
struct Called {
  ParticipantId id;
  std::unique_ptr<StageSenses> senses;  // before the controller, which reads it
  world::ControllerHost host;
  SimSpan every;
  SimTime due;
  Progress progress;
  ProgramReport report;
};

std::vector<Called> load_controllers(const Scenario& scenario, Stage& stage) {
  const world::World& world = stage.world();
  std::vector<Called> all;
  std::vector<Mistake> mistakes;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      auto senses = std::make_unique<StageSenses>(stage, robot);
      const auto setup = setup_of(scenario, robot, name, program, world, *senses);
      try {
        auto controller = world::load_controller(program.library.path, setup);
        all.push_back({ParticipantId(static_cast<std::uint32_t>(all.size() + 1)), std::move(senses),
                       world::ControllerHost(setup.name, std::move(controller), world), *program.every,
                       SimTime::zero() + program.offset, Progress(), ProgramReport{.name = setup.name}});
      } catch (const InputError& error) {
        mistakes.push_back({program.place_of("library"), error.what(), ""});
      }
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return all;
}

/// A person made it compute longer: it is not there for releases until then.
void miss_releases(Called& called, SimSpan late) {
  for (const SimTime back = called.due + late; late > SimSpan::zero() && called.due < back; called.due += called.every)
    ++called.report.missed_deadlines;
}

Result<Done, std::string> call(Called& called, Stage& stage, RunRecord& record) {
  called.senses->release_at(called.due);
  const CpuTime before = thread_cpu();
  const auto released = called.host.release(
      stage.world(), [&](std::uint32_t actuator, double value) { return stage.command(actuator, called.due, value); });
  const CpuSpan cost = thread_cpu() - before;
  ++called.report.activations;
  called.progress.execute(ComputeRate().apply(cost));
  record.progress(called.id, called.progress.at());
  called.due += called.every;
  if (!released.ok()) return fail(released.error().what);
  return done();
}

}  // namespace

world::ControllerSetup setup_of(const Scenario& scenario, const std::string& robot, const std::string& name,
                                const ProgramSection& program, const world::World& world, world::Senses& senses) {
  world::ControllerSetup setup;
  setup.name = robot + "/" + name;
  setup.robot = robot;
  setup.period = *program.every;
  setup.seed = scenario.seed;
  for (const auto& [key, value] : program.with) setup.options[key] = value;
  setup.world = &world;
  setup.senses = &senses;
  return setup;
}

void check_callback(const Scenario& scenario) {
  Stage stage(scenario);
  load_controllers(scenario, stage);
}

RunReport run_callback(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk, RunWatch& watch) {
  Stage stage(scenario);
  std::vector<Called> controllers = load_controllers(scenario, stage);
  std::vector<std::string> names{"world"};
  for (const Called& called : controllers) names.push_back(called.report.name);
  RunRecord record(scenario, options, clock, disk, names);
  Pacer pacer(scenario.time.pace, clock, watch);
  RunReport report = report_of(scenario);
  stage.begin(record, watch);

  const SimTime end = SimTime::zero() + scenario.duration;
  WallSpan in_world, in_programs;
  SimTime now = SimTime::zero();
  while (now + stage.step() <= end && report.end == RunReport::End::finished) {
    if (watch.stopping()) {
      report.end = RunReport::End::interrupted;
      break;
    }
    const SimTime next = now + stage.step();
    const WallTime called_at = clock.now();
    for (Called& called : controllers) {
      miss_releases(called, stage.faults().take_delay(called.report.name));
      while (called.due < next && report.why.empty()) {
        if (auto done = call(called, stage, record); !done.ok()) report.why = done.error();
      }
    }
    const WallTime stepped_at = clock.now();
    in_programs += stepped_at - called_at;
    pacer.wait_for(next);
    const WallTime paced_at = clock.now();
    if (report.why.empty()) {
      if (auto stepped = stage.take_step(); !stepped.ok()) report.why = stepped.error();
    }
    in_world += clock.now() - paced_at;
    if (!report.why.empty()) {
      report.end = RunReport::End::failed;
      break;
    }
    now = next;
    record.progress(ParticipantId(0), now);
    for (Called& called : controllers) {  // idle until the next release counts as progress
      called.progress.wait_until(std::min(called.due, now));
      record.progress(called.id, called.progress.at());
    }
    record.look(watch, now);
  }
  report.simulated = now.since_zero();
  if (std::string late = pacer.lateness(); !late.empty()) report.notes.push_back(std::move(late));
  for (Called& called : controllers) {
    called.report.executed = called.progress.executed();
    called.report.waited = called.progress.waited();
    report.programs.push_back(called.report);
  }
  report.shares.world = in_world;
  report.shares.programs = in_programs;
  report.wall = clock.now() - record.start();
  report.shares.coordination = report.wall - in_world - in_programs;
  record.finish(report);
  return report;
}

}  // namespace isochron
