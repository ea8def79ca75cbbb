#pragma once
// What the coordinator is told: which robots, which programs, and what their computing costs.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/epoch.hpp"
#include "core/rate.hpp"
#include "core/releases.hpp"
#include "core/time.hpp"
#include "programs/called_program.hpp"
#include "programs/policy.hpp"
#include "programs/tape.hpp"
#include "programs/trouble.hpp"

namespace isochron::programs {

class Boards;
class Correspondent;

/// Computing is free: the world waits. All programs so = the callback mode.
struct ZeroCompute {};
/// What the program executes on this machine, times 1/cpu_speed.
struct MeasuredCompute {};
/// The durations of an earlier run.
struct RecordedCompute {
  std::shared_ptr<const ComputeTape> tape;
  /// That of a process that the program starts, by its name ("robot/program:2"); null: there is none.
  std::function<std::shared_ptr<const ComputeTape>(const std::string& name)> of_child = {};
};
/// Declared. An activation costs `cost` before its first output (write, send, wait), and each look at the clock costs
/// `clock_read`. An activation begins with a wait, with a receive after an output, and for a best-effort program also
/// with a read after an output. Starting up is free.
struct ModelledCompute {
  enum class Shape { fixed, uniform, normal };
  Shape shape = Shape::fixed;
  SimSpan cost;    // fixed: the cost; uniform: the least; normal: the mean
  SimSpan spread;  // uniform: the most is cost + spread; normal: the standard deviation
  SimSpan clock_read;
  std::uint64_t seed = 0;
  SimSpan per_call;      // of the simulated system (docs/stacks.md)
  SimSpan per_kilobyte;  // that a call sends
};
using Compute = std::variant<MeasuredCompute, ZeroCompute, RecordedCompute, ModelledCompute>;

enum class Blocking { charge_wall, free };
/// What a program of a stack sees that reads the processor's time stamp counter (rdtsc) by itself.
enum class CounterUse { host, simulated, refused };
enum class OnFailure { end_run, go_on };

/// What a program finds on its standard input: nothing, a text, a file, or lines that come at their simulated times.
/// The latter need a program whose clock is followed.
struct ProgramInput {
  struct Line {
    SimTime at;
    std::string text;  // without its end
  };
  std::string text;
  std::string file;
  std::vector<Line> lines;  // by time
};

struct ProgramSpec {
  std::string name;
  std::vector<std::string> run;                                  // program and arguments
  std::shared_ptr<CalledProgram> called;                         // instead of `run`; shared since specs are copied
  std::vector<std::pair<std::string, std::string>> environment;  // besides that of the coordinator
  std::string folder;                                            // "" = the coordinator's
  SimSpan every;                                                 // declared period; zero = none declared
  SimSpan offset;                                                // of the first release
  SimSpan deadline;                                              // from a release to the next wait; zero = the period
  bool best_effort = false;                                      // no deadline; less urgent than all that are not
  int priority = 0;                                              // greater is more urgent
  std::optional<std::uint32_t> core;                             // of its robot; none = see RobotSpec
  std::string to;                                                // where send("") goes: "controller", "prey/controller"
  bool virtual_clock = false;             // knows nothing of us: clocks and sleeps are interposed
  bool stack = false;                     // interposed: its children, pipes and sockets take part too (docs/stacks.md)
  std::uint64_t seed = 1;                 // interposed: of the randomness that it takes from the kernel
  CounterUse counter = CounterUse::host;  // of a stack
  Compute compute = MeasuredCompute{};
  Fraction cpu_speed;                                // of the robot's computer to this one: 0.25 = four times slower
  std::shared_ptr<const double> slowness = nullptr;  // what computing costs now, times this; for faults. Null = 1
  Blocking blocking = Blocking::charge_wall;
  OnFailure on_failure = OnFailure::end_run;
  /// Interposed and measured: what it executes before it first waits is free, up to this. Beyond it all is charged.
  CpuSpan startup_free = std::chrono::seconds(10);
  ProgramInput input;
  std::uint64_t memory_limit = std::uint64_t{4} << 30;  // bytes that are resident; who uses more is ended
  [[nodiscard]] ReleaseTerms terms() const { return {every, offset, deadline, best_effort}; }
};

/// A program that is bound to a core runs on that one. The others share the cores that nobody is bound to, one program
/// at a time, its threads on all of them at once.
struct RobotSpec {
  std::string name;
  std::uint32_t cores = 1;
  MakePolicy policy;  // none = fixed priority, equals by turns of one quantum
  std::vector<ProgramSpec> programs;
};

/// From `from` on until `until` these robots of a network reach nobody but each other.
struct NetworkCut {
  std::vector<std::string> robots;
  SimTime from;
  SimTime until = SimTime::never();
};
/// A network between robots, for stacks (docs/stacks.md).
struct NetworkSpec {
  std::string name;
  SimSpan latency = std::chrono::microseconds(100);
  SimSpan jitter;                                            // evenly between nothing and this, more
  double bits_per_s = 0;                                     // 0 = nothing takes time by its size
  double loss = 0;                                           // the part of datagrams that is lost
  std::vector<std::pair<std::string, std::uint32_t>> hosts;  // robots and their addresses; 0 = the next
  std::vector<NetworkCut> cuts;
};

/// Somebody who is no host of the run, with whom stacks may talk on the wall clock; or not, where a run must repeat.
struct OutsideSpec {
  std::string name;  // as the scenario has it: "db.local:5432"
  std::uint32_t ip = 0;
  std::uint16_t port = 0;
  bool allowed = true;
};

enum class Privileges { use_if_there, insist, do_without };

struct CoordinatorOptions {
  SimSpan step = std::chrono::milliseconds(10);    // of the world
  SimSpan quantum = std::chrono::milliseconds(1);  // how far measured programs may get apart
  /// Cores of this machine for measured programs, at most one for each core of the robots; 0 = all but one.
  std::uint32_t cores = 0;
  Privileges privileges = Privileges::use_if_there;
  std::optional<PaceRate> pace;  // none = as fast as it goes
  WallSpan attach_within = std::chrono::seconds(20);
  WallSpan hang_after = std::chrono::seconds(30);   // silence of a program that is not measured: computing or blocked
  WallSpan grace = std::chrono::milliseconds(300);  // to exit by itself after the end
  std::size_t output_kept = 64 * 1024;              // bytes of a program's output, from its start and from its end
  bool show_output = false;                         // also to our stderr, with the program's name
  Epoch epoch;                    // what CLOCK_REALTIME of interposed programs shows at simulated zero
  std::string interpose_library;  // path of libisochron_clock.so; "" = next to the executable
  Trouble* trouble = nullptr;     // what faults do to programs; null = nothing
  /// Told once when nothing has moved for this long: who is where, those that keep the others first.
  struct Standing {
    std::string who;   // "prey/planner", "world"
    std::string what;  // "computing at 3.2s"
    std::string whom;  // that it waits for; "" = nobody
    SimTime at;
  };
  WallSpan stall_after = std::chrono::seconds(5);
  std::function<void(const std::vector<Standing>& all)> on_stall = {};
  std::vector<NetworkSpec> networks;  // none = all robots on one
  std::vector<OutsideSpec> outside;   // for stacks
  std::uint64_t seed = 1;             // of the networks' chance
  bool host_steps = false;            // the plant waits for somebody else at each step, who needs the machine meanwhile
  /// Boards that take part; they have entered no other run.
  Boards* boards = nullptr;
  /// A radio, a bridge: whom programs talk to besides each other. They outlive the run.
  std::vector<Correspondent*> correspondents = {};
  /// Asked often: whether the run is to end now. None = only the stop token of run() ends it.
  std::function<bool()> stopping = {};
};

}  // namespace isochron::programs
