#pragma once
// The simulated machine: a clock that only moves when nothing is left to do now, and a queue of what is to happen when.
// Among things due at the same moment the seed picks the order, so that code which relies on luck meets bad luck too.
// Everything that is random draws from streams of this seed, and only one piece of code runs at a time, hence:
//
// Promises: one seed gives one history (see History::digest), on every machine and under any load.
//           now() never goes back; an event runs at exactly its time.
// Threads:  owner thread. A task has a thread of its own, but holds the only baton while it runs.
// Cost:     ~0.3 µs an event; a switch to a task and back costs two thread wake-ups.
//
// Two ways to live in it: as callbacks (SimulatedReactor, at()), or as a task, a plain function that sleeps on clock().

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "core/time.hpp"
#include "testing/history.hpp"

namespace isochron {

class Scheduler;

/// The clock to hand to production code. A task that sleeps lets others run; outside of tasks, sleeping runs the world
/// up to that time. Sleeping inside a callback aborts: on the real reactor it would hold up everybody.
class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(Scheduler& scheduler) : scheduler_(scheduler) {}
  [[nodiscard]] WallTime now() override;
  void sleep_until(WallTime t) override;

 private:
  Scheduler& scheduler_;
};

class Scheduler {
 public:
  using EventId = std::uint64_t;

  explicit Scheduler(std::uint64_t seed);
  /// Tasks that still sleep are unwound (their destructors run).
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  [[nodiscard]] WallTime now() const { return now_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] SimulatedClock& clock() { return clock_; }
  [[nodiscard]] History& history() { return history_; }
  /// A stream of chance of its own for each name.
  [[nodiscard]] RandomStream random(std::string_view name) const { return {seed_, name}; }

  /// Calls `what` at t, or now if t has passed.
  EventId at(WallTime t, std::function<void()> what);
  EventId after(WallSpan delay, std::function<void()> what) { return at(now_ + delay, std::move(what)); }
  /// Harmless for an event that has run.
  void cancel(EventId event);

  /// Starts a task: `body` runs on a stack of its own from now on, and shares the machine by sleeping on clock().
  void spawn(std::string name, std::function<void()> body);

  /// Sleeps until t, or until it is woken: `give` is told how, before the sleep begins. Outside of tasks the world runs
  /// meanwhile.
  void sleep_until(WallTime t, const std::function<void(std::function<void()> wake)>& give);

  /// Runs the next event; false when there is none.
  bool step();
  /// Runs everything that is due up to and including t; afterwards now() == t.
  void run_until(WallTime t);
  void run_for(WallSpan span) { run_until(now_ + span); }
  /// Runs until `done` holds, at most for `limit`; says whether it does.
  bool run_until(const std::function<bool()>& done, WallSpan limit);
  [[nodiscard]] bool idle() const { return queue_.empty(); }

 private:
  friend class SimulatedClock;
  class Task;
  struct Key {
    WallTime time;
    std::uint64_t luck;  // the seed's order among equal times
    EventId id;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  void resume(Task* task);
  void sleep_until(WallTime t);

  std::uint64_t seed_;
  RandomStream luck_;
  WallTime now_ = WallTime::zero();
  EventId last_id_ = 0;
  std::map<Key, std::function<void()>> queue_;
  std::unordered_map<EventId, Key> keys_;  // only for cancel()
  bool in_event_ = false;
  Task* running_ = nullptr;
  std::vector<std::unique_ptr<Task>> tasks_;
  SimulatedClock clock_{*this};
  History history_;
};

}  // namespace isochron
