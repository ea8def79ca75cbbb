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

#include "core/epoch.hpp"
#include "core/rate.hpp"
#include "core/time.hpp"
#include "flow/run.hpp"
#include "journal/producer.hpp"
#include "scenario/agents_section.hpp"
#include "scenario/aircraft_section.hpp"
#include "scenario/expect_section.hpp"
#include "scenario/faults_section.hpp"
#include "scenario/fmu_section.hpp"
#include "scenario/hil_section.hpp"
#include "scenario/link_section.hpp"
#include "scenario/networks_section.hpp"
#include "scenario/parts_section.hpp"
#include "scenario/play_section.hpp"
#include "scenario/policy_section.hpp"
#include "scenario/ros2_section.hpp"
#include "scenario/ros_section.hpp"
#include "scenario/section.hpp"
#include "scenario/sumo_section.hpp"
#include "scenario/v2x_section.hpp"
#include "scenario/vehicle_section.hpp"
#include "scenario/wire_section.hpp"

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

/// The date at simulated zero: a given one, or that at which the scenario is read.
struct StartDate {
  Epoch epoch;
  bool now = false;
  static constexpr const char* expected = "a date such as 2030-01-01T00:00:00Z, or now,";
  static Result<StartDate, std::string> parse(const std::string& text);
};
std::string to_string(const StartDate& date);

/// Declared computing time: a fixed one, a distribution, or so much for each reading of the clock.
struct ModelledSection : Section {
  SimSpan fixed;
  SimSpan deviation;
  SimSpan per_clock_read;
  SimSpan per_call;
  SimSpan per_kilobyte;
};
template <class V>
void describe(V& v, ModelledSection& s) {
  v.optional("fixed", s.fixed, "what one activation costs (the mean, if there is a deviation)");
  v.optional("deviation", s.deviation, "standard deviation of that cost, drawn from the run's seed");
  v.optional("per_clock_read", s.per_clock_read, "what each reading of the clock costs; for anytime planners");
  v.optional("per_call", s.per_call, "what each call of the simulated system costs: sockets, pipes, processes");
  v.optional("per_kilobyte", s.per_kilobyte, "what each 1024 bytes cost that such a call sends");
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

enum class Rights { use, insist, without };
template <>
struct Words<Rights> {
  static constexpr std::array<const char*, 3> list{"use", "insist", "without"};
};

enum class OnEnd { end, go_on };
template <>
struct Words<OnEnd> {
  static constexpr std::array<const char*, 2> list{"end", "go-on"};
};

/// Which variants of the C library's functions are used: whatever suits this CPU, or those that every x86-64 has.
enum class MathKind { native, portable };
template <>
struct Words<MathKind> {
  static constexpr std::array<const char*, 2> list{"native", "portable"};
};

struct TimeSection : Section {
  Mode mode = Mode::callback;
  ComputeSection compute;
  SimSpan quantum = std::chrono::milliseconds(1);
  std::optional<std::uint32_t> cores;
  Rights privileges = Rights::use;
  Pace pace;
  Fraction cpu_speed{1, 1};
  StartDate epoch;
  WallSpan stall = std::chrono::seconds(5);
  OnEnd on_stall = OnEnd::go_on;
  WallSpan hang = std::chrono::seconds(30);
  MathKind math = MathKind::native;
};
template <class V>
void describe(V& v, TimeSection& s) {
  v.optional("mode", s.mode, "by which rule time passes; see concepts");
  v.optional("compute", s.compute,
             "what computing costs, unless a program says otherwise: zero, measured, {recorded: FILE}, {modelled: …}");
  v.optional("quantum", s.quantum, "how far parts may drift apart before the one ahead is stopped");
  v.optional(
      "cores", s.cores,
      "cores of this machine for measured programs, at most as many as the robots have; all but one if left out");
  v.optional("privileges", s.privileges,
             "real-time priorities for measured programs and mode realtime: use them if allowed, insist on them, or do "
             "without");
  v.optional("pace", s.pace, "free, or simulated seconds for each wall second, as in 1x");
  v.optional("cpu_speed", s.cpu_speed, "speed of the robots' computers in units of this one");
  v.optional("epoch", s.epoch,
             "the date at simulated zero, in UTC, as programs with `clock: virtual` see it; `now` is the date at which "
             "the run starts, and the journal says which that was");
  v.optional(
      "hang", s.hang,
      "a program that computes or blocks this long without asking for anything is ended (not where it is measured)");
  v.optional("stall", s.stall,
             "print who waits for whom when the run, or a part of its nodes, has not moved for this long");
  v.optional("on_stall", s.on_stall, "whether a run of nodes that stands still goes on waiting, or ends as failed");
  v.optional(
      "math", s.math,
      "native: the C library's sin, exp and others as this CPU does them best; portable: as every x86-64 does them, "
      "so that the digest is the same everywhere, also for programs");
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

/// Dryden's gusts.
struct GustsSection : Section {
  double at_6m = 0;
  std::optional<std::array<double, 3>> deviation, length;
};
template <class V>
void describe(V& v, GustsSection& s) {
  v.optional("at_6m", s.at_6m,
             "m/s of mean wind at 6 m height that makes them, by MIL-F-8785C and the aircraft's height");
  v.optional("deviation", s.deviation, "instead, with `length`: along the wind, across it and vertical, m/s");
  v.optional("length", s.length, "m of each; how far apart gusts are");
}

struct WindSection : Section {
  std::array<double, 3> velocity{};
  double drag = 0.1;
  std::optional<GustsSection> gusts;
};
template <class V>
void describe(V& v, WindSection& s) {
  v.optional("velocity", s.velocity, "m/s, world frame");
  v.optional("drag", s.drag, "N for each (m/s)²; aircraft have a drag of their own instead");
  v.optional("gusts", s.gusts, "that aircraft meet on top, each its own, drawn from the scenario's seed");
}

struct WorldSection : Section {
  FilePath model;
  std::string engine = "mujoco";
  std::optional<SimSpan> step;
  std::optional<WallsSection> walls;
  std::optional<WindSection> wind;
  std::string at;
  std::string host;
};
template <class V>
void describe(V& v, WorldSection& s) {
  v.required("model", s.model, "the model file, MJCF (.xml) or URDF; for an engine of your own whatever it reads");
  v.optional("engine", s.engine, "mujoco, ode, or a shared library with an engine of your own");
  v.optional("step", s.step, "time between two states; the model's own if left out");
  v.optional("walls", s.walls, "springs that keep free bodies inside a cube");
  v.optional("wind", s.wind, "pushes every free body, and brakes it");
  v.optional("at", s.at, "as of a node: where it listens if it runs in a process of its own");
  v.optional("host", s.host, "for `isochron launch`: the machine that it is started on; this one if left out");
}

enum class ClockKind { native, virtual_ };
template <>
struct Words<ClockKind> {
  static constexpr std::array<const char*, 2> list{"native", "virtual"};
};
enum class OutputRecord { digest, journal, none };
template <>
struct Words<OutputRecord> {
  static constexpr std::array<const char*, 3> list{"digest", "journal", "none"};
};
enum class Blocking { wall, free };
template <>
struct Words<Blocking> {
  static constexpr std::array<const char*, 2> list{"wall", "free"};
};

/// How much CPU time a program may use to start up before it first waits, free of charge.
struct StartUp {
  CpuSpan free = std::chrono::seconds(10);
  static constexpr const char* expected = "charged, or a time such as 10s,";
  static Result<StartUp, std::string> parse(const std::string& text);
};
std::string to_string(const StartUp& start_up);

/// One line of a program's standard input, and when it comes.
struct InputLine : Section {
  SimSpan at;
  std::string line;
};
template <class V>
void describe(V& v, InputLine& s) {
  v.required("at", s.at, "when it can be read, in simulated time");
  v.required("line", s.line, "what is read, without the end of the line");
}

/// Standard input of a program: a text as it is, `{file: moves.txt}`, or a list of lines with their times.
struct InputSection : Section {
  std::string text;
  FilePath file;
  std::vector<InputLine> lines;
};
inline bool from_word(InputSection& section, const std::string& word) { return section.text = word, true; }
inline std::vector<InputLine>& list_form(InputSection& section) { return section.lines; }
template <class V>
void describe(V& v, InputSection& s) {
  v.optional("file", s.file, "a file that is there from the start");
  v.optional("lines", s.lines, "what `stdin: [{at: 1s, line: go}]` says in short");
}

struct ProgramSection : Section {
  std::vector<std::string> run;
  LibraryPath library;
  Named<std::string> with;
  std::optional<SimSpan> every;
  SimSpan offset;
  std::optional<SimSpan> deadline;
  int priority = 0;
  std::optional<std::uint32_t> core;
  bool best_effort = false;
  std::string to;
  ClockKind clock = ClockKind::native;
  SystemKind system = SystemKind::simulated;
  std::optional<CounterKind> rdtsc;
  std::optional<ComputeSection> compute;
  std::optional<Fraction> cpu_speed;
  Blocking blocking = Blocking::wall;
  OnEnd on_exit = OnEnd::end;
  OutputRecord output = OutputRecord::digest;
  ByteSize memory{1 << 30};
  std::optional<InputSection> stdin_;
  StartUp startup;
  bool ros2 = false;
  TargetSection target;
  std::optional<LinkSection> link;
};
template <class V>
void describe(V& v, ProgramSection& s) {
  v.optional("run", s.run, "the executable and its arguments, both also as files next to the scenario file");
  v.optional("library", s.library, "instead of run: a controller in a shared library, called in process");
  v.optional("with", s.with, "parameters: handed to a library, or to an executable as ISOCHRON_WITH_name");
  v.optional("every", s.every, "period; left out for a program that sets its own waits");
  v.optional("offset", s.offset, "first release");
  v.optional("deadline", s.deadline, "time from release to wait() that counts as met; the period if left out");
  v.optional("priority", s.priority, "higher runs first; equals take turns (under policy fixed-priority, the default)");
  v.optional(
      "core", s.core,
      "the robot's core that it is bound to, from 0; left out, its threads use all cores that no program is bound to");
  v.optional("best_effort", s.best_effort,
             "runs when nobody else of its core wants to, as planners do; has no deadline");
  v.optional("to", s.to, "the program of this robot that receives what this one sends");
  v.optional("clock", s.clock,
             "virtual: the program knows nothing of Isochron; its clock and sleeps follow simulated time");
  v.optional("system", s.system,
             "with `clock: virtual`, whose its children, pipes and sockets are: simulated, so that they pass in "
             "simulated time and are charged; or the host's, on the wall clock");
  v.optional("rdtsc", s.rdtsc,
             "with `clock: virtual` and a simulated system, what the processor's time stamp counter shows to who reads "
             "it without asking: simulated time at 1 GHz, the host's counter, or the end of the program; if left out, "
             "the host's where computing is measured or recorded, and simulated time elsewhere");
  v.optional("compute", s.compute, "as in time, for this program only");
  v.optional("cpu_speed", s.cpu_speed, "as in time, for this program only");
  v.optional("blocking", s.blocking, "what a call that blocks unexpectedly costs: the wall time it takes, or nothing");
  v.optional("on_exit", s.on_exit, "what its end means for the run");
  v.optional("output", s.output,
             "what it prints: in the journal with its simulated time and part of the digest, in the journal only, or "
             "neither");
  v.optional("memory", s.memory, "resident memory: a program that uses more is ended, and the report says so");
  v.optional("stdin", s.stdin_,
             "its standard input: a text, {file: FILE}, or lines with times as in [{at: 1s, line: go}], which need "
             "`clock: virtual`; empty if left out");
  v.optional("startup", s.startup,
             "with `clock: virtual` and measured computing: what it executes before it first waits is free up to this "
             "CPU time, or `charged`");
  v.optional(
      "ros2", s.ros2,
      "it is a node of ROS 2: it gets the domain and interface of `ros2`; what it says over DDS comes when it comes");
  v.optional("target", s.target, "mode hil: how it takes part as a target over a link");
  v.optional("link", s.link,
             "it is an autopilot that flies the robot through one of its simulator interfaces: with `clock: virtual` "
             "inside the simulated network, else over a socket of this machine, in lock-step");
}

struct RobotSection : Section {
  std::string body;
  PolicySection policy;
  std::uint32_t cores = 1;
  Named<SensorSection> sensors;
  Named<ActuatorSection> actuators;
  Named<WireSection> wires;
  Named<ProgramSection> programs;
  std::string at;
  std::string host;
};
template <class V>
void describe(V& v, RobotSection& s) {
  v.optional("body", s.body, "the robot's body in the model; its own name if left out");
  v.optional("policy", s.policy,
             "how its programs share its computer: by priority and by turns among equals, or as a tree of groups or a "
             "library of "
             "yours says; see the coordinator");
  v.optional("cores", s.cores,
             "cores of its computer: threads of a program run on them at the same time, and so do programs that are "
             "bound to different ones with `core`");
  v.optional("sensors", s.sensors, "what it senses with, by name");
  v.optional("actuators", s.actuators, "what stands between its commands and the model's actuators, by name");
  v.optional("wires", s.wires,
             "sockets of the simulated network over which programs that know nothing of Isochron see and drive it, by "
             "name");
  v.optional("programs", s.programs, "controllers and planners by name, in the order that breaks ties");
  v.optional(
      "at", s.at,
      "as of a node: where it listens if it runs in processes of its own; its sensors and libraries on the ports "
      "that follow");
  v.optional("host", s.host, "for `isochron launch`: the machine that it is started on; this one if left out");
}

/// What a scenario changes of a flow that a node declares.
struct FlowSection : Section {
  std::optional<SimSpan> period, first, lookahead;
  std::optional<std::uint32_t> capacity;
};
template <class V>
void describe(V& v, FlowSection& s) {
  v.optional("period", s.period, "time between two messages");
  v.optional("first", s.first, "time of the first message");
  v.optional("lookahead", s.lookahead, "of events: how long before its time an event is known");
  v.optional("capacity", s.capacity, "messages that a sink may lag behind");
}

/// Its library or program is looked for when the node is made: a host has those of its own nodes only.
struct NodeSection : Section {
  std::string library;
  std::vector<std::string> run;
  std::string fmu;
  std::optional<SumoSection> sumo;
  std::optional<PlaySection> play;
  std::string type;
  Named<std::string> with;
  Named<FlowSection> flows;
  VariableTexts inputs;
  Named<std::string> drives;
  std::optional<SimSpan> every;
  VariableTexts parameters;
  Named<FmuFlowSection> outputs;
  std::optional<double> tolerance;
  std::optional<fmi::SolverKind> solver;
  std::optional<SimSpan> solver_step;
  FmuProcess process = FmuProcess::shared;
  std::optional<ComputeSection> compute;
  bool log = false;
  std::string at;
  std::string host;
};
template <class V>
void describe(V& v, NodeSection& s) {
  v.optional("library", s.library, "the shared library that has it, in C++ or C");
  v.optional("run", s.run, "instead of a library: a program that is the node, in any language, and its arguments");
  v.optional("fmu", s.fmu, "instead of a library: an FMU, FMI 2.0 or 3.0");
  v.optional("sumo", s.sumo, "instead of a library: traffic that SUMO simulates");
  v.optional("play", s.play, "instead of a library: a bag that is played, each of its topics as a flow");
  v.optional("type", s.type, "its type in that library or program; may be left out where there is one only");
  v.optional("with", s.with, "its parameters");
  v.optional("flows", s.flows, "what to change of its outputs, by name: period, first, lookahead, capacity");
  v.optional(
      "inputs", s.inputs,
      "input: node.output, such as world.state or ROBOT/SENSOR.reading; of an FMU, variable: node.output.field, or "
      "`node.output.field in unit`");
  v.optional("drives", s.drives, "output: actuator of the world; the output carries a float64");
  v.optional("every", s.every,
             "of an FMU: its communication step, as its description says if left out; of SUMO: its step, 100ms if left "
             "out");
  v.optional("parameters", s.parameters, "of an FMU: variable: value before the start; a list for an array");
  v.optional("outputs", s.outputs, "of an FMU: its flows, by name; one flow `out` with all its outputs if left out");
  v.optional("tolerance", s.tolerance, "of an FMU: of its solver, or of ours");
  v.optional("solver", s.solver, "of an FMU for model exchange, which brings none: `cvode` if left out");
  v.optional("solver_step", s.solver_step, "of solver rk4; `every` if left out");
  v.optional("process", s.process, "of an FMU: where it runs; an FMU that may be there once in a process gets its own");
  v.optional(
      "compute", s.compute,
      "of an FMU: what a step costs: its outputs are there so much later; `zero` if left out, `measured` on this CPU, "
      "`{recorded: RUN.mcap}` or `{modelled: …}`");
  v.optional("log", s.log, "of an FMU: whether it is asked to log; what it says is on its flow `log`");
  v.optional("at", s.at,
             "over TCP between hosts: where it listens, as in 10.0.0.2:7500; 127.0.0.1:7500 and up if left out");
  v.optional("host", s.host, "for `isochron launch`: the machine that it is started on; this one if left out");
}

enum class CarrierKind : std::uint8_t { tcp, dds, ros };
template <>
struct Words<CarrierKind> {
  static constexpr std::array<const char*, 3> list{"tcp", "dds", "ros"};
};

struct NetworkSection : Section {
  CarrierKind carrier = CarrierKind::tcp;
  std::string federation;
  WallSpan lost_after = std::chrono::seconds(10);
  FilePath key;
  std::uint32_t domain = 0;
  std::uint32_t restarts = 0;
  std::string interface;
  std::vector<std::string> hosts;
};
template <class V>
void describe(V& v, NetworkSection& s) {
  v.optional("carrier", s.carrier, "what carries messages between nodes that run with --node or launch");
  v.optional("federation", s.federation, "keeps runs on one network apart; the scenario's name if left out");
  v.optional("lost_after", s.lost_after, "a node that is silent for so long is given up");
  v.optional("restarts", s.restarts,
             "of `launch`: how many times a node that is lost is started again and catches up; 0: it ends the run");
  v.optional("key", s.key, "file with the key that all nodes share; ISOCHRON_KEY in the environment does as well");
  v.optional("domain", s.domain, "of DDS");
  v.optional("interface", s.interface, "of DDS: name or address of the network interface");
  v.optional("hosts", s.hosts, "of DDS: where to look for others if there is no multicast");
}

template <>
struct Words<flow::How> {
  static constexpr std::array<const char*, 6> list{"thread", "pool", "threads", "processes", "tcp", "free"};
};

struct FlowsSection : Section {
  flow::How executor = flow::How::thread;
  int workers = 2;
  std::uint32_t processes = 0;
  std::optional<int> capacity;
  std::uint64_t disturb = 0;
};
template <class V>
void describe(V& v, FlowsSection& s) {
  v.optional("executor", s.executor,
             "where nodes run; the result is the same, except for free, which has no time management");
  v.optional("workers", s.workers, "how many, for executor: pool");
  v.optional(
      "processes", s.processes,
      "at most so many, for executor: processes; more nodes than that share them. 0: a process for each of up to 32 "
      "nodes; more nodes share two on each core");
  v.optional("capacity", s.capacity,
             "messages that fit into a flow before its source waits; as the node declares if left out");
  v.optional("disturb", s.disturb,
             "not 0: random delays between steps, of this seed; they may cost time but must change nothing");
}

template <>
struct Words<WhenFull> {
  static constexpr std::array<const char*, 2> list{"drop", "block"};
};

struct JournalSection : Section {
  std::string file;
  std::vector<std::string> record;
  std::optional<WhenFull> when_full;
};
template <class V>
void describe(V& v, JournalSection& s) {
  v.optional("file", s.file, "where the record goes; NAME.mcap in the working folder if left out");
  v.optional(
      "record", s.record,
      "flows of nodes that are recorded, as patterns of topics such as /world/*; all if left out, `[none]` for no "
      "flow. The digest is of what is recorded");
  v.optional("when_full", s.when_full, "drop and count, or block; block where runs must repeat");
}

/// One `--set path=value`.
struct Override {
  std::string path;
  std::string value;
};

struct Scenario : Section {
  std::string name;
  SimSpan duration = std::chrono::seconds(10);
  std::uint64_t seed = 1;
  std::optional<WorldSection> world;
  Named<VehicleSection> vehicles;
  Named<AircraftSection> aircraft;
  Named<RobotSection> robots;
  Named<NodeSection> nodes;
  std::optional<AgentsSection> agents;
  std::optional<V2xSection> v2x;
  FlowsSection flows;
  NetworkSection network;
  Named<SimulatedNetworkSection> networks;
  std::vector<std::string> outside;
  FaultsSection faults;
  std::optional<RosSection> ros;
  std::optional<Ros2Section> ros2;
  TimeSection time;
  HilSection hil;
  JournalSection journal;
  ExpectSection expect;
  OnEnd on_violation = OnEnd::go_on;

  std::string file;    // where it was read from
  std::string folder;  // paths are relative to it
  std::string text;    // as read, or as changed by overrides; goes into the journal

  // In scenario.cpp: written out by every file that has a scenario, they were a sixth of the build.
  Scenario();
  Scenario(const Scenario&);
  Scenario(Scenario&&) noexcept;
  Scenario& operator=(const Scenario&);
  Scenario& operator=(Scenario&&) noexcept;
  ~Scenario();
};
template <class V>
void describe(V& v, Scenario& s) {
  v.required("name", s.name, "what the run is called");
  v.optional("duration", s.duration, "simulated time to run for");
  v.optional("seed", s.seed, "of all randomness");
  v.optional("world", s.world, "what is simulated");
  v.optional("vehicles", s.vehicles, "bodies of the model that drive, by name");
  v.optional("aircraft", s.aircraft, "bodies of the model that fly, by name");
  v.optional("robots", s.robots, "who acts in it, by name");
  v.optional("nodes", s.nodes, "simulators that exchange messages, by name");
  v.optional("agents", s.agents, "many agents in one world, simulated by several clients");
  v.optional("v2x", s.v2x, "agents talk by radio");
  v.optional("flows", s.flows, "how nodes are run");
  v.optional("network", s.network, "how nodes in several processes and on several hosts reach each other");
  v.optional("networks", s.networks,
             "simulated networks between robots, by name, over which programs with `clock: virtual` talk; all robots "
             "on one, 10.0.0.1 and up, if left out");
  v.optional("outside", s.outside,
             "addresses that are no robots, as in [192.168.1.5:80], with which programs with `clock: virtual` may talk "
             "all the same: on the wall clock, so that the run does not repeat");
  v.optional("faults", s.faults,
             "what is bad on purpose: links of agents, of nodes over TCP, to targets; and what breaks when");
  v.optional("ros", s.ros, "ordinary ROS 1 nodes that take part, over topics and /clock");
  v.optional("ros2", s.ros2, "nodes of ROS 2 that take part, over DDS: topics, /clock and services");
  v.optional("time", s.time, "by which rule time passes");
  v.optional("hil", s.hil, "mode hil: hardware in the loop");
  v.optional("journal", s.journal, "what the run leaves");
  v.optional("expect", s.expect, "what must hold, by name; see expectations");
  v.optional("on_violation", s.on_violation, "whether the run goes on or ends when an expectation is violated");
}

/// Throws InputError with every mistake.
Scenario load_scenario(const std::string& file, const std::vector<Override>& overrides = {});
/// The same from text, for tests and fuzzing; files named in it are looked for in `folder`.
Scenario read_scenario(const std::string& text, const std::string& file, const std::string& folder,
                       const std::vector<Override>& overrides = {});

/// Whether this program runs on a board: its contract says so, or the mode where it has none.
bool runs_on_target(const Scenario& scenario, const ProgramSection& program);
/// An autopilot that is reached over sockets of this machine; the others of them are in the simulated network.
bool flies_from_outside(const ProgramSection& program);
/// Whether any program does.
bool has_boards(const Scenario& scenario);

/// Whether its parts are nodes of one system of flows, which can be spread over processes and hosts: where there are
/// `nodes`, or ROS nodes and no world, or, in mode repeatable, where the scenario speaks of flows.
bool runs_as_flows(const Scenario& scenario);

}  // namespace isochron
