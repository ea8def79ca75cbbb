#include "coordinator/schedule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isochron::coordinator {
namespace {

using namespace std::chrono_literals;
using Kind = Schedule::Event::Kind;

SimTime at(SimSpan span) { return SimTime::zero() + span; }

std::vector<std::unique_ptr<Policy>> priorities(std::size_t cpus) {
  std::vector<std::unique_ptr<Policy>> all;
  for (std::size_t i = 0; i < cpus; ++i) all.push_back(std::make_unique<FixedPriority>());
  return all;
}

Schedule::Options options(SimSpan until, SimSpan step = 10ms, SimSpan quantum = 1ms) {
  return {SimTime::zero(), at(until), step, quantum};
}

TEST(Schedule, StepsTheWorldAloneWhenNobodyIsThere) {
  Schedule schedule(priorities(0), {}, options(25ms));
  std::vector<SimTime> steps;
  for (auto e = schedule.next(); e.kind == Kind::step; e = schedule.next()) {
    steps.push_back(e.at);
    schedule.stepped();
  }
  EXPECT_EQ(steps, (std::vector{at(10ms), at(20ms), at(25ms)}));
}

TEST(Schedule, TheWorldWaitsForComputingThatIsFree) {
  Schedule schedule(priorities(1), {{0, 0, false, 1}}, options(20ms));
  EXPECT_EQ(schedule.next().kind, Kind::arrive);
  schedule.arrived(0, true);
  const auto read = schedule.next();
  EXPECT_EQ(read.kind, Kind::operation);
  EXPECT_EQ(read.at, at(0ms));
  schedule.resume(0);
  EXPECT_EQ(schedule.next().kind, Kind::arrive);
  schedule.arrived(0, false);
  schedule.next();
  schedule.suspend(0, 0, at(10ms), false, false);
  const auto step = schedule.next();
  EXPECT_EQ(step.kind, Kind::step);
  schedule.stepped();
  const auto wake = schedule.next();  // the world is there before the program looks at it
  EXPECT_EQ(wake.kind, Kind::wake);
  EXPECT_EQ(wake.at, at(10ms));
}

TEST(Schedule, AnOperationStandsAtTheEndOfWhatItsProgramOwes) {
  Schedule schedule(priorities(1), {{0, 0, true, 1}}, options(20ms));
  const auto run = schedule.next();
  EXPECT_EQ(run.kind, Kind::run);
  EXPECT_EQ(run.budget, SimSpan(10ms));  // alone: only the world holds it back
  schedule.executed(0, 3ms);
  schedule.arrived(0, false);
  EXPECT_EQ(schedule.next().at, at(3ms));
}

TEST(Schedule, APreemptedPlannersPlanIsLateByExactlyWhatPreemptedIt) {
  // Planner (0) computes 15 ms; the controller (1) is released at 10 ms and takes 2 ms.
  Schedule schedule(priorities(1), {{0, 0, true, 1}, {0, 1, true, 1}}, options(40ms));
  auto e = schedule.next();
  ASSERT_EQ(e.program, 1u);  // the more urgent first
  schedule.arrived(1, false);
  schedule.next();
  schedule.suspend(1, 0, at(10ms), false, false);
  e = schedule.next();
  ASSERT_EQ(e.kind, Kind::run);
  ASSERT_EQ(e.program, 0u);
  ASSERT_EQ(e.budget, SimSpan(10ms));
  schedule.executed(0, 10ms + 7us);  // the timer came late by 7 us
  e = schedule.next();
  ASSERT_EQ(e.kind, Kind::step);
  schedule.stepped();
  e = schedule.next();
  ASSERT_EQ(e.kind, Kind::wake);
  EXPECT_EQ(e.program, 1u);
  EXPECT_EQ(e.at, at(10ms)) << "a late timer delays nobody but the program that it let go on";
  e = schedule.next();
  ASSERT_EQ(e.kind, Kind::run);
  ASSERT_EQ(e.program, 1u);
  schedule.executed(1, 2ms);
  schedule.arrived(1, false);
  schedule.next();
  schedule.suspend(1, 0, at(30ms), false, false);
  e = schedule.next();
  ASSERT_EQ(e.program, 0u);
  schedule.executed(0, 15ms - (10ms + 7us));
  schedule.arrived(0, false);
  e = schedule.next();
  ASSERT_EQ(e.kind, Kind::operation);
  EXPECT_EQ(e.at, at(17ms));
  EXPECT_EQ(schedule.executed_by(0), SimSpan(15ms));
  EXPECT_EQ(schedule.preemptions(0), 1u);
  schedule.end_turns();
  EXPECT_EQ(schedule.turns(), (std::vector<Turn>{{0, at(0ms), at(0ms), at(10ms), 1},
                                                 {1, at(10ms), at(10ms), at(12ms), Turn::nobody},
                                                 {0, at(10ms), at(12ms), at(17ms), Turn::nobody}}))
      << "the planner had the core, lost it, waited for it two milliseconds, and had it again";
}

TEST(Schedule, RunsTheLeastAndNoFurtherThanAQuantumAhead) {
  Schedule schedule(priorities(2), {{0, 0, true, 1}, {1, 0, true, 1}}, options(100ms));
  auto e = schedule.next();
  EXPECT_EQ(e.program, 0u);
  EXPECT_EQ(e.budget, SimSpan(1ms));
  schedule.executed(0, 1ms);
  e = schedule.next();
  EXPECT_EQ(e.program, 1u);
  EXPECT_EQ(e.budget, SimSpan(2ms));
  schedule.executed(1, 2ms);
  e = schedule.next();
  EXPECT_EQ(e.program, 0u);
}

TEST(Schedule, LetsOthersExecuteBesideTheLeastWithinTheQuantum) {
  Schedule schedule(priorities(3), {{0, 0, true, 1}, {1, 0, true, 1}, {2, 0, true, 1}}, options(100ms, 10ms, 1ms));
  ASSERT_EQ(schedule.next().program, 0u);
  std::vector<Schedule::Event> beside;
  schedule.beside(beside);
  ASSERT_EQ(beside.size(), 2u);
  EXPECT_EQ(beside[0].program, 1u);
  EXPECT_EQ(beside[0].budget, SimSpan(1ms));
  schedule.executed(0, 400us);
  schedule.executed(1, 1ms);
  schedule.executed(2, 700us);
  ASSERT_EQ(schedule.next().program, 0u);
  schedule.beside(beside);
  ASSERT_EQ(beside.size(), 2u);
  EXPECT_EQ(beside[0].program, 2u);  // the least first
  EXPECT_EQ(beside[0].budget, SimSpan(700us));
  EXPECT_EQ(beside[1].budget, SimSpan(400us));
}

TEST(Schedule, AReadWaitsUntilNobodyElseCanActBefore) {
  Schedule schedule(priorities(2), {{0, 0, true, 1}, {1, 0, true, 1}}, options(100ms));
  schedule.next();
  schedule.executed(0, 500us);
  schedule.arrived(0, true);
  auto e = schedule.next();
  EXPECT_EQ(e.kind, Kind::run) << "CPU 1 stands at 0 and might still write";
  EXPECT_EQ(e.program, 1u);
  schedule.executed(1, 600us);
  e = schedule.next();
  EXPECT_EQ(e.kind, Kind::operation);
  EXPECT_EQ(e.program, 0u);
  EXPECT_EQ(e.at, at(500us));
}

TEST(Schedule, AWriteNeedsNotWait) {
  Schedule schedule(priorities(2), {{0, 0, false, 1}, {1, 0, false, 1}}, options(100ms));
  schedule.executed(1, 500us);
  schedule.arrived(1, false);
  const auto e = schedule.next();  // CPU 0 runs somewhere and has not asked yet
  EXPECT_EQ(e.kind, Kind::operation);
  EXPECT_EQ(e.program, 1u);
}

TEST(Schedule, AWriteWaitsWhileAMessageCouldStillPreemptIt) {
  // CPU 1 has a receiver (2) that a message from CPU 0 may wake before the write of program 1.
  Schedule schedule(priorities(2), {{0, 0, false, 1}, {1, 0, false, 1}, {1, 1, false, 1}}, options(100ms));
  schedule.arrived(2, true);
  auto e = schedule.next();
  ASSERT_EQ(e.program, 2u);
  schedule.suspend(2, 0, SimTime::never(), true, false);
  schedule.executed(1, 5ms);
  schedule.arrived(1, false);
  e = schedule.next();
  ASSERT_EQ(e.kind, Kind::arrive);
  ASSERT_EQ(e.program, 0u);
  schedule.executed(0, 2ms);
  schedule.arrived(0, false);
  e = schedule.next();
  ASSERT_EQ(e.program, 0u);
  schedule.message(2, 0, at(2ms) + SimSpan::from_ns(1));
  schedule.suspend(0, 0, at(50ms), false, false);
  e = schedule.next();
  EXPECT_EQ(e.kind, Kind::wake);
  EXPECT_EQ(e.program, 2u);
  EXPECT_EQ(e.at, at(2ms) + SimSpan::from_ns(1));
  schedule.executed(2, 1ms);
  schedule.arrived(2, false);
  schedule.next();
  schedule.suspend(2, 0, at(90ms), false, false);
  e = schedule.next();
  EXPECT_EQ(e.program, 1u);
  EXPECT_EQ(e.at, at(6ms)) << "late by what preempted it";
}

TEST(Schedule, LeastProgressSharesACpuBySlices) {
  std::vector<std::unique_ptr<Policy>> fair;
  fair.push_back(std::make_unique<LeastProgress>(1ms));
  Schedule schedule(std::move(fair), {{0, 0, true, 1}, {0, 0, true, 1}}, options(10ms, 10ms, 10ms));
  std::string order;
  while (order.size() < 6) {
    const auto e = schedule.next();
    ASSERT_EQ(e.kind, Kind::run);
    EXPECT_EQ(e.budget, SimSpan(1ms));
    order += std::to_string(e.program);
    schedule.executed(e.program, e.budget);
  }
  EXPECT_EQ(order, "010101");
}

TEST(Schedule, AStalledProgramThatIsChargedHoldsTheOthersBack) {
  Schedule schedule(priorities(2), {{0, 0, true, 1}, {1, 0, true, 1}}, options(100ms));
  schedule.next();
  schedule.executed(0, 100us);
  schedule.arrived(0, false);
  while (schedule.next().kind == Kind::run) schedule.executed(1, 1ms);
  schedule.stall(0, at(100us));
  auto e = schedule.next();
  EXPECT_EQ(e.kind, Kind::stalled);
  schedule.stalled_until(0, at(5ms));
  e = schedule.next();
  EXPECT_EQ(e.kind, Kind::run);
  EXPECT_EQ(e.program, 1u);
  EXPECT_EQ(schedule.recovered(0, at(7ms)), at(7ms));
}

TEST(Schedule, AStalledProgramThatIsFreeComesBackWhenTheOrderAllows) {
  Schedule schedule(priorities(1), {{0, 0, true, 1}}, options(100ms));
  schedule.next();
  schedule.arrived(0, false);
  schedule.next();
  schedule.stall(0, SimTime::never());
  EXPECT_EQ(schedule.next().kind, Kind::step);
  schedule.stepped();
  EXPECT_EQ(schedule.recovered(0, at(0ms)), at(10ms));
  EXPECT_EQ(schedule.next().kind, Kind::wake);
}

TEST(Schedule, AProgramThatLeftHoldsNobody) {
  Schedule schedule(priorities(1), {{0, 0, true, 1}}, options(10ms));
  schedule.leave(0);
  EXPECT_EQ(schedule.next().kind, Kind::step);
  schedule.stepped();
  EXPECT_EQ(schedule.next().kind, Kind::finished);
}

// Any number of programs that compute, wait and read at random: nobody's time goes back, operations that read come in
// order, and whatever is measured stays within the bound.
class ScheduleAtRandom : public testing::TestWithParam<int> {};

TEST_P(ScheduleAtRandom, KeepsOrderAndBound) {
  unsigned seed = static_cast<unsigned>(GetParam());
  const auto random = [&](unsigned n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
  };
  const std::size_t cpus = 1 + random(4);
  std::vector<Schedule::Place> places;
  for (std::uint32_t c = 0; c < cpus; ++c) {
    for (unsigned n = 1 + random(3); n > 0; --n) places.push_back({c, static_cast<int>(random(3)), true, 1});
  }
  const SimSpan step = SimSpan::from_ns(1'000'000 + random(9) * 1'000'000);
  const SimSpan quantum = 1ms;
  const SimSpan overrun_most = 20us;
  Schedule schedule(priorities(cpus), places, options(100ms, step, quantum));
  SimTime read_last = SimTime::zero();
  std::vector<bool> reads(places.size());
  for (int n = 0; n < 100'000; ++n) {
    const auto e = schedule.next();
    if (e.kind == Kind::finished) return;
    SimTime most = schedule.world();
    SimTime least = schedule.world();
    for (std::uint32_t c = 0; c < cpus; ++c) {
      most = std::max(most, schedule.progress(c));
      least = std::min(least, schedule.progress(c));
    }
    ASSERT_LE(most - least, std::max(quantum, step) + overrun_most) << "seed " << GetParam();
    if (e.kind == Kind::step) {
      schedule.stepped();
    } else if (e.kind == Kind::run) {
      ASSERT_GT(e.budget, SimSpan::zero());
      std::vector<Schedule::Event> found;
      schedule.beside(found);
      const bool asks = random(3) == 0;
      const SimSpan whole = e.budget + SimSpan::from_ns(random(20'000));
      schedule.executed(e.program, asks ? SimSpan::from_ns(random(static_cast<unsigned>(e.budget.ns()))) : whole);
      if (asks) schedule.arrived(e.program, reads[e.program] = random(2) == 0);
      for (const auto& other : found) {  // on other cores at the same time
        if (random(2) == 0) continue;
        ASSERT_GT(other.budget, SimSpan::zero());
        schedule.executed(other.program, other.budget + SimSpan::from_ns(random(20'000)));
      }
    } else if (e.kind == Kind::operation) {
      if (reads[e.program]) {
        ASSERT_GE(e.at, schedule.world());
        ASSERT_LT(e.at, schedule.boundary());
        ASSERT_GE(e.at, read_last);
        read_last = e.at;
        schedule.resume(e.program);
      } else {
        schedule.suspend(e.program, 0, e.at + SimSpan::from_ns(random(20'000'000)), false, false);
      }
    } else {
      ASSERT_EQ(e.kind, Kind::wake);
    }
  }
  FAIL() << "no end, seed " << GetParam();
}
INSTANTIATE_TEST_SUITE_P(Seeds, ScheduleAtRandom, testing::Range(1, 60));

}  // namespace
}  // namespace isochron::coordinator
