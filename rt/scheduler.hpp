#pragma once
// Tasks at integer divisors of a master tick. Between ticks a task works on its own copy of what it needs; at its
// ticks, while it stands at the barrier, its results go to the master context and fresh inputs come back. What a task
// computes therefore depends on tick numbers only, never on how long it or any other task took: results of a task
// released at tick k are in the master context from tick k + divisor on, not before.
//
//     tick          0     1     2     3     4     5     6
//     sensors /1    ▐█    ▐█    ▐█    ▐█    ▐█    ▐█    ▐█        ▐ barrier: copy_out, then copy_in
//     control /3    ▐████████           ▐██████████      ▐██       █ execute
//
// There are two schedulers with this interface: BarrierScheduler (a real-time thread for each task) for the robot, and
// SteppedScheduler (all in the caller's thread) for simulation. As long as no task overruns, both give the same
// results.
//
// Threads: copy_in and copy_out run in the scheduler's thread while the task is idle; initialize and execute in its
// own. Fails:   a task still executing at its next tick has overrun: OnOverrun says what gives way, and it is counted.

#include <cstdint>
#include <string>
#include <vector>

#include "rt/ensure.hpp"
#include "rt/thread_settings.hpp"

namespace isochron::rt {

template <class Context>
class Task {
 public:
  virtual ~Task() = default;
  /// Once, before the first tick.
  virtual void initialize() {}
  /// Takes what the task needs out of the master context.
  virtual void copy_in(const Context& master) = 0;
  /// The work, on the task's own copies only.
  virtual void execute() = 0;
  /// Puts the results of the last execute() into the master context.
  virtual void copy_out(Context& master) = 0;
};

enum class OnOverrun {
  busy_wait,            // the tick waits until the task is done: all keep their order, the tick is late
  skip_task_tick,       // the late task misses this tick, and the others go on
  skip_scheduler_tick,  // the whole tick is not made: all keep their phase to each other
};

template <class Context>
struct ScheduledTask {
  Task<Context>* task = nullptr;
  int divisor = 1;             // executed at every divisor-th tick
  ThreadSettings thread = {};  // BarrierScheduler only
};

/// What both schedulers share: the order of a tick.
template <class Context>
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// One tick. False: it was skipped, and will be made by the next call.
  bool tick() {
    if (skips_tick()) return false;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      due_[i] = is_due(i) && at_barrier(i);
      if (due_[i] && executed_[i]) tasks_[i].task->copy_out(master_);
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!due_[i]) continue;
      tasks_[i].task->copy_in(master_);
      executed_[i] = true;
      release(i);
    }
    ++ticks_;
    return true;
  }

  /// Ticks made.
  [[nodiscard]] std::uint64_t ticks() const { return ticks_; }
  /// Ticks not made because of an overrun (skip_scheduler_tick).
  [[nodiscard]] std::uint64_t skipped_ticks() const { return skipped_ticks_; }
  /// How often this task was still executing when its tick came.
  [[nodiscard]] std::uint64_t overruns(std::size_t task) const { return overruns_.at(task); }

 protected:
  Scheduler(Context& master, std::vector<ScheduledTask<Context>> tasks, OnOverrun on_overrun)
      : master_(master),
        tasks_(std::move(tasks)),
        on_overrun_(on_overrun),
        due_(tasks_.size()),
        executed_(tasks_.size()),
        overruns_(tasks_.size()) {
    for (const auto& t : tasks_) RT_ENSURE(t.task != nullptr && t.divisor > 0, "a task and a divisor above zero");
  }

  [[nodiscard]] const std::vector<ScheduledTask<Context>>& tasks() const { return tasks_; }
  [[nodiscard]] virtual bool idle(std::size_t task) = 0;
  virtual void wait_for(std::size_t task) = 0;
  virtual void release(std::size_t task) = 0;

 private:
  [[nodiscard]] bool is_due(std::size_t i) const { return ticks_ % static_cast<std::uint64_t>(tasks_[i].divisor) == 0; }

  bool skips_tick() {
    if (on_overrun_ != OnOverrun::skip_scheduler_tick) return false;
    bool skips = false;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!is_due(i) || idle(i)) continue;
      ++overruns_[i];
      skips = true;
    }
    if (skips) ++skipped_ticks_;
    return skips;
  }

  bool at_barrier(std::size_t i) {
    if (idle(i)) return true;
    ++overruns_[i];
    if (on_overrun_ == OnOverrun::skip_task_tick) return false;
    wait_for(i);
    return true;
  }

  Context& master_;
  std::vector<ScheduledTask<Context>> tasks_;
  OnOverrun on_overrun_;
  std::vector<char> due_, executed_;
  std::vector<std::uint64_t> overruns_;
  std::uint64_t ticks_ = 0;
  std::uint64_t skipped_ticks_ = 0;
};

/// The single-threaded twin: each task executes inside tick(), and its results wait for its next tick all the same.
template <class Context>
class SteppedScheduler final : public Scheduler<Context> {
 public:
  SteppedScheduler(Context& master, std::vector<ScheduledTask<Context>> tasks)
      : Scheduler<Context>(master, std::move(tasks), OnOverrun::busy_wait) {
    for (const auto& t : this->tasks()) t.task->initialize();
  }

 private:
  bool idle(std::size_t) override { return true; }
  void wait_for(std::size_t) override {}
  void release(std::size_t i) override { this->tasks()[i].task->execute(); }
};

}  // namespace isochron::rt
