#pragma once
// A Dispatcher makes the operating system execute one measured program at a time, for a given CPU time, and notices
// when it asks, blocks or ends. The timeline says who and how long; this says how.
//
//   FIFO    real-time priorities on one core: coordinator 90, the active program 80 (all its threads), the block
//           detector 75, those that must wait 70. Swapping priorities is invisible to the programs. Needs privileges.
//   stop    SIGSTOP and SIGCONT at idle priority on one core. Needs nothing, but a stopped program may see EINTR, and
//           whoever else uses the core is in the way. This is the degraded mode.
//
// Threads: that of its lane (see lanes.hpp); all but run() and try_blocked() also from the coordinator's while no
//          program of the lane runs. The constructor changes that thread's priority and core; the destructor restores
//          them.
// Cost:    run() sleeps on one futex with an absolute deadline that serves requests, timer and block detector alike.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "programs/channel.hpp"
#include "programs/process.hpp"
#include "programs/second_timer.hpp"
#include "programs/spread.hpp"

namespace isochron::programs {

class Dispatcher {
 public:
  enum class Why { asked, used_up, blocked };
  virtual ~Dispatcher() = default;

  /// As the report names it.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual bool degraded() const = 0;
  /// From now on the program executes only inside run(). Returns its number here. Where it is spread over several
  /// cores, those of its threads that are of this part execute here.
  virtual std::size_t admit(Process& process, Channel& channel, Spread* spread = nullptr, std::size_t part = 0) = 0;
  /// A program that is not measured runs freely, but not on our core, where it would starve.
  virtual void send_away(Process& process) = 0;
  virtual Why run(std::size_t program, CpuSpan budget) = 0;
  /// CPU time of the program at the end of its last run(), read while it stood still. Where it is spread: how long that
  /// took on the cores of its part.
  [[nodiscard]] virtual CpuTime executed(std::size_t program) const = 0;
  /// By how much the timer that ended the last run() came late.
  [[nodiscard]] virtual WallSpan late() const = 0;
  /// How a part of a spread program fared in its last run(): whether its cores had time to spare, or which of its
  /// threads got none.
  struct Load {
    bool spare = false;
    pid_t crowded_out = 0;
  };
  [[nodiscard]] virtual Load load(std::size_t /*program*/) const { return {}; }
  /// Its threads were dealt anew.
  virtual void deal_again(std::size_t /*program*/) {}
  /// Lets a blocked program go on if it can, for this wall time: used_up when it executed anything.
  virtual Why try_blocked(std::size_t program, WallSpan span) = 0;
  /// A thread of the program was woken: it goes first among its siblings, as it would on the robot.
  virtual void favour(std::size_t program, pid_t thread) = 0;
  /// Nobody executes until the next run().
  virtual void hold() = 0;
  /// The same for a while: the core is left to whoever else wants it. Requires: all programs wait.
  virtual void rest() { hold(); }
  /// The program is no longer ours: it runs as any other process, or is gone.
  virtual void dismiss(std::size_t program) = 0;
  virtual std::uint64_t switches() const = 0;
};

/// A core for one coordinator alone, if there is one: the claim ends with the process, however it ends.
class CoreClaim {
 public:
  CoreClaim();
  ~CoreClaim();
  CoreClaim(const CoreClaim&) = delete;
  CoreClaim& operator=(const CoreClaim&) = delete;
  [[nodiscard]] int core() const { return core_; }
  /// False: all cores are claimed by other coordinators and this one is shared.
  [[nodiscard]] bool alone() const { return socket_ >= 0; }

 private:
  int core_ = 0;
  int socket_ = -1;
};

/// Requires: nothing is missing.
std::unique_ptr<Dispatcher> make_fifo_dispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim,
                                                 SecondTimer& second);
std::unique_ptr<Dispatcher> make_stop_dispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim);

}  // namespace isochron::programs
