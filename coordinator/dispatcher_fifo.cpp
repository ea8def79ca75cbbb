// The dispatcher of privileged runs. Blocking is noticed by a thread that is always runnable one level below the active
// program: it gets the core exactly when no thread of the program wants it, tells so once, and spins on. It must not
// sleep while programs wait at 70, or they would run.

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "coordinator/coordinator.hpp"
#include "coordinator/dispatcher.hpp"
#include "coordinator/futex.hpp"
#include "core/ensure.hpp"

namespace isochron::coordinator {

namespace {

constexpr int priority_coordinator = 90;
constexpr int priority_active = 80;
constexpr int priority_detector = 75;
constexpr int priority_waiting = 70;
constexpr CpuSpan turn_of_a_thread = std::chrono::milliseconds(1);
constexpr CpuSpan between_looks_for_threads = std::chrono::milliseconds(2);
constexpr WallSpan shortest_sleep = std::chrono::microseconds(5);

// Threads and processes that a program starts come without our priority, and are found by looking.
bool set_fifo(pid_t thread, int priority) {
  sched_param parameter{};
  parameter.sched_priority = priority;
  return sched_setscheduler(thread, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) == 0;
}

bool swap_priority(pid_t thread, int priority) {
  sched_param parameter{};
  parameter.sched_priority = priority;
  return sched_setparam(thread, &parameter) == 0;
}

void set_ordinary(pid_t thread) {
  const sched_param parameter{};
  sched_setscheduler(thread, SCHED_OTHER, &parameter);
}

void pin(pid_t thread, int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(thread, sizeof one, &one);
}

/// Gets the core only when no thread of the active program wants it.
class BlockDetector {
 public:
  BlockDetector(protocol::Bell& bell, int core) : bell_(bell) {
    thread_ = std::thread([this, core] { watch(core); });
    started_.wait(false, std::memory_order_acquire);  // asleep: it shares our core and starts below our priority
  }
  ~BlockDetector() {
    stop_.store(true, std::memory_order_release);
    thread_.join();
  }
  /// From now on one report, if the active program blocks.
  void arm() { armed_.store(++turn_, std::memory_order_release); }
  [[nodiscard]] bool fired() const { return fired_.load(std::memory_order_acquire) == turn_; }

 private:
  void watch(int core) {
    pin(0, core);
    set_fifo(0, priority_detector);
    started_.store(true, std::memory_order_release);
    started_.notify_one();
    std::uint32_t told = 0;
    while (!stop_.load(std::memory_order_acquire)) {
      const std::uint32_t armed = armed_.load(std::memory_order_acquire);
      if (armed != told) {
        told = armed;
        fired_.store(armed, std::memory_order_release);
        bell_.rings.fetch_add(1, std::memory_order_seq_cst);
        futex_wake(bell_.rings);
      }
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

  protocol::Bell& bell_;
  std::uint32_t turn_ = 0;
  std::atomic<std::uint32_t> armed_{0};
  std::atomic<std::uint32_t> fired_{0};
  std::atomic<bool> started_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class FifoDispatcher final : public Dispatcher {
 public:
  FifoDispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim) : bell_(bell), claim_(std::move(claim)) {
    sched_getaffinity(0, sizeof cores_, &cores_);
    pin(0, claim_->core());
    set_fifo(0, priority_coordinator);  // before the detector, which would never let us run again
    detector_ = std::make_unique<BlockDetector>(bell, claim_->core());
  }
  ~FifoDispatcher() override {
    for (std::size_t i = 0; i < programs_.size(); ++i) dismiss(i);
    detector_.reset();
    set_ordinary(0);
    sched_setaffinity(0, sizeof cores_, &cores_);
  }

  [[nodiscard]] std::string name() const override {
    return "real-time priorities (SCHED_FIFO) on core " + std::to_string(claim_->core()) +
           (claim_->alone() ? "" : ", shared with another coordinator");
  }
  [[nodiscard]] bool degraded() const override { return false; }
  [[nodiscard]] std::uint64_t switches() const override { return switches_; }

  std::size_t admit(Process& process, Channel& channel) override {
    programs_.push_back({&process, &channel, {}, 0, process.cpu_time(), CpuTime::zero()});
    adopt_threads(programs_.back(), priority_waiting);
    return programs_.size() - 1;
  }

  void send_away(Process& process) override {
    cpu_set_t others = cores_;
    CPU_CLR(claim_->core(), &others);
    if (CPU_COUNT(&others) == 0) return;
    for (const pid_t thread : process.threads()) sched_setaffinity(thread, sizeof others, &others);
  }

  // Each look at the CPU clock costs a good part of a microsecond; between two runs it stands still.
  Why run(std::size_t index, CpuSpan budget) override {
    const Why why = let_run(index, programs_[index].executed + budget);
    if (why != Why::used_up) programs_[index].executed = programs_[index].process->cpu_time();
    return why;
  }
  [[nodiscard]] CpuTime executed(std::size_t index) const override { return programs_[index].executed; }

  Why try_blocked(std::size_t index, WallSpan span) override {
    Program& p = programs_[index];
    const CpuTime before = p.process->cpu_time();
    activate(index);
    found_more_threads(p);
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    if (p.channel->asking()) return Why::asked;
    futex_wait_until(bell_.rings, rings, wall_now() + span);
    if (p.channel->asking()) return Why::asked;
    p.executed = p.process->cpu_time();
    return p.executed > before ? Why::used_up : Why::blocked;
  }

  void favour(std::size_t index, pid_t thread) override {
    Program& p = programs_[index];
    if (index != active_ || p.threads.size() < 2) return;
    for (const pid_t other : p.threads) {
      if (other != thread) to_the_end(other);
    }
  }

  void hold() override {
    if (active_ != nobody) set_all(programs_[active_], priority_waiting);
    active_ = nobody;
  }

  void dismiss(std::size_t index) override {
    Program& p = programs_[index];
    if (active_ == index) active_ = nobody;
    for (const pid_t thread : p.process->threads()) {
      set_ordinary(thread);
      sched_setaffinity(thread, sizeof cores_, &cores_);
    }
    p.threads.clear();
  }

 private:
  struct Program {
    Process* process;
    Channel* channel;
    std::vector<pid_t> threads;
    std::size_t first = 0;
    CpuTime executed;
    CpuTime look_for_threads;  // when to look for new ones
  };
  static constexpr std::size_t nobody = SIZE_MAX;

  Why let_run(std::size_t index, CpuTime target) {
    Program& p = programs_[index];
    activate(index);
    CpuTime turn = p.executed;
    WallSpan at_least = shortest_sleep;
    for (;;) {
      const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
      if (p.channel->asking()) return Why::asked;
      detector_->arm();
      CpuSpan left = target - p.executed;
      if (p.threads.size() > 1) left = std::min(left, turn_of_a_thread);
      futex_wait_until(bell_.rings, rings, wall_now() + std::max(WallSpan::from_ns(left.ns()), at_least));
      if (p.channel->asking()) return Why::asked;
      if (detector_->fired() && !found_more_threads(p)) return Why::blocked;
      const CpuTime before = p.executed;
      p.executed = p.process->cpu_time();
      if (p.executed >= target) return used_up(p);
      // A deadline that passes before we sleep would let nobody run: each time it did, allow for more.
      at_least = p.executed == before ? at_least * 2 : shortest_sleep;
      if (p.threads.size() > 1 && p.executed - turn >= turn_of_a_thread) {
        take_turns(p);
        turn = p.executed;
      }
    }
  }

  void adopt_threads(Program& p, int priority) {
    p.threads = p.process->threads();
    for (const pid_t thread : p.threads) {
      pin(thread, claim_->core());
      set_fifo(thread, priority);
    }
  }

  void set_all(Program& p, int priority) {
    for (const pid_t thread : p.threads) {
      if (!swap_priority(thread, priority)) return adopt_threads(p, priority);  // one of them is gone: look again
    }
  }

  Why used_up(Program& p) {
    p.process->renew(p.executed);
    if (p.threads.size() > 1) take_turns(p);
    return Why::used_up;
  }

  void activate(std::size_t index) {
    Program& p = programs_[index];
    // A new thread is looked for now and then; when the others wait for it, the detector finds it at once.
    if (p.executed >= p.look_for_threads) {
      p.look_for_threads = p.executed + between_looks_for_threads;
      if (p.process->thread_count() != p.threads.size()) {
        adopt_threads(p, index == active_ ? priority_active : priority_waiting);
      }
    }
    if (index == active_) return;
    if (active_ != nobody) set_all(programs_[active_], priority_waiting);
    set_all(p, priority_active);
    active_ = index;
    ++switches_;
  }

  /// The detector fires too when the threads that we know wait for one that we do not know yet.
  bool found_more_threads(Program& p) {
    std::vector<pid_t> now = p.process->threads();
    std::sort(now.begin(), now.end());
    std::sort(p.threads.begin(), p.threads.end());
    if (std::includes(p.threads.begin(), p.threads.end(), now.begin(), now.end())) return false;
    adopt_threads(p, priority_active);
    return true;
  }

  /// Behind its siblings in the queue of equal priority.
  static void to_the_end(pid_t thread) {
    swap_priority(thread, priority_waiting);
    swap_priority(thread, priority_active);
  }

  /// A thread that spins would starve its siblings of equal priority: after each turn another one goes first.
  static void take_turns(Program& p) {
    p.first = (p.first + 1) % p.threads.size();
    to_the_end(p.threads[p.first]);
  }

  protocol::Bell& bell_;
  std::unique_ptr<CoreClaim> claim_;
  cpu_set_t cores_{};
  std::unique_ptr<BlockDetector> detector_;
  std::vector<Program> programs_;
  std::size_t active_ = nobody;
  std::uint64_t switches_ = 0;
};

}  // namespace

std::string missing_privileges() {
  std::string why;
  std::thread([&] {
    if (set_fifo(0, priority_coordinator)) return;
    why = std::string("real-time priorities are not allowed (") + std::strerror(errno) + ")";
  }).join();
  return why;
}

std::unique_ptr<Dispatcher> make_fifo_dispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim) {
  return std::make_unique<FifoDispatcher>(bell, std::move(claim));
}

}  // namespace isochron::coordinator
