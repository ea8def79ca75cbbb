// The dispatcher of unprivileged runs: the program that must not execute is stopped by a signal, the one that may has
// idle priority and shares our core, so that it stands still whenever we run and its CPU clock is exact then.

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "programs/dispatcher.hpp"
#include "programs/futex.hpp"
#include "programs/thread_meter.hpp"

namespace isochron::programs {

namespace {

constexpr WallSpan shortest_sleep = std::chrono::microseconds(20);
constexpr WallSpan longest_sleep = std::chrono::milliseconds(1);

class StopDispatcher final : public Dispatcher {
 public:
  StopDispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim) : bell_(bell), claim_(std::move(claim)) {
    sched_getaffinity(0, sizeof cores_, &cores_);
    set_core(0);
  }
  ~StopDispatcher() override {
    for (std::size_t i = 0; i < programs_.size(); ++i) dismiss(i);
    sched_setaffinity(0, sizeof cores_, &cores_);
  }

  [[nodiscard]] std::string name() const override {
    return "stop signals on core " + std::to_string(claim_->core()) + " (degraded: no real-time privileges)";
  }
  [[nodiscard]] bool degraded() const override { return true; }
  [[nodiscard]] std::uint64_t switches() const override { return switches_; }

  std::size_t admit(Process& process, Channel& channel, Spread* spread, std::size_t /*part*/) override {
    programs_.push_back({&process, &channel, spread == nullptr ? 1 : spread->cores(0), {}, process.cpu_time()});
    const sched_param parameter{};
    for (const pid_t thread : process.threads()) {
      set_core(thread);
      sched_setscheduler(thread, SCHED_IDLE, &parameter);
    }
    kill(process.pid(), SIGSTOP);
    return programs_.size() - 1;
  }
  [[nodiscard]] CpuTime executed(std::size_t index) const override { return programs_[index].executed; }

  [[nodiscard]] WallSpan late() const override { return late_; }

  void send_away(Process& /*process*/) override {}  // those that we hold are stopped: nobody starves

  Why run(std::size_t index, CpuSpan budget) override {
    Program& p = programs_[index];
    activate(index);
    const CpuTime target = p.executed + budget;
    CpuTime before = CpuTime::before_all();
    for (;;) {
      const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
      look(p);
      if (p.channel->asking()) return Why::asked;
      if (p.executed >= target) return Why::used_up;
      if (p.executed == before && !p.process->runnable()) return p.channel->asking() ? Why::asked : Why::blocked;
      before = p.executed;
      const WallSpan left = WallSpan::from_ns((target - p.executed).ns());
      const WallTime deadline = wall_now() + std::clamp(left, shortest_sleep, longest_sleep);
      futex_wait_until(bell_.rings, rings, deadline);
      late_ = std::max(wall_now() - deadline, WallSpan::zero());
    }
  }

  Why try_blocked(std::size_t index, WallSpan span) override {
    Program& p = programs_[index];
    look(p);
    const CpuTime before = p.executed;
    activate(index);
    const std::uint32_t rings = bell_.rings.load(std::memory_order_acquire);
    if (p.channel->asking()) return Why::asked;
    futex_wait_until(bell_.rings, rings, wall_now() + span);
    look(p);
    if (p.channel->asking()) return Why::asked;
    return p.executed > before ? Why::used_up : Why::blocked;
  }

  void favour(std::size_t /*program*/, pid_t /*thread*/) override {}  // the kernel shares fairly among threads

  void hold() override {
    if (active_ != nobody) kill(programs_[active_].process->pid(), SIGSTOP);
    active_ = nobody;
  }

  void dismiss(std::size_t index) override {
    Program& p = programs_[index];
    if (active_ == index) active_ = nobody;
    for (const pid_t thread : p.process->threads()) sched_setaffinity(thread, sizeof cores_, &cores_);
    if (!p.process->ended()) kill(p.process->pid(), SIGCONT);
  }

 private:
  struct Program {
    Process* process;
    Channel* channel;
    std::uint32_t cores;
    std::vector<MeteredThread> threads;  // of one that is spread over several cores
    CpuTime executed;
  };
  static constexpr std::size_t nobody = SIZE_MAX;

  void set_core(pid_t thread) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(claim_->core(), &one);
    sched_setaffinity(thread, sizeof one, &one);
  }

  /// On one core it is what the process executed; on several, as long as that took there.
  static void look(Program& p) {
    if (p.cores == 1) {
      p.executed = p.process->cpu_time();
      return;
    }
    Makespan more{p.cores, {}, {}};
    for (MeteredThread& thread : p.threads) {
      more.add(thread.look());
      thread.start();
    }
    p.executed += more.span();
    if (p.process->thread_count() == p.threads.size()) return;
    p.threads.clear();
    for (const pid_t id : p.process->threads()) p.threads.emplace_back(p.process->pid(), id);
  }

  void activate(std::size_t index) {
    if (index == active_) return;
    hold();
    kill(programs_[index].process->pid(), SIGCONT);
    active_ = index;
    ++switches_;
  }

  protocol::Bell& bell_;
  std::unique_ptr<CoreClaim> claim_;
  cpu_set_t cores_{};
  std::vector<Program> programs_;
  std::size_t active_ = nobody;
  std::uint64_t switches_ = 0;
  WallSpan late_;
};

}  // namespace

std::unique_ptr<Dispatcher> make_stop_dispatcher(protocol::Bell& bell, std::unique_ptr<CoreClaim> claim) {
  return std::make_unique<StopDispatcher>(bell, std::move(claim));
}

}  // namespace isochron::programs
