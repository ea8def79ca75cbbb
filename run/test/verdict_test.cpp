#include "run/verdict.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace isochron {
namespace {

using namespace std::chrono_literals;

RunReport consistent() {
  RunReport report;
  report.mode = Mode::consistent;
  report.promised = SimSpan(1ms);
  report.drift_p999 = SimSpan(1020us);
  report.drift_max = SimSpan(1048us);
  report.programs.push_back({.name = "predator/planner"});
  report.not_repeatable = {"predator/planner: its computing is measured"};
  return report;
}

TEST(Verdict, APreemptionThatIsLateByAsMuchAsTimersAreSpoilsNothing) {
  const Verdict verdict = verdict_of(consistent());
  EXPECT_EQ(verdict.coherence, Coherence::coherent);
  EXPECT_EQ(verdict.line,
            "coherent: 99.9 % of drift within 1.02ms (1ms promised) · no deadline missed · does not repeat: "
            "predator/planner: its computing is measured");
}

TEST(Verdict, TheWorstIsNamedWithItsCause) {
  RunReport report = consistent();
  report.drift_max = SimSpan(13ms);
  report.late_preemption = "a preemption at 3.2s came 12ms late: the host took the core";
  report.late_beyond = SimSpan(12ms);
  const Verdict verdict = verdict_of(report);
  EXPECT_EQ(verdict.coherence, Coherence::coherent);
  EXPECT_EQ(
      verdict.why,
      "99.9 % of drift within 1.02ms (1ms promised), at most 13.0ms: a preemption at 3.2s came 12ms late: the host "
      "took the core");
}

TEST(Verdict, WhatNoPreemptionExplainsIsNotCoherent) {
  RunReport report = consistent();
  report.drift_max = SimSpan(13ms);
  EXPECT_EQ(verdict_of(report).coherence, Coherence::not_coherent);
  report.late_preemption = "a preemption at 3.2s came 300us late: the host took the core";
  report.late_beyond = SimSpan(300us);
  EXPECT_EQ(verdict_of(report).coherence, Coherence::not_coherent);
  EXPECT_NE(verdict_of(report).why.find("no late preemption explains it"), std::string::npos);
}

TEST(Verdict, ARunThatDriftsOftenIsNotCoherentWhateverItsWorstIs) {
  RunReport report = consistent();
  report.drift_p999 = SimSpan(1300us);
  report.drift_max = SimSpan(1400us);
  EXPECT_EQ(verdict_of(report).coherence, Coherence::not_coherent);
  EXPECT_EQ(verdict_of(report).why, "99.9 % of drift within 1.30ms (1ms promised), at most 1.40ms");
}

TEST(Verdict, ACallbackRunSaysForHowLongComputingWasFree) {
  RunReport report = consistent();
  report.mode = Mode::callback;
  report.drift_max = SimSpan(168s);
  report.not_repeatable.clear();
  EXPECT_EQ(verdict_of(report).line,
            "computing was free for 168s more than the world lasted · no deadline missed · repeats");
  report.drift_max = SimSpan(1ms);
  EXPECT_EQ(verdict_of(report).coherence, Coherence::free);
}

TEST(Verdict, DeadlinesAndExpectationsAreCounted) {
  RunReport report = consistent();
  report.programs[0].missed_deadlines = 2;
  report.programs.push_back({.name = "prey/controller", .missed_deadlines = 1});
  report.expectations.resize(3);
  for (expect::Judgement& one : report.expectations) one.verdict = expect::Verdict::held;
  EXPECT_NE(verdict_of(report).line.find("3 deadlines missed · all 3 expectations held"), std::string::npos);
  report.expectations[1].verdict = expect::Verdict::violated;
  EXPECT_NE(verdict_of(report).line.find("1 of 3 expectations violated"), std::string::npos);
}

TEST(Verdict, HardwareIsCoherentWhereAnswersWereHeldAndClocksWereGood) {
  RunReport report;
  report.mode = Mode::hil;
  report.hil.emplace();
  report.hil->synced = true;
  report.hil->targets.push_back({.name = "uav/board"});
  EXPECT_EQ(verdict_of(report).coherence, Coherence::coherent);
  report.hil->targets[0].clock_faults = 1;
  EXPECT_EQ(verdict_of(report).why, "the clock of uav/board was at fault");
  report.hil->targets[0].clock_faults = 0;
  report.hil->targets[0].held = false;
  report.hil->targets[0].apart_most_s = 0.003;
  EXPECT_EQ(verdict_of(report).coherence, Coherence::wall_clock);
  EXPECT_EQ(verdict_of(report).why, "uav/board runs free, at most 3.00ms apart from simulated time");
  report.hil->synced = false;
  EXPECT_EQ(verdict_of(report).coherence, Coherence::not_coherent);
}

TEST(Verdict, FlowsAreInOrderUnlessTheyRunFree) {
  RunReport report;
  report.mode = Mode::repeatable;
  report.in_order = true;
  EXPECT_EQ(verdict_of(report).line, "in order: every message was taken in at its time · repeats");
  report.in_order = false;
  report.not_repeatable = {"executor free"};
  EXPECT_EQ(verdict_of(report).coherence, Coherence::not_judged);
}

}  // namespace
}  // namespace isochron
