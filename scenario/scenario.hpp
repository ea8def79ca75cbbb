#pragma once
// A scenario is one YAML file that wires time: which world, which robots with which programs, which nodes and flows,
// and by which rule time passes. The world itself is a model file in the field's own format. This header is the whole
// vocabulary of that file; load() reads it and reports every mistake in one pass, before anything starts.
//
// The sections are plain data. What they mean is in the layer they configure; federation.hpp turns them into a run.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rate.hpp"
#include "core/time.hpp"
#include "flow/run.hpp"
#include "journal/producer.hpp"
#include "scenario/agents_section.hpp"
#include "scenario/parts_section.hpp"
#include "scenario/section.hpp"

namespace isochron {

enum class Mode { callback, consistent, repeatable, realtime, hil, heartbeat };
template <>
struct Words<Mode> {
  static constexpr std::array<const char*, 6> list{"callback", "consistent", "repeatable",
                                                   "realtime", "hil",        "heartbeat"};
};

/// How fast simulated time passes against the wall: `free`, or a factor such as `1x`.
struct Pace {
  std::optional<Fraction> factor;  // none = free
  static constexpr const char* expected = "free, or a factor such as 1x or 0.5x,";
  static Result<Pace, std::string> parse(const std::string& text);
};
std::string to_string(const Pace& pace);

/// Declared computing time: a fixed one, a distribution, or so much for each reading of the clock.
struct ModelledSection : Section {
  SimSpan fixed;
  SimSpan deviation;
  SimSpan per_clock_read;
};
template <class V>
void describe(V& v, ModelledSection& s) {
  v.optional("fixed", s.fixed, "what one activation costs (the mean, if there is a deviation)");
  v.optional("deviation", s.deviation, "standard deviation of that cost, drawn from the run's seed");
  v.optional("per_clock_read", s.per_clock_read, "what each reading of the clock costs; for anytime planners");
}

enum class Contract { zero, measured, recorded, modelled, hardware };
template <>
struct Words<Contract> {
  static constexpr std::array<const char*, 5> list{"zero", "measured", "recorded", "modelled", "hardware"};
};

/// What computing costs. One word, or `{recorded: run.mcap}`, or `{modelled: {fixed: 2ms}}`.
struct ComputeSection : Section {
  Contract contract = Contract::measured;
  FilePath recorded;
  std::optional<ModelledSection> modelled;
};
bool from_word(ComputeSection& section, const std::string& word);
template <class V>
void describe(V& v, ComputeSection& s) {
  v.optional("recorded", s.recorded, "replay the durations of this journal");
  v.optional("modelled", s.modelled, "declare them");
}

struct TimeSection : Section {
  Mode mode = Mode::callback;
  ComputeSection compute;
  SimSpan quantum = std::chrono::milliseconds(1);
  Pace pace;
  Fraction cpu_speed{1, 1};
  WallSpan stall = std::chrono::seconds(5);
};
template <class V>
void describe(V& v, TimeSection& s) {
  v.optional("mode", s.mode, "by which rule time passes; see concepts");
  v.optional("compute", s.compute,
             "what computing costs, unless a program says otherwise: zero, measured, {recorded: FILE}, {modelled: …}");
  v.optional("quantum", s.quantum, "how far parts may drift apart before the one ahead is stopped");
  v.optional("pace", s.pace, "free, or simulated seconds for each wall second, as in 1x");
  v.optional("cpu_speed", s.cpu_speed, "speed of the robots' computers in units of this one");
  v.optional("stall", s.stall, "print who waits for whom when nothing moved for this long");
}

struct WallsSection : Section {
  double half_width = 25;
  double reach = 5;
  double stiffness = 20;
};
template <class V>
void describe(V& v, WallsSection& s) {
  v.optional("half_width", s.half_width, "the walls stand at ± this, metres");
  v.optional("reach", s.reach, "how far from a wall its spring begins, metres");
  v.optional("stiffness", s.stiffness, "N for each metre inside the reach");
}

struct WindSection : Section {
  std::array<double, 3> velocity{};
  double drag = 0.1;
};
template <class V>
void describe(V& v, WindSection& s) {
  v.optional("velocity", s.velocity, "m/s, world frame");
  v.optional("drag", s.drag, "N for each (m/s)²");
}

struct WorldSection : Section {
  FilePath model;
  std::string engine = "mujoco";
  std::optional<SimSpan> step;
  std::optional<WallsSection> walls;
  std::optional<WindSection> wind;
};
template <class V>
void describe(V& v, WorldSection& s) {
  v.required("model", s.model, "the model file, MJCF (.xml) or URDF");
  v.optional("engine", s.engine, "mujoco, ode, or the path of a shared library with an engine of your own");
  v.optional("step", s.step, "time between two states; the model's own if left out");
  v.optional("walls", s.walls, "springs that keep free bodies inside a cube");
  v.optional("wind", s.wind, "pushes every free body, and brakes it");
}

enum class Policy { least_progress, fixed_priority };
template <>
struct Words<Policy> {
  static constexpr std::array<const char*, 2> list{"least-progress", "fixed-priority"};
};
enum class ClockKind { native, virtual_ };
template <>
struct Words<ClockKind> {
  static constexpr std::array<const char*, 2> list{"native", "virtual"};
};
enum class OnEnd { end, go_on };
template <>
struct Words<OnEnd> {
  static constexpr std::array<const char*, 2> list{"end", "go-on"};
};
enum class Blocking { wall, free };
template <>
struct Words<Blocking> {
  static constexpr std::array<const char*, 2> list{"wall", "free"};
};

struct ProgramSection : Section {
  std::vector<std::string> run;
  LibraryPath library;
  Named<std::string> with;
  std::optional<SimSpan> every;
  SimSpan offset;
  std::optional<SimSpan> deadline;
  int priority = 0;
  bool best_effort = false;
  std::string to;
  ClockKind clock = ClockKind::native;
  std::optional<ComputeSection> compute;
  std::optional<Fraction> cpu_speed;
  Blocking blocking = Blocking::wall;
  OnEnd on_exit = OnEnd::end;
  ByteSize memory{1 << 30};
};
template <class V>
void describe(V& v, ProgramSection& s) {
  v.optional("run", s.run, "the executable and its arguments");
  v.optional("library", s.library,
             "instead of run: a controller in a shared library, called in process (callback mode)");
  v.optional("with", s.with, "parameters: handed to a library, or to an executable as ISOCHRON_WITH_name");
  v.optional("every", s.every, "period; left out for a program that sets its own waits");
  v.optional("offset", s.offset, "first release");
  v.optional("deadline", s.deadline, "time from release to wait() that counts as met; the period if left out");
  v.optional("priority", s.priority, "under fixed-priority: higher runs first");
  v.optional("best_effort", s.best_effort, "runs when nobody else wants to, as planners do");
  v.optional("to", s.to, "the program of this robot that receives what this one sends");
  v.optional("clock", s.clock,
             "virtual: the program knows nothing of Isochron; its clock and sleeps follow simulated time");
  v.optional("compute", s.compute, "as in time, for this program only");
  v.optional("cpu_speed", s.cpu_speed, "as in time, for this program only");
  v.optional("blocking", s.blocking, "what a call that blocks unexpectedly costs: the wall time it takes, or nothing");
  v.optional("on_exit", s.on_exit, "what its end means for the run");
  v.optional("memory", s.memory, "it may not use more than this");
}

struct RobotSection : Section {
  std::string body;
  Policy policy = Policy::least_progress;
  Named<SensorSection> sensors;
  Named<ActuatorSection> actuators;
  Named<ProgramSection> programs;
};
template <class V>
void describe(V& v, RobotSection& s) {
  v.optional("body", s.body, "the robot's body in the model; its own name if left out");
  v.optional("policy", s.policy, "how its programs share its computer");
  v.optional("sensors", s.sensors, "what it senses with, by name");
  v.optional("actuators", s.actuators, "what stands between its commands and the model's actuators, by name");
  v.optional("programs", s.programs, "controllers and planners by name, in the order that breaks ties");
}

struct NodeSection : Section {
  LibraryPath library;
  std::string type;
  Named<std::string> with;
  Named<std::string> inputs;
};
template <class V>
void describe(V& v, NodeSection& s) {
  v.required("library", s.library, "the shared library that has it");
  v.required("type", s.type, "its type in that library");
  v.optional("with", s.with, "its parameters");
  v.optional("inputs", s.inputs, "input: node.output");
}

template <>
struct Words<flow::How> {
  static constexpr std::array<const char*, 6> list{"thread", "pool", "threads", "processes", "tcp", "free"};
};

struct FlowsSection : Section {
  flow::How executor = flow::How::thread;
  int workers = 2;
  std::optional<int> capacity;
};
template <class V>
void describe(V& v, FlowsSection& s) {
  v.optional("executor", s.executor,
             "where nodes run; the result is the same, except for free, which has no time management");
  v.optional("workers", s.workers, "how many, for executor: pool");
  v.optional("capacity", s.capacity,
             "messages that fit into a flow before its source waits; as the node declares if left out");
}

template <>
struct Words<WhenFull> {
  static constexpr std::array<const char*, 2> list{"drop", "block"};
};

struct JournalSection : Section {
  std::string file;
  std::optional<WhenFull> when_full;
};
template <class V>
void describe(V& v, JournalSection& s) {
  v.optional("file", s.file, "where the record goes; NAME.mcap in the working folder if left out");
  v.optional("when_full", s.when_full, "drop and count, or block; block where runs must repeat");
}

struct Scenario : Section {
  std::string name;
  SimSpan duration = std::chrono::seconds(10);
  std::uint64_t seed = 1;
  std::optional<WorldSection> world;
  Named<RobotSection> robots;
  Named<NodeSection> nodes;
  std::optional<AgentsSection> agents;
  FlowsSection flows;
  TimeSection time;
  JournalSection journal;

  std::string file;    // where it was read from
  std::string folder;  // paths are relative to it
  std::string text;    // as read; goes into the journal
};
template <class V>
void describe(V& v, Scenario& s) {
  v.required("name", s.name, "what the run is called");
  v.optional("duration", s.duration, "simulated time to run for");
  v.optional("seed", s.seed, "of all randomness");
  v.optional("world", s.world, "what is simulated");
  v.optional("robots", s.robots, "who acts in it, by name");
  v.optional("nodes", s.nodes, "simulators that exchange messages, by name");
  v.optional("agents", s.agents, "many agents in one world, simulated by several clients");
  v.optional("flows", s.flows, "how nodes are run");
  v.optional("time", s.time, "by which rule time passes");
  v.optional("journal", s.journal, "what the run leaves");
}

/// One `--set path=value`.
struct Override {
  std::string path;
  std::string value;
};

/// Throws InputError with every mistake.
Scenario load_scenario(const std::string& file, const std::vector<Override>& overrides = {});
/// The same from text, for tests and fuzzing; files named in it are looked for in `folder`.
Scenario read_scenario(const std::string& text, const std::string& file, const std::string& folder,
                       const std::vector<Override>& overrides = {});

}  // namespace isochron
