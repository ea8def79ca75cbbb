#pragma once
// The scheduler for the robot: every task in a real-time thread of its own, released at its ticks (see scheduler.hpp).
//
//     BarrierScheduler<Context> scheduler(master, {{&estimator, 1}, {&controller, 6}}, OnOverrun::skip_task_tick);
//     while (period.wait(), running) scheduler.tick();
//
// Promises: as scheduler.hpp; tick() itself waits for a task only with OnOverrun::busy_wait.
// Threads:  tick() from one thread, which owns the master context.
// Cost:     tick() makes one system call for each task that it releases; allocates at set-up. busy_wait spins for a
//           moment and then sleeps, so that it cannot starve a task that shares its core.
// Fails:    missing privileges as Thread: see weaker(). The destructor waits for tasks that still execute.
//
// Why it is right. released and done count a task's executions; only the scheduler writes the one, only the task's
// thread the other. The scheduler touches the task's copies only while done == released, which it reads with acquire
// after the task stored it with release at the end of execute(); the task starts after an acquire load of the new
// `released`.

#include <memory>

#include "rt/scheduler.hpp"
#include "rt/thread.hpp"

namespace isochron::rt {

template <class Context>
class BarrierScheduler final : public Scheduler<Context> {
 public:
  BarrierScheduler(Context& master, std::vector<ScheduledTask<Context>> tasks, OnOverrun on_overrun)
      : Scheduler<Context>(master, std::move(tasks), on_overrun) {
    for (const auto& t : this->tasks()) {
      auto worker = std::make_unique<Worker>();
      worker->thread = Thread(t.thread, [w = worker.get(), task = t.task] { w->run(*task); });
      for (const Weaker& weaker : worker->thread.weaker()) weaker_.push_back(weaker);
      workers_.push_back(std::move(worker));
    }
    for (auto& w : workers_) wait_while(w->done, not_ready);
  }

  [[nodiscard]] const std::vector<Weaker>& weaker() const { return weaker_; }

 private:
  static constexpr std::uint32_t not_ready = 0xffffffff;
  static constexpr std::uint32_t last = 0xfffffffe;

  struct Worker {
    alignas(no_sharing) FutexWord released{0};
    alignas(no_sharing) FutexWord done{not_ready};
    Thread thread;  // last: it ends before the words do

    ~Worker() { release(last); }

    void release(std::uint32_t count) {
      released.store(count, std::memory_order_release);
      futex_wake(released);
    }
    void finish(std::uint32_t count) {
      done.store(count, std::memory_order_release);
      futex_wake(done);
    }
    void run(Task<Context>& task) {
      task.initialize();
      std::uint32_t count = 0;
      for (finish(count); (count = wait_while(released, count)) != last; finish(count)) task.execute();
    }
  };

  bool idle(std::size_t i) override {
    return workers_[i]->done.load(std::memory_order_acquire) == workers_[i]->released.load(std::memory_order_relaxed);
  }
  void wait_for(std::size_t i) override {
    const std::uint32_t wanted = workers_[i]->released.load(std::memory_order_relaxed);
    std::uint32_t seen = workers_[i]->done.load(std::memory_order_acquire);
    while (seen != wanted) seen = wait_while(workers_[i]->done, seen, 2000);
  }
  void release(std::size_t i) override {
    const std::uint32_t next = workers_[i]->released.load(std::memory_order_relaxed) + 1;
    workers_[i]->release(next == last ? 0 : next);
  }

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Weaker> weaker_;
};

}  // namespace isochron::rt
