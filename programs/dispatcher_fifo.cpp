// The dispatcher of privileged runs. Blocking is noticed by a thread that is always runnable one level below the active
// program: it gets the core exactly when no thread of the program wants it, tells so once, and spins on. It must not
// sleep while programs wait at 70, or they would run.
//
// Among the threads of the active program:
//
//   82, 84, 86, 88   those that gave themselves a real-time priority, in their order
//   80               the others
//   78               those that made themselves nice
//
// The one that was answered or woken last is one level above its kind: on the robot it would have gone on, or would
// preempt its equals. After a turn of a millisecond it goes behind them. A program that is spread over several cores
// has windows instead of turns; see spread.hpp.

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "core/ensure.hpp"
#include "programs/coordinator.hpp"
#include "programs/dispatcher.hpp"
#include "programs/futex.hpp"
#include "programs/process_stat.hpp"
#include "programs/thread_meter.hpp"

namespace isochron::programs {

namespace {

constexpr int priority_coordinator = 90;
constexpr int priority_active = 80;
constexpr int priority_nice = 78;
constexpr int priority_urgent_most = 88;
constexpr int priority_detector = 75;
constexpr int priority_waiting = 70;
constexpr CpuSpan turn_of_a_thread = std::chrono::milliseconds(1);
constexpr CpuSpan between_looks_for_threads = std::chrono::milliseconds(2);
constexpr WallSpan shortest_sleep = std::chrono::microseconds(5);
constexpr WallSpan longest_sleep = std::chrono::milliseconds(1);
constexpr CpuSpan furthest_behind = std::chrono::milliseconds(10);
constexpr WallSpan look_while_resting = std::chrono::microseconds(100);

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

bool wants_a_core(pid_t process, pid_t thread) {
  const auto stat = stat_of(std::to_string(process) + "/task/" + std::to_string(thread));
  return stat && stat->state == 'R';
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
    wake();
    thread_.join();
  }
  /// From now on one report, if the active program blocks.
  void arm() {
    armed_.store(++turn_, std::memory_order_release);
    wake();
  }
  /// Until it is armed again it leaves the core to whoever wants it.
  void rest() { resting_.store(true, std::memory_order_release); }
  [[nodiscard]] bool fired() const { return fired_.load(std::memory_order_acquire) == turn_; }

 private:
  void wake() {
    if (!resting_.load(std::memory_order_acquire)) return;
    resting_.store(false, std::memory_order_release);
    resting_.notify_one();
  }
  void watch(int core) {
    pin(0, core);
    set_fifo(0, priority_detector);
    started_.store(true, std::memory_order_release);
    started_.notify_one();
    std::uint32_t told = 0;
    while (!stop_.load(std::memory_order_acquire)) {
      resting_.wait(true, std::memory_order_acquire);
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
  std::atomic<bool> resting_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class FifoDispatcher final : public Dispatcher {
 public:
  FifoDispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim, SecondTimer& second)
      : bell_(bell), claim_(std::move(claim)), second_(second) {
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

  std::size_t admit(Process& process, Channel& channel, Spread* spread, std::size_t part) override {
    Program& p = programs_.emplace_back();
    p.process = &process;
    p.channel = &channel;
    p.spread = spread;
    p.part = part;
    p.executed = process.cpu_time();
    adopt_threads(p, false);
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
    if (programs_[index].spread != nullptr) return run_part(index, budget);
    const Why why = let_run(index, programs_[index].executed + budget);
    if (why != Why::used_up) programs_[index].executed = programs_[index].process->cpu_time();
    return why;
  }
  [[nodiscard]] CpuTime executed(std::size_t index) const override { return programs_[index].executed; }
  [[nodiscard]] WallSpan late() const override { return late_; }
  [[nodiscard]] Load load(std::size_t index) const override { return programs_[index].load; }
  void deal_again(std::size_t index) override {
    programs_[index].of_process = 0;
    programs_[index].look_for_threads = CpuTime::zero();
  }

  Why try_blocked(std::size_t index, WallSpan span) override {
    Program& p = programs_[index];
    if (p.spread != nullptr) {
      begin_window(p);
    } else {
      p.executed = p.process->cpu_time();
    }
    const CpuTime before = p.executed;
    activate(index);
    found_more_threads(p);
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    if (p.channel->asking()) return Why::asked;
    futex_wait_until(bell_.rings, rings, wall_now() + span);
    if (p.spread != nullptr) {
      p.executed += look(p, CpuSpan::max()).span();
    } else {
      p.executed = p.process->cpu_time();
    }
    if (p.channel->asking()) return Why::asked;
    return p.executed > before ? Why::used_up : Why::blocked;
  }

  void favour(std::size_t index, pid_t thread) override {
    Program& p = programs_[index];
    if (p.threads.size() < 2 || p.lead == thread) return;
    const pid_t before = std::exchange(p.lead, thread);
    if (index != active_) return;
    for (const Thread& other : p.threads) {
      if (other.id == before || other.id == thread) swap_priority(other.id, priority_of(p, other));
    }
  }

  void hold() override {
    if (active_ != nobody) set_all(programs_[active_], false);
    active_ = nobody;
  }
  void rest() override {
    hold();
    detector_->rest();
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
  struct Thread {
    Thread(pid_t process, pid_t thread) : id(thread), metered(process, thread) {}
    pid_t id;
    int level = priority_active;  // its priority while its program is active
    MeteredThread metered;        // since the start of the turn
    bool resting = false;         // of a spread program: it used up the window
    CpuSpan behind;               // of a spread program: what it may execute before its siblings' time is its own
    [[nodiscard]] CpuSpan counted() const { return std::max(metered.newest - metered.from - behind, CpuSpan::zero()); }
  };
  struct Program {
    Process* process = nullptr;
    Channel* channel = nullptr;
    Spread* spread = nullptr;
    std::size_t part = 0;
    std::vector<Thread> threads;
    std::size_t of_process = 0;  // threads, of all parts, when they were last looked for
    pid_t lead = 0;              // goes before its equals
    std::uint32_t urgencies_seen = 0;
    Load load;
    CpuTime executed;
    CpuTime look_for_threads;  // when to look for new ones
  };
  static constexpr std::size_t nobody = SIZE_MAX;

  /// While a program executes.
  void sleep_until(WallTime deadline, std::uint32_t rings) {
    second_.expect(deadline);
    futex_wait_until(bell_.rings, rings, deadline);
    second_.met();
    late_ = std::max(wall_now() - deadline, WallSpan::zero());
  }

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
      sleep_until(wall_now() + std::max(WallSpan::from_ns(left.ns()), at_least), rings);
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

  void begin_window(Program& p) {
    for (Thread& thread : p.threads) {
      thread.metered.start();
      if (std::exchange(thread.resting, false)) swap_priority(thread.id, priority_of(p, thread));
    }
  }

  /// What this part executed in its window. Threads that used it up rest.
  static Makespan look(Program& p, CpuSpan budget) {
    Makespan all{p.spread->cores(p.part), {}, {}};
    for (Thread& thread : p.threads) {
      thread.metered.look();
      all.add(thread.counted());
      if (thread.counted() >= budget) rest(p, thread);
    }
    if (all.sum >= budget * static_cast<std::int64_t>(all.cores)) {
      for (Thread& thread : p.threads) rest(p, thread);
    }
    return all;
  }

  static void rest(Program& p, Thread& thread) {
    if (std::exchange(thread.resting, true)) return;
    if (p.lead == thread.id) p.lead = 0;
    swap_priority(thread.id, priority_waiting);
    p.spread->used_up();
  }

  /// Who wanted to go on when the window was ended, and has not come as far as the others, may still do so.
  static void catch_up_later(Program& p, CpuSpan window) {
    for (Thread& thread : p.threads) {
      const CpuSpan behind = thread.behind - (thread.metered.newest - thread.metered.from) + window;
      const bool short_of_it = thread.counted() < window && wants_a_core(p.process->pid(), thread.id);
      thread.behind = short_of_it ? std::min(behind, furthest_behind) : CpuSpan::zero();
      if (short_of_it && thread.counted() < window / 2) p.load.crowded_out = thread.id;
    }
  }

  /// When the first of its threads has used up the window, if it executes from now on.
  static WallSpan until_one_rests(const Program& p, CpuSpan budget) {
    CpuSpan least = CpuSpan::max();
    for (const Thread& thread : p.threads) {
      if (!thread.resting) least = std::min(least, budget - thread.counted());
    }
    return std::clamp(WallSpan::from_ns(least.ns()), shortest_sleep, longest_sleep);
  }

  // A window of a part ends when its threads executed all that its cores have to give, when none of them wants to go
  // on, or when somebody ends it for all. Until then one that is blocked here may be woken from another lane.
  Why run_part(std::size_t index, CpuSpan budget) {
    Program& p = programs_[index];
    activate(index);
    begin_window(p);
    Makespan done{p.spread->cores(p.part), {}, {}};
    bool rests = false;
    WallSpan at_least = shortest_sleep;
    while (!p.spread->over()) {
      const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
      if (p.channel->asking()) break;
      if (!rests) detector_->arm();
      sleep_until(wall_now() + (rests ? look_while_resting : std::max(until_one_rests(p, budget), at_least)), rings);
      if (p.channel->asking()) break;
      const CpuSpan before = done.sum;
      done = look(p, budget);
      at_least = done.sum == before ? std::min(at_least * 2, longest_sleep) : shortest_sleep;
      const bool still = (rests ? done.sum == before : detector_->fired()) && !found_more_threads(p);
      if (still != rests) p.spread->rests(still);
      rests = still;
      if (rests && p.spread->all_rest() && !(p.spread->may_go_on() && p.process->runnable())) break;
    }
    p.spread->end();
    done = look(p, budget);
    p.executed += done.span();
    p.load = {rests && done.sum < budget * static_cast<std::int64_t>(done.cores) / 2, 0};
    catch_up_later(p, done.span());
    if (p.channel->asking()) return Why::asked;
    if (done.span() < budget) return Why::blocked;
    p.process->renew(p.process->cpu_time());
    return Why::used_up;
  }

  [[nodiscard]] static int priority_of(const Program& p, const Thread& thread) {
    return thread.level + (thread.id == p.lead ? 1 : 0);
  }

  /// Those of this part, the known ones with what they executed.
  static void find_threads(Program& p) {
    std::vector<Thread> known = std::exchange(p.threads, {});
    const std::vector<pid_t> there = p.process->threads();
    p.of_process = there.size();
    for (const pid_t id : there) {
      if (p.spread != nullptr && !p.spread->has(p.part, id)) continue;
      const auto at = std::find_if(known.begin(), known.end(), [id](const Thread& thread) { return thread.id == id; });
      if (at == known.end()) {
        p.threads.emplace_back(p.process->pid(), id);
      } else {
        p.threads.push_back(std::move(*at));
        at->id = 0;
      }
    }
    for (const Thread& thread : known) {
      const bool gone = std::find(there.begin(), there.end(), thread.id) == there.end();
      if (thread.id != 0 && gone && p.spread != nullptr) p.spread->forget(thread.id);
    }
  }

  void adopt_threads(Program& p, bool active) {
    find_threads(p);
    find_levels(p);
    for (const Thread& thread : p.threads) {
      pin(thread.id, claim_->core());
      set_fifo(thread.id, active && !thread.resting ? priority_of(p, thread) : priority_waiting);
    }
  }

  /// As the program's own calls rank its threads.
  static void find_levels(Program& p) {
    p.urgencies_seen = p.channel->urgencies_changed();
    std::vector<int> ranks;
    for (const Thread& thread : p.threads) ranks.push_back(p.channel->urgency_of(thread.id));
    std::vector<int> distinct = ranks;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const auto first = std::upper_bound(distinct.begin(), distinct.end(), 0);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto at = std::lower_bound(distinct.begin(), distinct.end(), ranks[i]);
      p.threads[i].level = ranks[i] < 0 ? priority_nice
                           : ranks[i] == 0
                               ? priority_active
                               : std::min(priority_active + 2 + 2 * static_cast<int>(at - first), priority_urgent_most);
    }
  }

  void set_all(Program& p, bool active) {
    for (const Thread& thread : p.threads) {
      if (!swap_priority(thread.id, active && !thread.resting ? priority_of(p, thread) : priority_waiting))
        return adopt_threads(p, active);  // one of them is gone: look again
    }
  }

  Why used_up(Program& p) {
    p.process->renew(p.executed);
    if (p.threads.size() > 1) take_turns(p);
    return Why::used_up;
  }

  void activate(std::size_t index) {
    Program& p = programs_[index];
    // A new thread is looked for at intervals; when the others wait for it, the detector finds it at once.
    if (p.executed >= p.look_for_threads) {
      p.look_for_threads = p.executed + between_looks_for_threads;
      if (p.process->thread_count() != p.of_process) adopt_threads(p, index == active_);
    }
    if (p.urgencies_seen != p.channel->urgencies_changed()) adopt_threads(p, index == active_);
    if (index == active_) return;
    if (active_ != nobody) set_all(programs_[active_], false);
    set_all(p, true);
    active_ = index;
    ++switches_;
  }

  /// The detector fires too when the threads that we know wait for one that we do not know yet.
  bool found_more_threads(Program& p) {
    const std::size_t before = p.threads.size();
    const std::vector<pid_t> now = p.process->threads();
    const auto known = [&](pid_t id) {
      return std::any_of(p.threads.begin(), p.threads.end(), [id](const Thread& thread) { return thread.id == id; });
    };
    const auto ours = [&](pid_t id) { return p.spread == nullptr || p.spread->has(p.part, id); };
    if (std::all_of(now.begin(), now.end(), [&](pid_t id) { return known(id) || !ours(id); })) return false;
    adopt_threads(p, true);
    return p.threads.size() > before || p.spread == nullptr;
  }

  /// A thread that computes would starve its equals: the one that executed most in this turn goes behind them.
  static void take_turns(Program& p) {
    Thread* most = nullptr;
    CpuSpan longest;
    for (Thread& thread : p.threads) {
      if (const CpuSpan executed = thread.metered.look(); executed > longest) {
        longest = executed;
        most = &thread;
      }
      thread.metered.start();
    }
    if (most == nullptr) return;
    if (p.lead == most->id) p.lead = 0;
    swap_priority(most->id, priority_waiting);
    swap_priority(most->id, priority_of(p, *most));
  }

  protocol::Bell& bell_;
  std::unique_ptr<CoreClaim> claim_;
  SecondTimer& second_;
  WallSpan late_;
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

std::unique_ptr<Dispatcher> make_fifo_dispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim,
                                                 SecondTimer& second) {
  return std::make_unique<FifoDispatcher>(bell, std::move(claim), second);
}

}  // namespace isochron::programs
