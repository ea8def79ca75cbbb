#include "programs/ensemble.hpp"

#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>

#include "core/input_error.hpp"
#include "programs/executable.hpp"

namespace isochron::programs {

namespace {

std::string make_token() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint64_t>(wall_now().ns());
  char text[64];
  std::snprintf(text, sizeof text, "%d-%016llx", getpid(), static_cast<unsigned long long>(random));
  return text;
}

std::vector<std::uint32_t> cores_nobody_is_bound_to(const RobotSpec& robot) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t core = 0; core < robot.cores; ++core) {
    const auto bound = [core](const ProgramSpec& program) { return program.core == core; };
    if (std::none_of(robot.programs.begin(), robot.programs.end(), bound)) found.push_back(core);
  }
  return found;
}

void check_program(const ProgramSpec& spec, const std::string& name) {
  if (spec.run.empty() && !spec.called)
    throw InputError({}, name + ": nothing to run", "give `run: [program, arguments…]`");
  if (const auto obstacle = spec.virtual_clock ? obstacle_to_following(spec.run) : std::nullopt) {
    throw InputError({}, name + ": " + spec.run[0] + " " + obstacle->what, obstacle->hint);
  }
  const auto* recorded = std::get_if<RecordedCompute>(&spec.compute);
  if (recorded == nullptr) return;
  if (!recorded->tape || recorded->tape->charges.empty()) {
    throw InputError({}, name + ": nothing was recorded for it", "record a measured run with the same programs first");
  }
  const bool read_clock = std::any_of(recorded->tape->clocks.begin(), recorded->tape->clocks.end(),
                                      [](const auto& values) { return !values.empty(); });
  if (read_clock && !(recorded->tape->cpu_speed == spec.cpu_speed)) {
    throw InputError({},
                     name + ": its clock was read at cpu_speed " + to_string(recorded->tape->cpu_speed) +
                         ", so its record holds for that speed alone",
                     "use measured or modelled compute to change the speed");
  }
}

}  // namespace

Ensemble::Ensemble(Plant& plant_of_run, const std::vector<RobotSpec>& robots, const CoordinatorOptions& given,
                   Recorder* told, SimTime end, Desk::House& desk_house, Callee::House& callee_house)
    : plant(plant_of_run),
      options(given),
      recorder(told),
      boards(given.boards),
      until(end),
      token(make_token()),
      desk(plant_of_run, desk_house),
      bell(add_bell()) {
  desk.set_trouble(options.trouble);
  if (options.step <= SimSpan::zero()) throw InputError({}, "the world's step must be positive");
  if (options.quantum <= SimSpan::zero()) throw InputError({}, "the quantum must be positive");
  make_members(robots, callee_house);
  executables = members.size();
  make_timeline(robots);
}

Ensemble::~Ensemble() {
  lanes.reset();
  for (auto& m : members) {  // all of them first: one that spins may keep another from dying
    if (m->process) m->process->kill_group(SIGKILL);
  }
  for (auto& m : members) m->process.reset();
  if (keeper) kill_all_of_run(token);
}

void Ensemble::make_members(const std::vector<RobotSpec>& robots, Callee::House& callee_house) {
  std::set<std::string> names;
  for (const RobotSpec& robot : robots) {
    for (const ProgramSpec& program : robot.programs) {
      const std::string name = robot.name + "/" + program.name;
      if (!names.insert(name).second) throw InputError({}, "two programs are called " + name);
      check_program(program, name);
      if (program.called) {
        callees.push_back(std::make_unique<Callee>(program, robot.name, callee_house));
      } else {
        members.add(std::make_unique<Member>(program, robot.name, name), members.size());
      }
    }
  }
}

void Ensemble::make_timeline(const std::vector<RobotSpec>& robots) {
  std::vector<std::unique_ptr<Policy>> cpus;
  std::vector<Timeline::Place> places, called;
  std::uint32_t member = 0;
  for (const RobotSpec& robot : robots) {
    const auto first = static_cast<std::uint32_t>(cpus.size());
    for (std::uint32_t core = 0; core < std::max(robot.cores, 1u); ++core) {
      cpus.push_back(robot.policy ? robot.policy() : std::make_unique<FixedPriority>(options.quantum));
    }
    const std::vector<std::uint32_t> shared = cores_nobody_is_bound_to(robot);
    for (std::size_t i = 0; i < robot.programs.size(); ++i) {
      const ProgramSpec& spec = robot.programs[i];
      const std::uint32_t cpu = first + spec.core.value_or(shared.empty() ? 0 : shared[0]);
      if (cpu >= cpus.size()) {
        throw InputError({}, robot.name + "/" + spec.name + ": core " + std::to_string(*spec.core) +
                                 " is beyond the robot's " + std::to_string(cpus.size() - first));
      }
      const int priority = spec.best_effort ? std::numeric_limits<int>::min() : spec.priority;
      const bool measured = std::holds_alternative<MeasuredCompute>(spec.compute);
      if (spec.called) {
        called.push_back({cpu, priority, false, 1, static_cast<std::uint32_t>(i), measured});
        continue;
      }
      Member& m = *members[member++];
      m.cpu = cpu;
      m.cores = spec.core ? 1 : std::max<std::uint32_t>(1, static_cast<std::uint32_t>(shared.size()));
      m.robot_cores = static_cast<std::uint32_t>(cpus.size()) - first;
      places.push_back({cpu, priority, measured, 1, static_cast<std::uint32_t>(i)});
    }
  }
  robot_cpus = static_cast<std::uint32_t>(cpus.size());
  places.insert(places.end(), called.begin(), called.end());
  timeline = std::make_unique<Timeline>(std::move(cpus), std::move(places),
                                        Timeline::Options{plant.time(), until, options.step, options.quantum});
  for (const auto& m : members) desk.add({m->name, m->robot, m->spec.terms(), m->spec.to, m->cpu});
  for (std::size_t i = 0; i < callees.size(); ++i) {
    Callee& one = *callees[i];
    const std::uint32_t number = desk.add({one.name(), one.robot(), one.spec().terms(), "", called[i].cpu});
    one.sits(*timeline, desk, number, called[i].cpu);
  }
}

void Ensemble::add_correspondents() {
  first_correspondent_ = static_cast<std::uint32_t>(desk.parties());
  const auto cpu = static_cast<std::uint32_t>(robot_cpus + first_correspondent_);
  for (Correspondent* one : options.correspondents) {
    correspondents.emplace_back(one, Post(desk, static_cast<std::uint32_t>(desk.parties())));
    for (const std::string& name : one->names()) {
      desk.add({name, name.substr(0, name.find('/')), {}, "", cpu, protocol::payload_max, false});
      ++correspondent_names_;
    }
  }
}

protocol::Bell& Ensemble::add_bell() {
  bells.push_back(std::make_unique<SharedMemory>("isochron-bell", protocol::bell_size));
  return *static_cast<protocol::Bell*>(bells.back()->data());
}

std::uint32_t Ensemble::cpu_of(std::uint32_t program) const {
  if (members.has(program)) return members[program]->cpu;
  return is_correspondent(program) ? desk.party(program).cpu : callees[program - executables]->cpu();
}

void Ensemble::stop_with(std::string why) {
  if (outcome.why_ended.empty()) outcome.why_ended = std::move(why);
  stopping = true;
}

void Ensemble::fails_run(std::uint32_t program, SimTime at) {
  if (failure && *failure < std::pair(at, program)) return;
  failure = {at, program};
}

void Ensemble::end_after_failure() {
  if (timeline->front() <= failure->first) return;
  const ProgramOutcome& figures = figures_of(failure->second);
  stop_with(figures.name + " " + figures.ended);
}

}  // namespace isochron::programs
