#include "programs/placement.hpp"

#include <array>
#include <atomic>
#include <thread>

#include "programs/futex.hpp"

namespace isochron::programs {

namespace {

constexpr std::uint32_t turns_looked_at = 16;
constexpr CpuSpan short_turn = std::chrono::microseconds(25);
constexpr CpuSpan long_turn = std::chrono::microseconds(60);
constexpr WallSpan stay = std::chrono::seconds(2);

/// How many coordinators of this process have their home there.
std::array<std::atomic<int>, CPU_SETSIZE>& homes() {
  static std::array<std::atomic<int>, CPU_SETSIZE> counts{};
  return counts;
}

/// Where this thread is, unless another coordinator of this process lives there and somewhere fewer do.
int choose_core(const cpu_set_t& allowed) {
  int best = sched_getcpu();
  if (best < 0 || best >= CPU_SETSIZE || !CPU_ISSET(best, &allowed)) return -1;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    const auto count = [](int c) { return homes()[static_cast<std::size_t>(c)].load(std::memory_order_relaxed); };
    if (CPU_ISSET(core, &allowed) && count(core) < count(best)) best = core;
  }
  return best;
}

}  // namespace

Placement::Placement(Ensemble& all) : all_(all) {
  usable_ = sched_getaffinity(0, sizeof everywhere_, &everywhere_) == 0 && CPU_COUNT(&everywhere_) > 1;
}

Placement::~Placement() { close(); }

void Placement::open() {
  core_ = choose_core(everywhere_);
  if (core_ < 0) return;
  CPU_ZERO(&home_);
  CPU_SET(core_, &home_);
  if (sched_setaffinity(0, sizeof home_, &home_) != 0) return void(core_ = -1);
  homes()[static_cast<std::size_t>(core_)].fetch_add(1, std::memory_order_relaxed);
  opened_ = wall_now();
}

void Placement::close() {
  if (core_ < 0) return;
  homes()[static_cast<std::size_t>(core_)].fetch_sub(1, std::memory_order_relaxed);
  core_ = -1;
  sched_setaffinity(0, sizeof everywhere_, &everywhere_);
}

void Placement::asked(Member& m) {
  Member::Turns& turns = m.turns;
  if (!usable_ || ++turns.count < turns_looked_at) return;
  turns.count = 0;
  // With fewer programs than cores they look for their answers without sleeping; measured ones and boards have cores of
  // their own.
  if (all_.lanes || all_.boards != nullptr || all_.members.size() < std::thread::hardware_concurrency()) return;
  look_at(m);
  if (core_ < 0 || wall_now() - opened_ < stay) return;
  for (const auto& member : all_.members) {
    if (member->turns.at_home) move_out(*member);
  }
}

void Placement::look_at(Member& m) {
  Member::Turns& turns = m.turns;
  const CpuTime now = m.process->cpu_time();
  const bool first = !turns.seen;  // a child has the place that its parent had
  const CpuSpan mean = (now - turns.cpu) / turns_looked_at;
  turns.cpu = now;
  turns.seen = true;
  if (first) return m.root != nullptr ? move_out(m) : void();
  if (mean > long_turn && turns.at_home) return move_out(m);
  if (mean < short_turn && !turns.at_home && m.channel->links_used() == 1) come_home(m);
}

void Placement::come_home(Member& m) {
  if (core_ < 0) open();
  if (core_ < 0 || m.process->thread_count() != 1) return;
  if (sched_setaffinity(m.process->pid(), sizeof home_, &home_) != 0) return;
  m.turns.at_home = true;
  ++at_home_;
}

void Placement::move_out(Member& m) {
  for (const pid_t thread : m.process->threads()) sched_setaffinity(thread, sizeof everywhere_, &everywhere_);
  leave(m);
}

void Placement::leave(Member& m) {
  if (std::exchange(m.turns.at_home, false) && --at_home_ == 0) close();
}

}  // namespace isochron::programs
