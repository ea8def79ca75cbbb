#pragma once
// The timeline decides, and only decides: what happens next among the world and all who take part in it, in simulated
// time. It reads no clock and starts nothing, so the same logic drives processes, libraries, boards and unit tests, and
// every compute contract.
//
// Each robot core is a virtual CPU with a clock V. A program on it *owes* time: what it has executed, or is known to
// execute, and V has not been charged with yet. Its next operation stands at the end of what it owes:
//
//      V                    V + owed
//      |--------------------|........?      owed grows while it really runs (measured),
//      ^ charged up to here ^ operation     or is known at once (recorded, modelled, zero)
//
// A board is a virtual CPU too. Its clock runs elsewhere: from when it was let go its time grows with the wall clock,
// as far as is certain, until a request tells how much it executed:
//
//      V              V + (now − left − the way back and forth)
//      |..............|- - - - - - -?      dots: certainly executed      ? its next request
//
// V moves only from event to event: an operation of the selected program, the wake of a waiting one, the end of a
// slice. A preemption falls on the wake to the nanosecond; what the program really executed beyond it is still owed and
// delays its own next operation, nobody else's. So a run depends on each program's durations and on nothing else, and
// durations replayed give the run again.
//
// The order between CPUs needs one fact: `bound` of a CPU, the earliest time at which it can still act. What one CPU
// does at t shows to the others after t (one nanosecond of lookahead). Therefore:
//
//      read or receive at t           when every other bound ≥ t
//      step of the world to b         when every bound ≥ b; before operations at b, after those earlier
//      a call of the system at t      the same, and in the order of the CPUs where several are at t (strict)
//      anything else on a CPU         at once, unless a message could still wake somebody on it: then as a read
//
// Promises: V never goes back. The CPU with the least bound can always act or be run: there is no deadlock.
//           Running only the least and only as far as budget() says keeps Δ ≤ max(quantum, step) + overrun.
// Requires: every event returned by next() is answered before next() is called again, see Event.
// Threads:  owner thread.
// Cost:     O(CPUs + programs of the CPU that changed); no allocation after set-up, but when a board joins,
//           while turns() is cleared often enough.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "programs/policy.hpp"
#include "programs/turn.hpp"

namespace isochron::programs {

class Timeline {
 public:
  struct Place {
    std::uint32_t cpu = 0;
    int priority = 0;
    bool metered = false;      // its durations are found by running it (measured)
    std::uint32_t links = 1;   // threads of it that may wait, to begin with
    std::uint32_t member = 0;  // its number among the programs of its robot, for the policy
    bool whole = false;        // what it owes is executed already: its activations are executed in one piece
    bool told = false;         // its durations are told by a board
    bool held = true;          // a board whose answers are held back; else nobody waits for it
  };
  struct Options {
    SimTime start;
    SimTime until = SimTime::never();
    SimSpan step = std::chrono::milliseconds(10);
    SimSpan quantum = std::chrono::milliseconds(1);
  };
  struct Event {
    enum class Kind : std::uint8_t {
      step,       // advance the world to `at`, then stepped()
      operation,  // what `program` asked for happens at `at`; then resume(), suspend() or leave()
      wake,       // `link` of `program` goes on at `at`; nothing to answer
      run,        // let `program` really execute for `budget`; then executed() and perhaps arrived()
      arrive,     // nothing to do before `program` asks for its next operation; then arrived()
      listen,     // the same for a board, which comes so far at `until` if it asks for nothing before
      stalled,    // nothing to do before stalled_until() or recovered() of `program`
      finished,   // the world has come to `until`
    };
    Kind kind = Kind::finished;
    std::uint32_t program = 0;
    std::uint32_t link = 0;
    SimTime at;
    SimSpan budget;
    WallTime until = WallTime::never();
    bool others_run = false;  // wake: other threads of the program compute already
  };

  Timeline(std::vector<std::unique_ptr<Policy>> cpus, std::vector<Place> programs, Options options);

  /// `now`: of the wall clock, by which boards go; every request of theirs that came before it was told.
  Event next(WallTime now = WallTime::zero());
  /// After a run event: the other programs that may really execute at the same time, the one that came least far first,
  /// each as far as the same quantum allows.
  void beside(std::vector<Event>& found) const;

  /// The world has come to where the step event said.
  void stepped();
  /// The program has executed, or will execute, this much more before its next operation.
  void executed(std::uint32_t program, SimSpan more);
  /// Its next operation is known and stands at the end of what it owes. `ordered`: it reads or receives.
  /// `strict`: it sees what others do at the same time, too.
  void arrived(std::uint32_t program, bool ordered, bool strict = false);
  /// The operation is answered and the program computes on.
  void resume(std::uint32_t program);
  /// The operation put one link to sleep. `others_run`: other threads of the program compute on.
  void suspend(std::uint32_t program, std::uint32_t link, SimTime until, bool receiving, bool others_run,
               bool strict = false);
  /// A program joins while others run: it computes from now on, on the CPU of its place. Returns its number.
  std::uint32_t enter(const Place& place);
  /// The next number is nobody's.
  void skip_number();
  /// No thread of the program runs; it goes on when a link wakes. Its operation (the block) is thereby answered.
  void block(std::uint32_t program);
  /// Links of the program whose time has come do not go on yet. For replays, in which it is known when they did.
  void hold_wakes(std::uint32_t program, bool hold);
  /// A message reaches a receiving link at `at`.
  void message(std::uint32_t program, std::uint32_t link, SimTime at);
  /// The program is stuck in a call that we do not mediate. Its time is at least `floor`; never() = it costs nothing.
  void stall(std::uint32_t program, SimTime floor);
  void stalled_until(std::uint32_t program, SimTime floor);
  /// It goes on, at `at` or as soon as the order allows; returns the time.
  SimTime recovered(std::uint32_t program, SimTime at);
  void leave(std::uint32_t program);

  // Boards. Each thread of one is a program on a CPU of its own, since its threads run on its own hardware.

  /// A new one, which is let go by a wake at `at`, or as early as the order allows.
  std::uint32_t join(SimTime at, bool held);
  /// Its answer left at `left`; a request may be under way for `on_the_way` and say that it executed for less.
  void let_go(std::uint32_t program, WallTime left, WallSpan on_the_way);
  /// It executed for so long when it asked; returns the time of its operation, which is later where that has passed.
  SimTime asked(std::uint32_t program, SimSpan executed, bool ordered);
  /// Its connection is gone: its time stands, and the world waits, until recovered().
  void lose(std::uint32_t program);
  /// The turns that ended since they were cleared, in the order of their ends on each CPU. Whoever wants none clears
  /// them all the same.
  [[nodiscard]] std::vector<Turn>& turns() { return turns_; }
  /// Ends every turn that goes on: the run is over.
  void end_turns();

  [[nodiscard]] SimTime world() const { return world_; }
  /// Where the next step of the world ends.
  [[nodiscard]] SimTime boundary() const { return std::min(world_ + options_.step, options_.until); }
  /// The first end of a step at or after t.
  [[nodiscard]] SimTime boundary_after(SimTime t) const;
  [[nodiscard]] SimTime cpu_time(std::uint32_t cpu) const { return cpus_[cpu].now; }
  [[nodiscard]] std::uint32_t cpu_of(std::uint32_t program) const { return programs_[program].place.cpu; }
  /// Charged and owed: where a program's own clock stands.
  [[nodiscard]] SimTime program_time(std::uint32_t program) const;
  /// How far a CPU has really come, for Δ: executed, or waited along with the others.
  [[nodiscard]] SimTime progress(std::uint32_t cpu) const;
  /// The latest time that anybody relied on: nothing happens before it any more.
  [[nodiscard]] SimTime seen() const { return seen_; }
  /// The earliest time at which anybody can still act.
  [[nodiscard]] SimTime front() const;
  /// Charged and owed.
  [[nodiscard]] SimSpan executed_by(std::uint32_t program) const {
    return programs_[program].charged + programs_[program].owed;
  }
  [[nodiscard]] bool computing(std::uint32_t program) const;
  [[nodiscard]] bool stalled(std::uint32_t program) const { return programs_[program].state == State::stalled; }
  [[nodiscard]] bool any_link_waits(std::uint32_t program) const;
  [[nodiscard]] bool receiving(std::uint32_t program, std::uint32_t link) const {
    return link < programs_[program].links.size() && programs_[program].links[link].receiving;
  }
  /// "computing at 3.2ms", "waiting until 10ms": for a report.
  [[nodiscard]] std::string describe(std::uint32_t program) const;
  [[nodiscard]] bool gone(std::uint32_t program) const { return programs_[program].state == State::gone; }
  [[nodiscard]] std::uint64_t preemptions(std::uint32_t program) const { return programs_[program].preemptions; }
  [[nodiscard]] std::size_t cpus() const { return cpus_.size(); }
  [[nodiscard]] std::size_t programs() const { return programs_.size(); }

 private:
  enum class State : std::uint8_t { computing, asking, waiting, stalled, gone };
  struct Link {
    SimTime wake = SimTime::never();
    bool waiting = false;
    bool receiving = false;
    bool strict = false;
    bool woken = false;  // its time has come; it goes on when its program is selected
  };
  struct Program {
    Place place;
    State state = State::computing;
    SimSpan owed;
    SimSpan charged;
    SimTime ready_since;
    SimTime core_wanted;  // since when it is ready and does not have the core
    std::uint64_t queued = 0;
    SimTime stall_floor = SimTime::never();
    bool ordered = false;
    bool strict = false;
    bool hold = false;                     // links that woke
    SimTime next_wake = SimTime::never();  // the earliest of its links
    std::uint32_t receiving = 0;
    std::uint32_t woken = 0;
    std::uint64_t preemptions = 0;
    WallTime left = WallTime::never();  // a board: when it was let go
    WallSpan on_the_way;
    std::vector<Link> links;
  };
  struct Cpu {
    std::unique_ptr<Policy> policy;
    std::vector<std::uint32_t> programs;
    SimTime now;
    SimTime slice_end = SimTime::never();
    std::uint32_t selected = none;
    SimTime selected_at;
    std::uint64_t queue = 0;  // places in the queue that were given out
  };
  /// What a CPU does next, as far as it is known.
  struct Look {
    SimTime at = SimTime::never();  // the bound
    Event::Kind kind = Event::Kind::finished;
    bool wakes = false;    // the time of a waiting link comes
    bool slice = false;    // the policy is to be asked again
    bool exact = false;    // it happens at `at`; otherwise not before
    bool ordered = false;  // only when nobody else can act before `at`
    bool strict = false;   // and none of the CPUs before this one at `at`
    std::uint32_t program = none;
    std::uint32_t link = 0;
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] bool ready(const Program& p) const;
  static void find_next_wake(Program& p);
  [[nodiscard]] SimTime earliest_wake(const Cpu& cpu) const;
  [[nodiscard]] bool receives(const Cpu& cpu) const;
  [[nodiscard]] Look look_at(const Cpu& cpu) const;
  void refresh();
  [[nodiscard]] SimTime bound_of_others(std::uint32_t cpu) const;
  [[nodiscard]] SimTime board_bound(const Cpu& cpu, const Program& p) const;
  [[nodiscard]] WallTime reaches(std::uint32_t cpu, SimTime t) const;
  [[nodiscard]] std::optional<Event> run_meanwhile();
  [[nodiscard]] Event listen_to_boards() const;
  [[nodiscard]] bool enabled(std::uint32_t cpu) const;
  /// Performs the look of a CPU; true if there is an event to tell.
  bool perform(std::uint32_t cpu, Event& event);
  [[nodiscard]] SimSpan budget(std::uint32_t cpu) const;
  void advance(Cpu& cpu, SimTime to);
  void wake_links(Cpu& cpu);
  void pick(Cpu& cpu);
  void end_turn(Cpu& cpu, std::uint32_t next);
  void touch(std::uint32_t program) { dirty_[programs_[program].place.cpu] = true; }

  Options options_;
  std::vector<Cpu> cpus_;
  std::vector<Program> programs_;
  SimTime world_;
  SimTime seen_;  // the latest time that a read, receive or step relied on
  std::vector<Look> looks_;
  std::vector<char> dirty_;
  std::uint32_t least_ = 0;
  std::uint32_t running_ = none;     // the CPU of the last run event
  std::vector<std::uint32_t> told_;  // the CPUs of boards
  WallTime now_ = WallTime::zero();
  SimTime second_ = SimTime::never();
  std::vector<Candidate> candidates_;
  std::vector<Turn> turns_;
};

}  // namespace isochron::programs
