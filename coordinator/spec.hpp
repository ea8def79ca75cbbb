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

#include "coordinator/policy.hpp"
#include "coordinator/tape.hpp"
#include "core/rate.hpp"
#include "core/time.hpp"

namespace isochron::coordinator {

/// Computing is free: the world waits. All programs so = the callback mode.
struct ZeroCompute {};
/// What the program executes on this machine, times 1/cpu_speed.
struct MeasuredCompute {};
/// The durations of an earlier run.
struct RecordedCompute {
  std::shared_ptr<const ComputeTape> tape;
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
};
using Compute = std::variant<MeasuredCompute, ZeroCompute, RecordedCompute, ModelledCompute>;

enum class Blocking { charge_wall, free };
enum class OnFailure { end_run, go_on };

struct ProgramSpec {
  std::string name;
  std::vector<std::string> run;                                  // program and arguments
  std::vector<std::pair<std::string, std::string>> environment;  // besides that of the coordinator
  std::string folder;                                            // "" = the coordinator's
  SimSpan every;                                                 // declared period; zero = none declared
  SimSpan offset;                                                // of the first release
  SimSpan deadline;                                              // from a release to the next wait; zero = the period
  bool best_effort = false;                                      // no deadline; less urgent than all that are not
  int priority = 0;                                              // greater is more urgent
  std::uint32_t core = 0;                                        // of its robot
  std::string to;                                                // where send("") goes: "controller", "prey/controller"
  bool virtual_clock = false;  // knows nothing of us: clocks and sleeps are interposed
  Compute compute = MeasuredCompute{};
  Fraction cpu_speed;  // of the robot's computer to this one: 0.25 = four times slower
  Blocking blocking = Blocking::charge_wall;
  OnFailure on_failure = OnFailure::end_run;
  std::uint64_t memory_limit = std::uint64_t{4} << 30;  // bytes of address space
};

struct RobotSpec {
  std::string name;
  /// One for each core of the robot; empty = fixed priority on one core.
  std::vector<std::shared_ptr<const Policy>> policies;
  std::vector<ProgramSpec> programs;
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
  std::string interpose_library;                    // path of libisochron_clock.so; "" = next to the executable
  /// What a program is made to compute more before the request it stands at; asked once for each request. For faults.
  std::function<SimSpan(const std::string& program)> delay = {};
};

}  // namespace isochron::coordinator
