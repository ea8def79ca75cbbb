// Whole runs with real processes.
#include "coordinator/test/run_support.hpp"

namespace isochron::coordinator {
namespace {

TEST(CoordinatorRun, CallbackModeIsTheSameProgramsWithFreeComputing) {
  const auto r = run({robot("a", {program("controller", {"controller", "10", "1"}, ZeroCompute{})})}, 200ms);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/controller").activations, 20u);
  EXPECT_EQ(r.of("a/controller").executed, SimSpan::zero());
  EXPECT_EQ(r.of("a/controller").overruns, 0u);
  EXPECT_EQ(r.of("a/controller").ended, "");
  EXPECT_EQ(r.out_of_order, 0);
}

TEST(CoordinatorRun, MeasuredComputingTakesSimulatedTime) {
  const auto r = run({robot("a", {program("controller", {"controller", "10", "2"})})}, 200ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/controller").activations, 20u);
  EXPECT_GT(r.of("a/controller").executed, SimSpan(40ms));
  EXPECT_LT(r.of("a/controller").executed, SimSpan(60ms));
  EXPECT_EQ(r.out_of_order, 0);
}

}  // namespace
}  // namespace isochron::coordinator
