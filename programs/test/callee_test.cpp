// Programs that are called, beside programs that are executed.

#include <gmock/gmock.h>

#include <functional>

#include "programs/test/run_support.hpp"

namespace isochron::programs {
namespace {

/// Pushes its robot's mass, whose thrust is the variable `thrust`, and computes for a while where that is asked for.
class Pusher final : public CalledProgram {
 public:
  explicit Pusher(std::uint32_t thrust, std::function<void(SimTime)> each = {}) : each_(std::move(each)) {
    command_.variable = thrust;
  }
  Result<std::span<const Command>, std::string> call(SimTime at, Letters&) override {
    calls.push_back(at);
    if (each_) each_(at);
    if (calls.size() == fails_at) return fail(std::string("controller push: it threw"));
    command_.value += 1;
    return std::span<const Command>(&command_, 1);
  }
  std::vector<SimTime> calls;
  std::size_t fails_at = SIZE_MAX;

 private:
  std::function<void(SimTime)> each_;
  Command command_;
};

void compute_for(WallSpan span) {
  const std::int64_t until = std::chrono::steady_clock::now().time_since_epoch().count() + span.ns();
  while (std::chrono::steady_clock::now().time_since_epoch().count() < until) {
  }
}

ProgramSpec called(const std::string& name, std::shared_ptr<CalledProgram> what, SimSpan every,
                   Compute compute = ZeroCompute{}) {
  ProgramSpec spec;
  spec.name = name;
  spec.called = std::move(what);
  spec.every = every;
  spec.compute = std::move(compute);
  return spec;
}

std::vector<SimTime> times_of(const Run& run, std::uint32_t program, Happening::Kind kind) {
  std::vector<SimTime> found;
  for (const Happening& h : run.record.happenings) {
    if (h.program == program && h.kind == kind) found.push_back(h.at);
  }
  return found;
}

TEST(Callee, IsReleasedByItsPeriodAndOffsetAndNeedsNoProcess) {
  const auto pusher = std::make_shared<Pusher>(1);
  ProgramSpec spec = called("push", pusher, 20ms);
  spec.offset = 7ms;
  const auto r = run({robot("a", {spec})}, 100ms);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(pusher->calls, (std::vector<SimTime>{at(7ms), at(27ms), at(47ms), at(67ms), at(87ms)}));
  EXPECT_EQ(r.of("a/push").activations, 5U);
  EXPECT_EQ(r.of("a/push").writes, 5U);
  EXPECT_EQ(r.outcome.steps, 10U);
  EXPECT_EQ(r.out_of_order, 0);
}

TEST(Callee, WritesWhenItsComputingIsOver) {
  const auto r = run({robot("a", {called("push", std::make_shared<Pusher>(1), 20ms, modelled(3ms))})}, 60ms);
  EXPECT_EQ(times_of(r, 0, Happening::Kind::write), (std::vector<SimTime>{at(3ms), at(23ms), at(43ms)}));
  EXPECT_EQ(r.of("a/push").executed, SimSpan(9ms));
  EXPECT_EQ(r.of("a/push").missed, 0U);
}

TEST(Callee, ThatComputesBeyondItsPeriodMissesReleases) {
  const auto r = run({robot("a", {called("push", std::make_shared<Pusher>(1), 10ms, modelled(25ms))})}, 100ms);
  EXPECT_EQ(times_of(r, 0, Happening::Kind::write), (std::vector<SimTime>{at(25ms), at(50ms), at(75ms)}));
  EXPECT_GE(r.of("a/push").missed, 3U);
  EXPECT_GE(r.of("a/push").overruns, 3U);
}

// One virtual CPU: the executable's 4 ms and the library's 3 ms do not overlap.
TEST(Callee, SharesItsRobotsCpuWithExecutables) {
  ProgramSpec control = program("control", {"controller", "10"}, modelled(4ms));
  control.every = 10ms;
  ProgramSpec push = called("push", std::make_shared<Pusher>(1), 10ms, modelled(3ms));
  for (const bool library_first : {false, true}) {
    control.priority = library_first ? 0 : 5;
    push.priority = library_first ? 5 : 0;
    const auto r = run({robot("a", {push, control})}, 50ms);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    const auto writes = times_of(r, 1, Happening::Kind::write);  // those that are called have the last numbers
    ASSERT_GE(writes.size(), 4U);
    EXPECT_EQ(writes[1], at(library_first ? 13ms : 17ms));
    EXPECT_EQ(r.out_of_order, 0);
  }
}

TEST(Callee, IsPreemptedOnTheVirtualCpuThoughItRanInOnePiece) {
  ProgramSpec control = program("control", {"controller", "10"}, modelled(2ms));
  control.every = 10ms;
  control.priority = 5;
  const auto r = run({robot("a", {called("push", std::make_shared<Pusher>(1), 40ms, modelled(15ms)), control})}, 80ms);
  const auto writes = times_of(r, 1, Happening::Kind::write);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[1], at(40ms + 19ms));  // 15 ms, and twice 2 ms of the controller
  EXPECT_GE(r.of("a/push").preemptions, 2U);
}

TEST(Callee, IsMeasuredOnItsThreadsClockAndRepeatsFromItsRecord) {
  const auto busy = [](SimTime) { compute_for(WallSpan(2ms)); };
  std::vector<RobotSpec> robots{
      robot("a", {called("push", std::make_shared<Pusher>(1, busy), 20ms, MeasuredCompute{})})};
  const auto measured = run(robots, 100ms);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  EXPECT_GT(measured.of("a/push").executed, SimSpan(2ms));  // five activations: a loaded machine gives less CPU
  EXPECT_EQ(measured.of("a/push").cpu.ns(), measured.of("a/push").executed.ns());
  robots[0].programs[0].called = std::make_shared<Pusher>(1);  // computes nothing: only the record counts
  const auto replay = run(replayed(robots, measured), 100ms);
  EXPECT_EQ(first_difference(measured, replay), "");
  EXPECT_EQ(replay.of("a/push").replay_parted, 0U);
}

TEST(Callee, ASlowerComputerMakesItLater) {
  ProgramSpec spec = called("push", std::make_shared<Pusher>(1), 20ms, modelled(2ms));
  spec.cpu_speed = {1, 4};
  const auto r = run({robot("a", {spec})}, 30ms);
  EXPECT_EQ(times_of(r, 0, Happening::Kind::write), (std::vector<SimTime>{at(8ms), at(28ms)}));
}

TEST(Callee, ThatFailsEndsTheRunUnlessTheScenarioSaysOtherwise) {
  for (const bool end : {true, false}) {
    const auto pusher = std::make_shared<Pusher>(1);
    pusher->fails_at = 3;
    ProgramSpec spec = called("push", pusher, 10ms);
    spec.on_failure = end ? OnFailure::end_run : OnFailure::go_on;
    const auto r = run({robot("a", {spec})}, 100ms);
    EXPECT_EQ(r.outcome.completed, !end);
    EXPECT_TRUE(r.of("a/push").failed);
    EXPECT_EQ(r.of("a/push").writes, 2U);
    EXPECT_NE(r.of("a/push").ended.find("it threw"), std::string::npos);
    EXPECT_EQ(r.outcome.why_ended.find("a/push") != std::string::npos, end) << r.outcome.why_ended;
  }
}

TEST(Callee, ADelayThatIsInjectedKeepsItFromItsReleases) {
  CoordinatorOptions options = quick();
  bool once = false;
  const auto pusher = std::make_shared<Pusher>(1, [&once](SimTime now) { once = once || now == at(40ms); });
  struct OneDelay final : Trouble {
    explicit OneDelay(const bool& is_due) : due(is_due) {}
    SimSpan take_delay(const std::string& name, SimTime) override {
      EXPECT_EQ(name, "a/push");
      return due && !std::exchange(given, true) ? SimSpan(50ms) : SimSpan::zero();
    }
    const bool& due;
    bool given = false;
  } trouble(once);
  options.trouble = &trouble;
  const auto r = run({robot("a", {called("push", pusher, 10ms)})}, 200ms, options);
  EXPECT_GE(r.of("a/push").missed, 4U);
  EXPECT_LT(r.of("a/push").activations, 17U);
}

/// Says a number each time, or counts what it hears.
class Talker final : public CalledProgram {
 public:
  explicit Talker(std::string to, std::string from = "") : to_(std::move(to)), from_(std::move(from)) {}
  Result<std::span<const Command>, std::string> call(SimTime at, Letters& letters) override {
    std::vector<std::byte> bytes;
    while (letters.receive(from_, "octets", bytes)) heard.emplace_back(at, static_cast<int>(bytes.at(0)));
    if (!to_.empty()) letters.send(to_, "octets", std::vector<std::byte>{std::byte(said++)});
    return std::span<const Command>();
  }
  int said = 0;
  std::vector<std::pair<SimTime, int>> heard;

 private:
  std::string to_, from_;
};

TEST(Callee, SendsWhenItsComputingIsOverAndHearsWhatHasArrived) {
  const auto talker = std::make_shared<Talker>("hear"), hearer = std::make_shared<Talker>("", "talk");
  ProgramSpec hear = called("hear", hearer, 10ms);
  hear.priority = 1;
  const auto r = run({robot("a", {called("talk", talker, 10ms, modelled(3ms)), hear})}, 35ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  // Said at 3, 13 and 23 ms: heard at the next release.
  const auto at = [](int ms) { return SimTime::zero() + SimSpan(std::chrono::milliseconds(ms)); };
  EXPECT_EQ(hearer->heard, (std::vector<std::pair<SimTime, int>>{{at(10), 0}, {at(20), 1}, {at(30), 2}}));
}

TEST(Callee, ThatSendsToNobodyIsToldInTheReport) {
  const auto r = run({robot("a", {called("talk", std::make_shared<Talker>("nobody"), 10ms)})}, 15ms);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_THAT(r.outcome.programs[0].faults, testing::Contains(testing::HasSubstr("nobody")));
}

}  // namespace
}  // namespace isochron::programs
