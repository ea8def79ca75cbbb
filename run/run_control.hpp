#pragma once
// How a person, or a script, steers a run from outside: pause, go on, one step, another speed, a push on a body, a
// value for an actuator, a fault, a marker. The run looks at it before each step of its world, so that whatever is done
// is done between two steps, at a simulated time that the journal has.
//
// Promises: pausing and speed change when results are there, never what they are. Whatever changes the run is recorded
//           with the time at which it began.
// Threads:  any, except take(): the run's own thread.
// Cost:     without a wish hold() is three atomic loads and take() one.

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/time.hpp"
#include "scenario/mark.hpp"

namespace isochron {

class Journal;

class RunControl {
 public:
  void pause() { paused_.store(true, std::memory_order_relaxed); }
  void resume() { paused_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool paused() const { return paused_.load(std::memory_order_relaxed); }
  /// While paused: let so many steps happen. A step is all that happens up to the next time that somebody asks for.
  void step(int count) {
    standing_.store(false, std::memory_order_relaxed);
    steps_.fetch_add(count, std::memory_order_release);
  }
  /// Paused, with all steps done that were asked for.
  [[nodiscard]] bool standing() const {
    return steps_.load(std::memory_order_acquire) == 0 && standing_.load(std::memory_order_acquire);
  }
  /// Simulated seconds for each wall second; 0 = as fast as it goes.
  void set_speed(double factor);
  [[nodiscard]] double speed() const { return speed_.load(std::memory_order_relaxed); }

  /// At the next step, whenever that is.
  void ask(Mark mark);
  /// Before the run: at the step that begins at Mark::at, or the first after it. For a replay.
  void plan(std::vector<Mark> marks);

  /// Before the run: `then` is called once, on the run's own thread, at the step that begins at `at` or the first after
  /// it, before anything is done there; it may ask() for something. Worlds that are nodes of flows do not get there.
  void when_reached(SimTime at, std::function<void(Journal&)> then);
  /// By the run, before each step.
  void reached(SimTime now, Journal& journal) {
    if (now.ns() >= reach_ns_.load(std::memory_order_relaxed)) tell_reached(journal);
  }

  /// Whether hold() could hold anybody now.
  [[nodiscard]] bool wishes() const { return paused() || steps_.load(std::memory_order_relaxed) != 0 || speed() != 0; }
  /// Returns when simulated time `next` may be reached; at once when `stopping`.
  void hold(SimTime next, Clock& clock, const std::atomic<bool>& stopping);
  /// What was asked for since the last call, and what was planned up to `now`.
  std::vector<Mark> take(SimTime now);

  /// Nothing moves, and this is who waits for whom; "" when all is well.
  void stalled(std::string graph);
  [[nodiscard]] std::string stall() const;
  /// Who waited for whom a moment ago, while somebody looks at a run of nodes; "" where that is not known.
  void waiting(std::string graph);
  [[nodiscard]] std::string waits() const;

 private:
  void tell_reached(Journal& journal);
  /// Where the present speed began.
  struct Origin {
    SimTime sim;
    WallTime wall;
    std::uint64_t change;
  };
  bool use_step(SimTime next);
  /// When `next` may be reached at this speed.
  WallTime due_at(SimTime next, WallTime now, double speed);
  void forget_origin();

  std::atomic<bool> paused_{false};
  std::atomic<int> steps_{0};
  std::atomic<std::int64_t> granted_ns_{SimTime::before_all().ns()};  // by steps
  std::atomic<bool> standing_{false};
  std::atomic<double> speed_{0};
  std::atomic<std::uint64_t> change_{0};
  std::atomic<bool> asked_{false};
  bool stepped_ = false;  // the run's own
  mutable std::mutex lock_;
  std::optional<Origin> origin_;
  std::vector<Mark> marks_;
  std::vector<Mark> planned_;  // by time
  std::string stall_, waits_;
  std::atomic<std::int64_t> reach_ns_{SimTime::never().ns()};
  std::function<void(Journal&)> then_;
};

}  // namespace isochron
