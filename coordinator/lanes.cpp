#include "coordinator/lanes.hpp"

#include <sched.h>

#include <atomic>
#include <optional>
#include <thread>

#include "core/ensure.hpp"

namespace isochron::coordinator {

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
  Helper(std::unique_ptr<CoreClaim> claim, protocol::Bell& bell)
      : thread_([this, &bell, taken = std::move(claim)]() mutable { work(std::move(taken), bell); }) {
    ready_.wait(false, std::memory_order_acquire);
  }
  ~Helper() {
    stop_.store(true, std::memory_order_release);
    thread_.join();
  }
  [[nodiscard]] Dispatcher& dispatcher() const { return *dispatcher_; }

  /// `look`: only see whether a blocked program goes on, for this long.
  void begin(Turn& turn, std::optional<WallSpan> look = std::nullopt) {
    turn_ = &turn;
    look_ = look;
    posted_.store(++number_, std::memory_order_release);
  }
  void finish() const {
    while (done_.load(std::memory_order_acquire) != number_) pause_a_moment();
  }

 private:
  void work(std::unique_ptr<CoreClaim> claim, protocol::Bell& bell) {
    dispatcher_ = make_fifo_dispatcher(bell, std::move(claim));
    ready_.store(true, std::memory_order_release);
    ready_.notify_one();
    std::uint32_t taken = 0;
    while (!stop_.load(std::memory_order_acquire)) {
      if (posted_.load(std::memory_order_acquire) == taken) {
        pause_a_moment();
        continue;
      }
      ++taken;
      const std::size_t program = turn_->seat.index;
      turn_->why = look_ ? dispatcher_->try_blocked(program, *look_) : dispatcher_->run(program, turn_->budget);
      done_.store(taken, std::memory_order_release);
    }
    dispatcher_.reset();
  }

  std::unique_ptr<Dispatcher> dispatcher_;
  Turn* turn_ = nullptr;
  std::optional<WallSpan> look_;
  std::uint32_t number_ = 0;
  std::atomic<std::uint32_t> posted_{0};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<bool> ready_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

Lanes::Lanes(std::vector<std::unique_ptr<CoreClaim>> claims, std::span<protocol::Bell* const> bells) {
  ENSURE(!claims.empty() && bells.size() == claims.size(), "a lane without a bell");
  for (const auto& claim : claims) cores_.push_back(claim->core());
  // The helpers first: they inherit the cores and the priority of this thread, which are still ordinary.
  for (std::size_t i = 1; i < claims.size(); ++i) {
    helpers_.push_back(std::make_unique<Helper>(std::move(claims[i]), *bells[i]));
  }
  own_ = make_fifo_dispatcher(*bells[0], std::move(claims[0]));
}

Lanes::Lanes(std::unique_ptr<Dispatcher> only) : own_(std::move(only)) {}

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

Lanes::Seat Lanes::admit(std::size_t lane, Process& process, Channel& channel) {
  return {lane, dispatcher(lane).admit(process, channel)};
}

void Lanes::send_away(Process& process) {
  if (helpers_.empty()) return own_->send_away(process);
  cpu_set_t others;
  if (sched_getaffinity(process.pid(), sizeof others, &others) != 0) return;
  for (const int core : cores_) CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0) return;
  for (const pid_t thread : process.threads()) sched_setaffinity(thread, sizeof others, &others);
}

void Lanes::run(std::span<Turn> turns) {
  Turn* mine = nullptr;
  for (Turn& turn : turns) {
    if (turn.seat.lane == 0) {
      mine = &turn;
    } else {
      helpers_[turn.seat.lane - 1]->begin(turn);
    }
  }
  if (mine != nullptr) mine->why = own_->run(mine->seat.index, mine->budget);
  for (const Turn& turn : turns) {
    if (turn.seat.lane > 0) helpers_[turn.seat.lane - 1]->finish();
  }
}

Dispatcher::Why Lanes::try_blocked(Seat seat, WallSpan span) {
  if (seat.lane == 0) return own_->try_blocked(seat.index, span);
  Turn turn{seat, {}, {}};
  helpers_[seat.lane - 1]->begin(turn, span);
  helpers_[seat.lane - 1]->finish();
  return turn.why;
}

void Lanes::favour(Seat seat, pid_t thread) { dispatcher(seat.lane).favour(seat.index, thread); }

void Lanes::hold() {
  for (std::size_t lane = 0; lane < count(); ++lane) dispatcher(lane).hold();
}

}  // namespace isochron::coordinator
