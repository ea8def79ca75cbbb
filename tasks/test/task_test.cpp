#include "tasks/task.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace isochron::tasks {
namespace {

using namespace std::chrono_literals;

/// Time passes when a task says so.
struct Machine {
  SimTime time;
  std::vector<std::string> lines;
  [[nodiscard]] SimTime now() const { return time; }
  void log(const std::string& line) { lines.push_back(line); }
};

/// Takes `steps` steps of `each`; tells what was called.
struct Counting : Task<int> {
  Counting(Machine& on, int wanted, SimSpan step_takes) : machine(on), steps(wanted), each(step_takes) {}
  void initialise() override { calls += "i"; }
  bool done() override { return taken == steps; }
  void step() override {
    calls += "s";
    machine.time += each;
    ++taken;
  }
  int finalise() override {
    calls += "f";
    metrics["taken"] = taken;
    return taken;
  }
  Machine& machine;
  int steps;
  SimSpan each;
  int taken = 0;
  std::string calls;
};

TEST(Task, InitialisesStepsUntilDoneAndFinalises) {
  Machine machine;
  Counting task(machine, 3, 10ms);
  const Outcome<int> outcome = run(machine, "count", task, 1s);
  EXPECT_EQ(task.calls, "isssf");
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.result, 3);
  EXPECT_EQ(outcome.took, SimSpan(30ms));
  EXPECT_EQ(outcome.steps, 3U);
  EXPECT_EQ(outcome.metrics.at("taken"), 3);
  ASSERT_EQ(machine.lines.size(), 1U);
  EXPECT_EQ(machine.lines[0], "task count done after 0.030000 s, 3 steps, taken 3");
}

TEST(Task, ItsTimeLimitIsSimulatedTimeAndItIsFinalisedAllTheSame) {
  Machine machine;
  Counting task(machine, 100, 10ms);
  const Outcome<int> outcome = run(machine, "count", task, 45ms);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(task.calls, "isssssf");
  EXPECT_EQ(outcome.result, 5);
}

TEST(Task, NothingToDoIsNoStep) {
  Machine machine;
  Counting task(machine, 0, 10ms);
  EXPECT_TRUE(run(machine, "count", task).ok());
  EXPECT_EQ(task.calls, "if");
}

/// Each step is a task of its own.
struct Outer : Task<int> {
  Outer(Machine& on, SimSpan limit_of_inner) : machine(on), inner_limit(limit_of_inner) {}
  bool done() override { return ends.size() == 3; }
  void step() override {
    Counting inner(machine, 4, 10ms);
    ends.push_back(run(machine, "inner", inner, inner_limit).end);
    calls = inner.calls;
  }
  int finalise() override { return static_cast<int>(ends.size()); }
  Machine& machine;
  SimSpan inner_limit;
  std::vector<End> ends;
  std::string calls;
};

TEST(Task, ATaskWithinATaskHasALimitOfItsOwn) {
  Machine machine;
  Outer outer(machine, 25ms);
  EXPECT_TRUE(run(machine, "outer", outer, 1s).ok()) << "that its parts were late is theirs";
  EXPECT_EQ(outer.ends, (std::vector<End>{End::timed_out, End::timed_out, End::timed_out}));
}

TEST(Task, TheLimitOfATaskHoldsForTheTasksWithinIt) {
  Machine machine;
  Outer outer(machine, 1s);
  const Outcome<int> outcome = run(machine, "outer", outer, 60ms);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(outer.ends, (std::vector<End>{End::done, End::timed_out}));
  EXPECT_EQ(outer.calls, "issf") << "finalised by the limit around it";
  EXPECT_EQ(deadline(), SimTime::never()) << "and no limit is left behind";
}

}  // namespace
}  // namespace isochron::tasks
