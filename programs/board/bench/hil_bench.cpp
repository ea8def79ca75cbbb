#include "programs/board/bench/hil_bench.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "link/reactor.hpp"
#include "programs/board/bench/blocking_target.hpp"
#include "programs/board/boards.hpp"
#include "programs/coordinator.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using protocol::Ask;

constexpr std::size_t picture_bytes = 320 * 240 * 3;

/// Keeps others of a busy machine out of what is measured, where we may; for some seconds at a time only.
void insist() {
  sched_param parameter{};
  parameter.sched_priority = 1;
  (void)sched_setscheduler(0, SCHED_FIFO, &parameter);
}

/// A world that costs nothing, with a number and a picture.
class BenchPlant final : public Plant {
 public:
  explicit BenchPlant(SimSpan step) : step_(step) {
    variables_ = {{"uav/number", "float64", 8, true, true},
                  {"uav/picture", "sensor_msgs/msg/Image", picture_bytes, true, false, true}};
  }
  [[nodiscard]] const std::vector<Variable>& variables() const override { return variables_; }
  [[nodiscard]] SimTime time() const override { return time_; }
  Result<Done, std::string> advance_to(SimTime t) override {
    while (time_ + step_ <= t) time_ += step_;
    return done();
  }
  void read(std::uint32_t, SimTime, std::span<std::byte> value) override {
    std::fill(value.begin(), value.end(), std::byte{1});
  }
  Sample sample(std::uint32_t, SimTime at, std::span<std::byte> room) override {
    std::memcpy(room.data(), picture_.data(), picture_.size());
    return {picture_.size(), at};
  }
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t, std::span<const std::byte>) const override {
    return done();
  }
  void write(std::uint32_t, SimTime, std::span<const std::byte>) override {}

 private:
  SimSpan step_;
  SimTime time_;
  std::vector<Variable> variables_;
  std::vector<std::byte> picture_ = std::vector<std::byte>(picture_bytes, std::byte{7});
};

/// A host on a thread of its own.
class Host {
 public:
  Host(std::size_t targets, SimTime until, bool alone, SimSpan step = 10ms, std::optional<PaceRate> pace = {})
      : plant_(step) {
    programs::BoardOptions options;
    options.limits.requests_per_s = 1'000'000;
    std::vector<programs::TargetSpec> specs;
    for (std::size_t i = 0; i < targets; ++i) {
      specs.push_back({"uav/" + std::to_string(i), "uav", {}, "", 8, programs::OnLoss::go_on});
    }
    boards_.emplace(reactor_, specs, options);
    address = *boards_->listen(Address::loopback(0));
    thread_ = std::thread([this, until, alone, step, pace] {
      if (alone) insist();
      programs::CoordinatorOptions how;
      how.step = step;
      how.pace = pace;
      how.boards = &*boards_;
      programs::Coordinator coordinator(plant_, {}, how);
      outcome = coordinator.run(until);
      found_ = boards_->outcome();
      // Who still computes hears of the end when it asks next.
      for (const WallTime end = reactor_.now() + WallSpan(50ms); reactor_.now() < end;) reactor_.poll(end);
    });
  }
  /// Waits for the end of the run.
  programs::BoardsOutcome finish() {
    thread_.join();
    boards_.reset();
    return found_;
  }
  Address address;
  programs::RunOutcome outcome;

 private:
  BenchPlant plant_;
  link::EpollReactor reactor_;
  std::optional<programs::Boards> boards_;
  programs::BoardsOutcome found_;
  std::thread thread_;
};

/// ns for one request and answer of these sizes over a bare connection between two threads.
double bare_round_trip(std::size_t request, std::size_t answer, int rounds) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ENSURE(::bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0 && ::listen(listener, 1) == 0 &&
             ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0,
         "loopback listens");
  std::thread echo([&] {
    insist();
    const int peer = ::accept(listener, nullptr, nullptr);
    const int yes = 1;
    ::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::vector<std::byte> in(request), out(answer);
    while (read_all(peer, in.data(), request)) (void)!::send(peer, out.data(), answer, MSG_NOSIGNAL);
    ::close(peer);
  });
  double each = 0;
  std::thread pinger([&] {
    insist();
    const int socket = connect_to(Address::loopback(ntohs(address.sin_port)));
    std::vector<std::byte> out(request), in(answer);
    const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < rounds; ++i) {
      (void)!::send(socket, out.data(), request, MSG_NOSIGNAL);
      read_all(socket, in.data(), answer);
    }
    each = static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / rounds;
    ::close(socket);
  });
  pinger.join();
  echo.join();
  ::close(listener);
  return each;
}

struct Sizes {
  std::size_t request = 0, answer = 0;
};

double read_round_trip(std::uint32_t variable, int rounds, Sizes& sizes) {
  Host host(1, SimTime::zero() + SimSpan(3600s), true);
  double each = 0;
  std::thread board([&] {
    insist();
    BlockingTarget target(host.address, "uav/0");
    for (int i = 0; i < 50; ++i) target.ask(Ask::read, variable);
    const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < rounds; ++i) target.ask(Ask::read, variable);
    each = static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / rounds;
    sizes = {target.sent_bytes, target.received_bytes};
  });
  board.join();
  host.finish();
  return each;
}

void round_trips(Report& report) {
  Sizes small, picture;
  (void)read_round_trip(0, 10, small);
  (void)read_round_trip(1, 10, picture);
  Sizes unused;
  const auto [read, bare] = side_by_side(
      5, [&] { return read_round_trip(0, 3000, unused); },
      [&] { return bare_round_trip(small.request, small.answer, 3000); });
  report.ratio_at_most("hil_read_round_trip", read, "ns", "bare TCP, the same bytes", bare, 1.5);
  const auto [seen, bare_seen] = side_by_side(
      5, [&] { return read_round_trip(1, 300, unused); },
      [&] { return bare_round_trip(picture.request, picture.answer, 300); });
  const auto bytes = static_cast<double>(picture_bytes);
  report.ratio_at_most("hil_picture_320x240_per_byte", seen / bytes, "ns", "bare TCP, the same bytes",
                       bare_seen / bytes, 1.5);
}

/// A target that computes and waits by turns, and never blocks elsewhere: its CPU clock is its executed time. It waits
/// in real time, since the system takes the CPU away from who insists on it without a pause.
void executed_time(Report& report) {
  const SimSpan length = report.long_run() ? SimSpan(60s) : SimSpan(5s);
  Host host(1, SimTime::zero() + length, true, 1ms, PaceRate(1, 1));
  double cpu = 0;
  std::thread board([&] {
    insist();
    BlockingTarget target(host.address, "uav/0");
    do {
      const std::int64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      std::int64_t now = from;
      while (now < from + 6'000'000) now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      cpu += static_cast<double>(now - from) * 1e-9;  // the link's own system calls are no part of its program
    } while (target.ask(Ask::wait, 0, 10'000'000));
  });
  board.join();
  const double executed = host.finish().targets[0].executed.seconds();
  const double allowed = std::max(0.01 * cpu, 100e-6);
  report.at_most("hil_executed_time_error_of_allowed", std::abs(executed - cpu) / allowed, "x", 1);
  report.found("hil_executed_time", executed, "s", "the target's CPU clock: " + std::to_string(cpu) + " s");
}

/// Drift of the last quarter of the run beside that of the first.
void many_targets(Report& report) {
  constexpr std::size_t count = 64;
  const SimSpan length = report.long_run() ? SimSpan(20s) : SimSpan(3s);
  Host host(count, SimTime::zero() + length, false);
  std::vector<std::thread> boards;
  for (std::size_t i = 0; i < count; ++i) {
    boards.emplace_back([&host, i] {
      BlockingTarget target(host.address, "uav/" + std::to_string(i));
      const double command = 1;
      const auto bytes = std::as_bytes(std::span(&command, 1));
      while (target.ask(Ask::wait, 0, 10'000'000) && target.ask(Ask::read, 0) && target.ask(Ask::write, 0, 0, bytes)) {
      }
    });
  }
  for (std::thread& board : boards) board.join();
  (void)host.finish();
  const auto& most = host.outcome.drift_series;
  const std::size_t part = std::max<std::size_t>(most.size() / 4, 1);
  SimSpan early, late;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (i < part) early = std::max(early, most[i].most);
    if (i + part >= most.size()) late = std::max(late, most[i].most);
  }
  report.found("hil_64_targets_drift_first_quarter", early.seconds() * 1e3, "ms");
  // A step of the world is 10 ms: that much they differ at least.
  report.at_most("hil_64_targets_drift_growth", (late.seconds() + 0.01) / (early.seconds() + 0.01), "x", 1.5);
  report.at_least("hil_64_targets_at_100_hz_reached", host.outcome.reached.seconds() / length.seconds(), "x", 1);
}

}  // namespace

void bench_hil(Report& report) {
  round_trips(report);
  executed_time(report);
  many_targets(report);
}

}  // namespace isochron::bench
