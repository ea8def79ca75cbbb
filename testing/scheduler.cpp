#include "testing/scheduler.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace isochron {
namespace {

/// Unwinds a task whose world ends. Never leaves its thread.
struct WorldEnded {};

/// Who may run: handed over, never shared.
class Baton {
 public:
  void give() {
    const std::lock_guard lock(mutex_);
    here_ = true;
    changed_.notify_one();
  }
  void await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return here_; });
    here_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool here_ = false;
};

}  // namespace

class Scheduler::Task {
 public:
  Task(std::string name, std::function<void()> body) : name_(std::move(name)), body_(std::move(body)) {}
  ~Task() {
    if (!thread_.joinable()) return;
    if (!finished_) ending_ = true, resume();
    thread_.join();
  }
  /// Lets it run until it sleeps or ends.
  void resume() {
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { main(); });
    } else {
      mine_.give();
    }
    schedulers_.await();
  }
  /// In the task: lets the scheduler go on until resumed.
  void yield() {
    schedulers_.give();
    mine_.await();
    if (ending_) throw WorldEnded{};
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void main() {
    try {
      body_();
    } catch (const WorldEnded&) {
    }
    finished_ = true;
    schedulers_.give();
  }
  std::string name_;
  std::function<void()> body_;
  std::thread thread_;
  Baton mine_, schedulers_;
  bool finished_ = false, ending_ = false;
};

WallTime SimulatedClock::now() { return scheduler_.now(); }
void SimulatedClock::sleep_until(WallTime t) { scheduler_.sleep_until(t); }

Scheduler::Scheduler(std::uint64_t seed) : seed_(seed), luck_(seed, "scheduler") {}
Scheduler::~Scheduler() {
  tasks_.clear();
  // One by one: a closure may own things that cancel other events as they go.
  while (!queue_.empty()) {
    const auto closure = queue_.extract(queue_.begin());
    keys_.erase(closure.key().id);
  }
}

Scheduler::EventId Scheduler::at(WallTime t, std::function<void()> what) {
  const Key key{std::max(t, now_), luck_.bits(), ++last_id_};
  queue_.emplace(key, std::move(what));
  keys_.emplace(key.id, key);
  return key.id;
}

void Scheduler::cancel(EventId event) {
  const auto found = keys_.find(event);
  if (found == keys_.end()) return;
  // The closure may own things that cancel events themselves: let it go only when the tables are whole again.
  const auto closure = queue_.extract(found->second);
  keys_.erase(found);
}

bool Scheduler::step() {
  ENSURE(!in_event_, "a callback must not run the world that runs it");
  if (queue_.empty() || queue_.begin()->first.time == WallTime::never()) return false;
  const auto event = queue_.extract(queue_.begin());
  keys_.erase(event.key().id);
  now_ = event.key().time;
  in_event_ = true;
  event.mapped()();
  in_event_ = false;
  return true;
}

void Scheduler::run_until(WallTime t) {
  while (!queue_.empty() && queue_.begin()->first.time <= t) step();
  now_ = std::max(now_, t);
}

bool Scheduler::run_until(const std::function<bool()>& done, WallSpan limit) {
  const WallTime last = now_ + limit;
  while (!done()) {
    if (queue_.empty() || queue_.begin()->first.time > last) return false;
    step();
  }
  return true;
}

void Scheduler::spawn(std::string name, std::function<void()> body) {
  tasks_.push_back(std::make_unique<Task>(std::move(name), std::move(body)));
  Task* task = tasks_.back().get();
  at(now_, [this, task] { resume(task); });
}

void Scheduler::resume(Task* task) {
  history_.note(now_, task->name());
  running_ = task;
  task->resume();
  running_ = nullptr;
}

void Scheduler::sleep_until(WallTime t, const std::function<void(std::function<void()> wake)>& give) {
  const auto woken = std::make_shared<bool>(false);  // shared with whoever may wake us, also when it is over
  if (running_ == nullptr) {
    ENSURE(!in_event_, "a callback must not sleep");
    give([woken] { *woken = true; });
    while (!*woken && !queue_.empty() && queue_.begin()->first.time <= t) step();
    if (!*woken) now_ = std::max(now_, t);
    *woken = true;
    return;
  }
  Task* task = running_;
  const EventId alarm = at(t, [this, task, woken] {
    *woken = true;
    resume(task);
  });
  give([this, task, woken, alarm] {
    if (std::exchange(*woken, true)) return;
    cancel(alarm);
    at(now_, [this, task] { resume(task); });
  });
  task->yield();
}

void Scheduler::sleep_until(WallTime t) {
  if (running_ == nullptr) {
    ENSURE(!in_event_, "a callback must not sleep");
    return run_until(t);
  }
  Task* task = running_;
  at(t, [this, task] { resume(task); });
  task->yield();
}

}  // namespace isochron
