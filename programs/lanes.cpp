#include "programs/lanes.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "core/ensure.hpp"

namespace isochron::programs {

namespace {

void pause_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

/// The thread of one lane: takes a turn, lets the program execute, says how it ended.
class Lanes::Helper {
 public:
  Helper(std::unique_ptr<CoreClaim> claim, protocol::Bell& bell, SecondTimer& second)
      : thread_([this, &bell, &second, taken = std::move(claim)]() mutable { work(std::move(taken), bell, second); }) {
    ready_.wait(false, std::memory_order_acquire);
  }
  ~Helper() {
    stop_.store(true, std::memory_order_release);
    thread_.join();
  }
  [[nodiscard]] Dispatcher& dispatcher() const { return *dispatcher_; }

  /// `look`: only see whether a blocked program goes on, for this long.
  void begin(Part& part, std::optional<WallSpan> look = std::nullopt) {
    part_ = &part;
    look_ = look;
    posted_.store(++number_, std::memory_order_release);
  }
  void finish() const {
    while (done_.load(std::memory_order_acquire) != number_) pause_a_moment();
  }

 private:
  void work(std::unique_ptr<CoreClaim> claim, protocol::Bell& bell, SecondTimer& second) {
    dispatcher_ = make_fifo_dispatcher(bell, std::move(claim), second);
    ready_.store(true, std::memory_order_release);
    ready_.notify_one();
    std::uint32_t taken = 0;
    while (!stop_.load(std::memory_order_acquire)) {
      if (posted_.load(std::memory_order_acquire) == taken) {
        pause_a_moment();
        continue;
      }
      ++taken;
      const std::size_t program = part_->index;
      part_->why = look_ ? dispatcher_->try_blocked(program, *look_) : dispatcher_->run(program, part_->budget);
      done_.store(taken, std::memory_order_release);
    }
    dispatcher_.reset();
  }

  std::unique_ptr<Dispatcher> dispatcher_;
  Part* part_ = nullptr;
  std::optional<WallSpan> look_;
  std::uint32_t number_ = 0;
  std::atomic<std::uint32_t> posted_{0};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<bool> ready_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

Lanes::Lanes(std::vector<std::unique_ptr<CoreClaim>> claims, std::span<protocol::Bell* const> bells)
    : bells_(bells.begin(), bells.end()) {
  ENSURE(!claims.empty() && bells.size() == claims.size(), "a lane without a bell");
  for (const auto& claim : claims) cores_.push_back(claim->core());
  for (protocol::Bell* bell : bells_) second_timers_.push_back(std::make_unique<SecondTimer>(*bell, cores_));
  // The helpers first: they inherit the cores and the priority of this thread, which are still ordinary.
  for (std::size_t i = 1; i < claims.size(); ++i) {
    helpers_.push_back(std::make_unique<Helper>(std::move(claims[i]), *bells[i], *second_timers_[i]));
  }
  own_ = make_fifo_dispatcher(*bells[0], std::move(claims[0]), *second_timers_[0]);
}

Lanes::Lanes(std::unique_ptr<Dispatcher> only, protocol::Bell& bell) : bells_{&bell}, own_(std::move(only)) {}

Lanes::~Lanes() = default;

std::string Lanes::name() const {
  if (helpers_.empty()) return own_->name();
  std::string cores;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    cores += (i == 0 ? "" : i + 1 == cores_.size() ? " and " : ", ") + std::to_string(cores_[i]);
  }
  return "real-time priorities (SCHED_FIFO) on cores " + cores + " at once";
}

Dispatcher& Lanes::dispatcher(std::size_t lane) const { return lane == 0 ? *own_ : helpers_[lane - 1]->dispatcher(); }

Lanes::Seat Lanes::admit(std::size_t first, std::uint32_t cores, Process& process, Channel& channel) {
  Admitted& seat = seats_.emplace_back();
  seat.executed = process.cpu_time();
  const std::size_t lanes = std::min<std::size_t>(cores, count());
  std::vector<protocol::Bell*> bells;
  for (std::size_t i = 0; i < lanes; ++i) {
    Part& part = seat.parts.emplace_back();
    part.lane = (first + i) % count();
    seat.lanes |= std::uint64_t{1} << part.lane;
    bells.push_back(bells_[part.lane]);
  }
  if (cores > 1) seat.spread = std::make_unique<Spread>(cores, std::move(bells));
  for (std::size_t i = 0; i < lanes; ++i) {
    Part& part = seat.parts[i];
    part.index = dispatcher(part.lane).admit(process, channel, seat.spread.get(), i);
  }
  return seats_.size() - 1;
}

void Lanes::send_away(Process& process) {
  if (helpers_.empty()) return own_->send_away(process);
  cpu_set_t others;
  if (sched_getaffinity(process.pid(), sizeof others, &others) != 0) return;
  for (const int core : cores_) CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0) return;
  for (const pid_t thread : process.threads()) sched_setaffinity(thread, sizeof others, &others);
}

// The helpers first, so that all execute at once; then what is ours.
void Lanes::begin(Turn& turn) {
  Admitted& seat = seats_[turn.seat];
  if (seat.spread) seat.spread->begin();
  for (Part& part : seat.parts) {
    part.budget = turn.budget;
    part.before = dispatcher(part.lane).executed(part.index);
    if (part.lane > 0) helpers_[part.lane - 1]->begin(part);
  }
}

Dispatcher::Why Lanes::settle(Admitted& seat) {
  using Why = Dispatcher::Why;
  Why why = Why::blocked;
  CpuSpan longest;
  for (Part& part : seat.parts) {
    if (part.lane > 0) helpers_[part.lane - 1]->finish();
    longest = std::max(longest, dispatcher(part.lane).executed(part.index) - part.before);
    if (part.why == Why::asked || (part.why == Why::used_up && why == Why::blocked)) why = part.why;
  }
  seat.executed += longest;
  if (seat.parts.size() > 1 && why == Why::used_up) balance(seat);
  return why;
}

// One thread at a time: a part that has cores to spare takes one that got none elsewhere.
void Lanes::balance(Admitted& seat) {
  const auto load = [&](const Part& part) { return dispatcher(part.lane).load(part.index); };
  const auto to = std::find_if(seat.parts.begin(), seat.parts.end(), [&](const Part& p) { return load(p).spare; });
  const auto from =
      std::find_if(seat.parts.begin(), seat.parts.end(), [&](const Part& p) { return load(p).crowded_out != 0; });
  if (to == seat.parts.end() || from == seat.parts.end() || to == from) return;
  seat.spread->move(load(*from).crowded_out, static_cast<std::size_t>(to - seat.parts.begin()));
  dispatcher(from->lane).deal_again(from->index);
  dispatcher(to->lane).deal_again(to->index);
}

void Lanes::run(std::span<Turn> turns) {
  Part* mine = nullptr;
  for (Turn& turn : turns) {
    begin(turn);
    for (Part& part : seats_[turn.seat].parts) mine = part.lane == 0 ? &part : mine;
  }
  if (mine != nullptr) mine->why = own_->run(mine->index, mine->budget);
  for (Turn& turn : turns) turn.why = settle(seats_[turn.seat]);
}

// One part after the other: who goes on is found by the first that has it.
Dispatcher::Why Lanes::try_blocked(Seat which, WallSpan span) {
  Admitted& seat = seats_[which];
  for (Part& part : seat.parts) {
    part.before = dispatcher(part.lane).executed(part.index);
    if (part.lane == 0) {
      part.why = own_->try_blocked(part.index, span);
    } else {
      helpers_[part.lane - 1]->begin(part, span);
      helpers_[part.lane - 1]->finish();
    }
    if (part.why != Dispatcher::Why::blocked) span = WallSpan::zero();
  }
  return settle(seat);
}

WallSpan Lanes::late(Seat seat) const {
  WallSpan most;
  for (const Part& part : seats_[seat].parts) most = std::max(most, dispatcher(part.lane).late());
  return most;
}

void Lanes::favour(Seat seat, pid_t thread) {
  for (const Part& part : seats_[seat].parts) dispatcher(part.lane).favour(part.index, thread);
}

void Lanes::hold() {
  for (std::size_t lane = 0; lane < count(); ++lane) dispatcher(lane).hold();
}

void Lanes::rest() {
  for (std::size_t lane = 0; lane < count(); ++lane) dispatcher(lane).rest();
}

}  // namespace isochron::programs
