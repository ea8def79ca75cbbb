// Whole runs with real processes: what computing costs, and in which order things happen.
#include <sched.h>

#include <algorithm>
#include <thread>

#include "programs/test/run_support.hpp"

namespace isochron::programs {
namespace {

TEST(CoordinatorRun, CallbackModeIsTheSameProgramsWithFreeComputing) {
  const auto r = run({robot("a", {program("controller", {"controller", "10", "1"}, ZeroCompute{})})}, 200ms);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/controller").activations, 20u);
  EXPECT_EQ(r.of("a/controller").executed, SimSpan::zero());
  EXPECT_EQ(r.of("a/controller").overruns, 0u);
  EXPECT_EQ(r.of("a/controller").ended, "");
  EXPECT_EQ(r.outcome.control, "");
  EXPECT_EQ(r.out_of_order, 0);
}

TEST(CoordinatorRun, MeasuredComputingTakesSimulatedTime) {
  const auto r = run({robot("a", {program("controller", {"controller", "10", "2"})})}, 200ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/controller").activations, 20u);
  EXPECT_GE(r.of("a/controller").executed, SimSpan(38ms));
  EXPECT_LT(r.of("a/controller").executed, SimSpan(60ms));
  EXPECT_EQ(r.of("a/controller").stalls, 0u);
  EXPECT_EQ(r.out_of_order, 0);
}

TEST(CoordinatorRun, ASlowerComputerMissesItsDeadlines) {
  auto slow = program("controller", {"controller", "10", "2"});
  slow.cpu_speed = {1, 8};
  const auto r = run({robot("a", {slow})}, 300ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_GE(r.of("a/controller").overruns, 10u);
  EXPECT_LT(r.of("a/controller").activations, 20u);  // 16 ms for each
  EXPECT_GT(r.of("a/controller").activations, 10u);
}

TEST(CoordinatorRun, AnActivationThatEndsAfterItsDeadlineMissesIt) {
  auto controller = program("controller", {"controller", "10"}, modelled(4ms));
  controller.deadline = 3ms;
  controller.offset = 2ms;
  auto r = run({robot("a", {controller})}, 100ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/controller").missed, 10u);
  EXPECT_EQ(r.of("a/controller").overruns, 0u);
  const auto first = std::find_if(r.record.happenings.begin(), r.record.happenings.end(),
                                  [](const Happening& h) { return h.kind == Happening::Kind::release; });
  ASSERT_NE(first, r.record.happenings.end());
  EXPECT_EQ(first->at, at(2ms));
  controller.best_effort = true;
  EXPECT_EQ(run({robot("a", {controller})}, 100ms).of("a/controller").missed, 0u);
}

TEST(CoordinatorRun, ProgramsWithShortTurnsComeToItsCoreAndOthersHaveAll) {
  const auto cores = std::thread::hardware_concurrency();
  if (cores < 2) GTEST_SKIP() << "there is one core";
  std::vector<RobotSpec> robots{robot("thinker", {program("computes", {"dwells", "300"}, ZeroCompute{})})};
  for (std::uint32_t i = 0; i < cores; ++i) {
    robots.push_back(robot("r" + std::to_string(i), {program("quick", {"dwells", "0"}, ZeroCompute{})}));
  }
  const auto r = run(robots, 250ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.logs(0), std::vector<std::string>{std::to_string(cores)});
  for (std::uint32_t i = 1; i <= cores; ++i) EXPECT_EQ(r.logs(i), std::vector<std::string>{"1"});
  cpu_set_t own;
  sched_getaffinity(0, sizeof own, &own);
  EXPECT_EQ(CPU_COUNT(&own), static_cast<int>(cores));  // and so does the coordinator's thread, afterwards
}

TEST(CoordinatorRun, AccountingAddsUp) {
  auto planner = program("planner", {"planner", "4"});
  planner.to = "controller";
  const auto r = run({robot("a", {program("controller", {"controller", "10", "2"}), planner}),
                      robot("b", {program("controller", {"controller", "5", "1"})})},
                     200ms);
  const Accounting& a = r.outcome.accounting;
  EXPECT_EQ(a.executed + a.world + a.coordination + a.waited + a.idle, a.wall);
  EXPECT_GT(a.executed, WallSpan(50ms));
  EXPECT_GT(a.coordination, WallSpan::zero());
}

TEST(CoordinatorRun, DriftStaysWithinTheLongerOfQuantumAndStepPlusOverrun) {
  std::vector<RobotSpec> robots;
  for (const char* name : {"a", "b", "c"}) robots.push_back(robot(name, {program("spin", {"spin"})}));
  robots[0].programs.push_back(program("controller", {"controller", "10", "1"}));
  robots[0].programs.back().priority = 1;
  auto options = quick();
  options.step = 2ms;
  options.quantum = 1ms;
  for (const SimSpan length : {SimSpan(50ms), SimSpan(200ms)}) {
    const auto r = run(robots, length, options);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    EXPECT_TRUE(r.outcome.drift_exact);
    EXPECT_GT(r.outcome.drift_max, SimSpan::zero());
    EXPECT_LE(r.outcome.drift_max, SimSpan(2ms) + r.outcome.overrun_max) << "over " << length.seconds() << " s";
  }
}

TEST(CoordinatorRun, APlanIsNeverReceivedBeforeItWasSent) {
  auto planner = program("planner", {"planner", "3"});
  planner.to = "follower";
  planner.best_effort = true;
  auto follower = program("follower", {"follower", "10"});
  follower.priority = 1;
  const auto r = run({robot("a", {follower, planner})}, 300ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_GT(r.of("a/follower").received, 20u);
  EXPECT_GT(r.of("a/planner").preemptions, 0u);
  for (const Happening& h : r.record.happenings) {
    if (h.kind == Happening::Kind::receive) {
      EXPECT_LE(h.stamp, h.at);
    }
  }
}

TEST(CoordinatorRun, MessagesBetweenRobotsTakeTimeAndAnswersComeBack) {
  const auto r = run({robot("a", {program("asker", {"asker"}, ZeroCompute{})}),
                      robot("b", {program("answerer", {"answerer"}, modelled(1ms))})},
                     100ms);
  // The two are on different robots: each needs the other's whole name.
  EXPECT_FALSE(r.outcome.completed);
  EXPECT_NE(r.outcome.why_ended.find("sends to answerer, which is no program of this run"), std::string::npos)
      << r.outcome.why_ended;
}

TEST(CoordinatorRun, QuestionsAndAnswersOfOneRobot) {
  const auto r =
      run({robot("a", {program("asker", {"asker"}, ZeroCompute{}), program("answerer", {"answerer"}, modelled(1ms))})},
          100ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.logs(0).size(), 20u);
  EXPECT_EQ(r.of("a/answerer").executed, SimSpan(20ms));
}

TEST(CoordinatorRun, HappeningsComeInTheOrderOfTime) {
  const auto r = run({robot("a", {program("controller", {"controller", "7", "1"})}),
                      robot("b", {program("controller", {"controller", "3", "0.5"})})},
                     200ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  for (std::size_t i = 1; i < r.record.happenings.size(); ++i) {
    EXPECT_LE(r.record.happenings[i - 1].at, r.record.happenings[i].at);
  }
  EXPECT_EQ(r.out_of_order, 0);
}

TEST(CoordinatorRun, ARunCanBeStopped) {
  DoubleIntegrator plant({"a"});
  std::stop_source stop;
  Coordinator coordinator(plant, {robot("a", {program("spin", {"spin"})})}, quick());
  int told = 0;
  const RunOutcome outcome = coordinator.run(SimTime::never(), stop.get_token(), [&](SimTime, SimSpan) {
    if (++told == 2) stop.request_stop();
  });
  EXPECT_FALSE(outcome.completed);
  EXPECT_EQ(outcome.why_ended, "stopped");
}

TEST(CoordinatorRun, AWorldThatBreaksEndsTheRunWithItsReason) {
  DoubleIntegrator plant({"a"});
  plant.fails_at = at(50ms);
  Coordinator coordinator(plant, {robot("a", {program("controller", {"controller"}, ZeroCompute{})})}, quick());
  const RunOutcome outcome = coordinator.run(at(1s));
  EXPECT_EQ(outcome.why_ended, "the world: the mass is gone");
  EXPECT_EQ(outcome.reached, at(40ms));
}

TEST(CoordinatorRun, APaceHoldsBackAndIsIdleTime) {
  auto options = quick();
  options.pace = PaceRate(5, 1);  // five times slower than real time
  const auto r = run({robot("a", {program("controller", {"controller"}, ZeroCompute{})})}, 200ms, options);
  EXPECT_GE(r.outcome.accounting.wall, WallSpan(950ms));
  EXPECT_GT(r.outcome.accounting.idle, WallSpan(100ms));
}

std::string why_no_lanes() {
  if (std::thread::hardware_concurrency() < 2) return "needs two cores";
  return missing_privileges();
}

TEST(CoordinatorRun, RobotsExecuteOnSeveralCoresAtOnce) {
  if (const std::string why = why_no_lanes(); !why.empty()) GTEST_SKIP() << why;
  std::vector<RobotSpec> robots;
  for (const char* name : {"a", "b", "c"}) robots.push_back(robot(name, {program("spin", {"spin"})}));
  auto options = quick();
  options.cores = 2;
  options.step = 2ms;
  const auto r = run(robots, 100ms, options);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  if (r.outcome.lanes < 2) GTEST_SKIP() << "another coordinator has the other core";
  EXPECT_NE(r.outcome.control.find("at once"), std::string::npos) << r.outcome.control;
  const Accounting& a = r.outcome.accounting;
  EXPECT_EQ(a.executed + a.world + a.coordination + a.waited + a.idle, a.wall);
  // Three robots on two cores: 300 ms of computing in not much more than half of that.
  EXPECT_GE(r.outcome.executed, CpuSpan(299ms));
  EXPECT_LT(a.executed.seconds(), 0.85 * r.outcome.executed.seconds());
  EXPECT_LE(r.outcome.drift_max, SimSpan(2ms) + r.outcome.overrun_max);
  for (const ProgramOutcome& p : r.outcome.programs) EXPECT_GE(p.executed, SimSpan(100ms)) << p.name;
}

TEST(CoordinatorRun, ARunOnOneCoreIsAskedFor) {
  auto options = quick();
  options.cores = 1;
  const auto r = run({robot("a", {program("spin", {"spin"})}), robot("b", {program("spin", {"spin"})})}, 20ms, options);
  EXPECT_EQ(r.outcome.lanes, 1u);
}

TEST(CoordinatorRun, WithoutPrivilegesItStillRunsAndSaysSo) {
  auto options = quick();
  options.privileges = Privileges::do_without;
  auto planner = program("planner", {"planner", "4"});
  planner.to = "controller";
  const auto r = run({robot("a", {program("controller", {"controller", "10", "2"}), planner})}, 100ms, options);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_TRUE(r.outcome.degraded);
  EXPECT_NE(r.outcome.control.find("degraded"), std::string::npos);
  EXPECT_EQ(r.of("a/controller").activations, 10u);
  EXPECT_GE(r.of("a/controller").executed, SimSpan(18ms));
}

}  // namespace
}  // namespace isochron::programs
