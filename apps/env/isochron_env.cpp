#include "apps/env/isochron_env.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/nearest_name.hpp"
#include "run/library_program.hpp"
#include "run/run.hpp"
#include "run/stage.hpp"
#include "run/world_plant.hpp"

namespace isochron {
namespace {

/// A number of a state, by name.
struct Observed {
  std::string name;
  std::function<const double*(const world::State&)> where;
};

std::vector<Observed> all_observed(const world::Catalog& catalog) {
  std::vector<Observed> all;
  const auto add = [&](std::string name, auto where) { all.push_back({std::move(name), where}); };
  static constexpr const char* axes[] = {"x", "y", "z"};
  static constexpr const char* turns[] = {"w", "x", "y", "z"};
  for (std::size_t b = 1; b < catalog.bodies.size(); ++b) {  // the first is the world
    const std::string body = catalog.bodies[b] + ".";
    for (std::size_t i = 0; i < 3; ++i)
      add(body + "position." + axes[i], [b, i](const world::State& s) { return &s.bodies[b].pose.position[i]; });
    for (std::size_t i = 0; i < 4; ++i)
      add(body + "orientation." + turns[i], [b, i](const world::State& s) { return &s.bodies[b].pose.orientation[i]; });
    for (std::size_t i = 0; i < 3; ++i)
      add(body + "velocity." + axes[i], [b, i](const world::State& s) { return &s.bodies[b].linear[i]; });
    for (std::size_t i = 0; i < 3; ++i)
      add(body + "angular_velocity." + axes[i], [b, i](const world::State& s) { return &s.bodies[b].angular[i]; });
  }
  for (const world::JointInfo& joint : catalog.joints) {
    if (joint.name.empty() || joint.positions != 1) continue;
    add(joint.name + ".position", [at = joint.position_at](const world::State& s) { return &s.positions[at]; });
    add(joint.name + ".velocity", [at = joint.velocity_at](const world::State& s) { return &s.velocities[at]; });
  }
  std::size_t at = 0;
  for (const world::SensorInfo& sensor : catalog.sensors) {
    for (std::uint32_t i = 0; i < sensor.dimensions; ++i, ++at) {
      if (sensor.name.empty()) continue;
      const std::string element = sensor.dimensions == 1   ? ""
                                  : sensor.dimensions == 3 ? std::string(".") + axes[i]
                                                           : "[" + std::to_string(i) + "]";
      add(sensor.name + element, [at](const world::State& s) { return &s.sensors[at]; });
    }
  }
  return all;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    words.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return words;
}

void refuse_programs(const Scenario& scenario) {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  if (scenario.time.math == MathKind::portable && (tunables == nullptr || std::strstr(tunables, "-FMA") == nullptr)) {
    throw InputError(scenario.time.place_of("math"), "`math: portable` must be chosen before the process starts",
                     "start it with GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F");
  }
  if (!scenario.world) throw InputError(scenario.place, "an environment needs a `world`", "add `world: {model: …}`");
  if (scenario.agents || !scenario.nodes.empty() || scenario.ros || scenario.ros2) {
    throw InputError(scenario.place, "an environment has one world and programs in libraries",
                     "use isochron.start() for agents, nodes and ROS");
  }
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (!program.run.empty()) {
        throw InputError(program.place, robot + "/" + name + " is an executable; an environment has libraries only",
                         "use isochron.start(), or make it a library");
      }
    }
  }
}

/// One world with its programs.
class EnvWorld {
 public:
  explicit EnvWorld(const Scenario& scenario) : scenario_(scenario) { build(); }

  [[nodiscard]] Stage& stage() { return *stage_; }
  [[nodiscard]] const world::State& state() const { return state_; }
  [[nodiscard]] SimTime time() const { return stage_->world().time(); }

  void reset(std::uint64_t seed) {
    if (seed != scenario_.seed) {
      scenario_.seed = seed;
      return build();
    }
    restore(beginning_);
  }
  void snapshot(std::span<double> into) { stage_->snapshot(into); }
  void restore(std::span<const double> from) {
    stage_->restore(from);
    make_programs();
    stage_->world().read(state_);
  }

  /// "" = well.
  std::string step(std::span<const std::uint32_t> actuators, const double* action, std::uint32_t steps) {
    for (std::uint32_t i = 0; i < steps; ++i) {
      const SimTime now = time();
      for (std::size_t a = 0; a < actuators.size(); ++a) {
        if (const auto taken = stage_->command(actuators[a], now, action[a]); !taken.ok()) return taken.error();
      }
      if (std::string failed = release(now); !failed.empty()) return failed;
      if (const auto stepped = stage_->take_step(); !stepped.ok()) return stepped.error();
    }
    stage_->world().read(state_);
    return "";
  }

 private:
  /// Nobody is there to talk to.
  struct Nobody final : programs::CalledProgram::Letters {
    bool receive(std::string_view, std::string_view, std::vector<std::byte>&) override { return false; }
    void send(std::string_view, std::string_view, std::span<const std::byte>) override {}
  };
  struct Program {
    std::shared_ptr<programs::CalledProgram> called;
    SimSpan every;
    SimTime due;
  };

  void build() {
    programs_.clear();
    plant_.reset();
    stage_ = std::make_unique<Stage>(scenario_);
    plant_ = std::make_unique<WorldPlant>(*stage_, scenario_);
    state_ = stage_->world().make_state();
    beginning_.resize(stage_->snapshot_size());
    stage_->snapshot(beginning_);
    make_programs();
    stage_->world().read(state_);
  }
  /// What a program remembers is its own: a new beginning needs new ones.
  void make_programs() {
    programs_.clear();
    const MakeCalled make = libraries_of(scenario_, *stage_, *plant_);
    const SimTime now = time();
    for (const auto& [robot, section] : scenario_.robots) {
      for (const auto& [name, program] : section.programs) {
        const SimSpan every = *program.every;
        const std::int64_t passed = std::max<std::int64_t>(0, ((now - SimTime::zero()) - program.offset).ns());
        const SimTime due = SimTime::zero() + program.offset + every * ((passed + every.ns() - 1) / every.ns());
        programs_.push_back({make(robot, name, program), every, due});
      }
    }
  }
  std::string release(SimTime now) {
    const SimTime end = now + stage_->step();
    for (Program& program : programs_) {
      for (; program.due < end; program.due += program.every) {
        (void)plant_->advance_to(now).ok();  // takes no step: the plant looks at the state
        const auto commands = program.called->call(program.due, nobody_);
        if (!commands.ok()) return commands.error();
        for (const auto& command : *commands) {
          plant_->write(command.variable, program.due, std::as_bytes(std::span(&command.value, 1)));
        }
      }
    }
    return "";
  }

  Scenario scenario_;
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<WorldPlant> plant_;
  world::State state_;
  Nobody nobody_;
  std::vector<Program> programs_;
  std::vector<double> beginning_;
};

}  // namespace
}  // namespace isochron

using namespace isochron;

struct isochron_env {
  explicit isochron_env(const Scenario& scenario) : duration(scenario.duration) {}
  SimSpan duration;
  std::vector<std::unique_ptr<EnvWorld>> worlds;
  std::vector<Observed> observed;
  std::vector<std::vector<const double*>> where;  // by world
  std::vector<std::uint32_t> actuators;
  std::string observed_names, acted_names, why;

  void look(std::uint32_t world) {
    where[world].clear();
    for (const Observed& one : observed) where[world].push_back(one.where(worlds[world]->state()));
  }
  void fill(std::uint32_t world, double* into) const {
    for (const double* value : where[world]) *into++ = *value;
  }
};

namespace {

template <class Item, class NameOf>
std::vector<Item> chosen(const std::vector<Item>& all, const std::string& wanted, const char* what, NameOf&& name_of) {
  if (wanted.empty()) return all;
  std::vector<std::string> names;
  for (const Item& item : all) names.push_back(name_of(item));
  std::vector<Item> found;
  for (const std::string& word : words_of(wanted)) {
    const auto at = std::find(names.begin(), names.end(), word);
    if (at == names.end()) throw InputError({what, 0, 0}, "there is no `" + word + "`", nearest_hint(word, names));
    found.push_back(all[static_cast<std::size_t>(at - names.begin())]);
  }
  return found;
}

std::unique_ptr<isochron_env> make(const char* file, const std::vector<Override>& sets, std::uint32_t worlds,
                                   const char* observe, const char* act) {
  Scenario scenario = load_scenario(file, sets);
  refuse_programs(scenario);
  auto env = std::make_unique<isochron_env>(scenario);
  const std::uint64_t seed = scenario.seed;
  for (std::uint32_t i = 0; i < std::max(1U, worlds); ++i) {
    scenario.seed = seed + i;
    env->worlds.push_back(std::make_unique<EnvWorld>(scenario));
  }
  Stage& stage = env->worlds[0]->stage();
  env->observed = chosen(all_observed(stage.catalog()), observe, "observe", [](const Observed& o) { return o.name; });
  std::vector<std::uint32_t> all;
  const auto& actuators = stage.world().actuators();
  for (std::uint32_t i = 0; i < actuators.size(); ++i) all.push_back(i);
  env->actuators = chosen(all, act, "act", [&](std::uint32_t i) { return actuators[i].name; });
  for (const Observed& one : env->observed) env->observed_names += one.name + "\n";
  for (const std::uint32_t one : env->actuators) env->acted_names += actuators[one].name + "\n";
  env->where.resize(env->worlds.size());
  for (std::uint32_t i = 0; i < env->worlds.size(); ++i) env->look(i);
  return env;
}

}  // namespace

/// Puts a world into another state and looks at it; 0: it cannot be, and `why` says so.
static int put(isochron_env* env, uint32_t world, double* observation, const auto& into_state) {
  try {
    into_state(*env->worlds[world]);
    env->look(world);
    env->fill(world, observation);
    return 1;
  } catch (const std::exception& thrown) {
    env->why = thrown.what();
    return 0;
  }
}

extern "C" {

isochron_env* isochron_env_make(const char* file, const char* const* sets, uint32_t set_count, uint32_t worlds,
                                const char* observe, const char* act, char* why, uint32_t why_size) {
  std::string error;
  try {
    std::vector<Override> overrides;
    for (uint32_t i = 0; i < set_count; ++i) {
      auto set = override_of(sets[i]);
      if (!set) throw InputError({sets[i], 0, 0}, "is not KEY=VALUE", "");
      overrides.push_back(std::move(*set));
    }
    return make(file, overrides, worlds, observe, act).release();
  } catch (const std::exception& thrown) {
    error = thrown.what();
  }
  if (why_size > 0) {
    const std::size_t size = std::min<std::size_t>(error.size(), why_size - 1);
    std::memcpy(why, error.data(), size);
    why[size] = 0;
  }
  return nullptr;
}

void isochron_env_free(isochron_env* env) { delete env; }
const char* isochron_env_observed(const isochron_env* env) { return env->observed_names.c_str(); }
const char* isochron_env_acted(const isochron_env* env) { return env->acted_names.c_str(); }
uint32_t isochron_env_observations(const isochron_env* env) { return static_cast<uint32_t>(env->observed.size()); }
uint32_t isochron_env_actions(const isochron_env* env) { return static_cast<uint32_t>(env->actuators.size()); }
double isochron_env_step_seconds(const isochron_env* env) { return env->worlds[0]->stage().step().seconds(); }
const char* isochron_env_why(const isochron_env* env) { return env->why.c_str(); }

int isochron_env_reset(isochron_env* env, uint32_t world, uint64_t seed, double* observation) {
  return put(env, world, observation, [&](auto& one) { one.reset(seed); });
}

void isochron_env_step(isochron_env* env, const double* actions, uint32_t steps, double* observations, double* times,
                       uint8_t* ended) {
  const std::size_t acts = env->actuators.size(), seen = env->observed.size();
  for (uint32_t w = 0; w < env->worlds.size(); ++w) {
    EnvWorld& world = *env->worlds[w];
    std::string failed;
    try {
      failed = world.step(env->actuators, actions + w * acts, steps);
    } catch (const std::exception& thrown) {
      failed = thrown.what();
    }
    env->fill(w, observations + w * seen);
    times[w] = world.time().since_zero().seconds();
    ended[w] = world.time().since_zero() >= env->duration ? 1 : 0;
    if (failed.empty()) continue;
    env->why = failed;
    ended[w] = 2;
  }
}

uint32_t isochron_env_snapshot_size(isochron_env* env, uint32_t world) {
  return static_cast<uint32_t>(env->worlds[world]->stage().snapshot_size());
}
void isochron_env_snapshot(isochron_env* env, uint32_t world, double* into) {
  env->worlds[world]->snapshot({into, env->worlds[world]->stage().snapshot_size()});
}
int isochron_env_restore(isochron_env* env, uint32_t world, const double* from, double* observation) {
  return put(env, world, observation, [&](auto& one) { one.restore({from, one.stage().snapshot_size()}); });
}

double isochron_env_bare(isochron_env* env, uint32_t rounds, uint32_t steps, uint32_t rounds_between) {
  EnvWorld& world = *env->worlds[0];
  const std::vector<double> action(env->actuators.size(), 0.0);
  std::vector<double> beginning(world.stage().snapshot_size());
  world.snapshot(beginning);
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < rounds; ++i) {
    if (rounds_between > 0 && i % rounds_between == 0) world.restore(beginning);
    (void)world.step(env->actuators, action.data(), steps);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
}
