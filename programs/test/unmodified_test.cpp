// Programs in other languages, and programs that know nothing of us.
#include <map>
#include <sstream>

#include "programs/test/run_support.hpp"

namespace isochron::programs {
namespace {

ProgramSpec plain(std::vector<std::string> run, Compute compute = MeasuredCompute{}) {
  ProgramSpec spec;
  spec.name = "plain";
  spec.run = std::move(run);
  spec.virtual_clock = true;
  spec.compute = std::move(compute);
  return spec;
}

ProgramSpec python(std::vector<std::string> arguments, Compute compute = MeasuredCompute{}) {
  ProgramSpec spec;
  spec.name = "python";
  spec.run = std::move(arguments);
  spec.run.insert(spec.run.begin(), "python3");
  spec.compute = std::move(compute);
  spec.environment = {{"PYTHONPATH", PYTHON_FOLDER}, {"ISOCHRON_CLIENT", CLIENT_LIBRARY}};
  return spec;
}

std::map<std::string, double> numbers(const std::string& output) {
  std::map<std::string, double> found;
  std::istringstream lines(output);
  std::string name;
  double value = 0;
  while (lines >> name >> value) found[name] = value;
  return found;
}

TEST(UnmodifiedPrograms, EverySleepAndTimeLimitFollowsSimulatedTime) {
  const auto r = run({robot("a", {plain({PLAIN_PROGRAM, "sleeps"}, ZeroCompute{})})}, 1s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  const auto found = numbers(r.of("a/plain").output);
  EXPECT_EQ(found.size(), 14u) << r.of("a/plain").output;
  for (const auto& [name, ms] : found) {
    EXPECT_GE(ms, 9.99) << name;
    EXPECT_LT(ms, 11.1) << name;
  }
}

TEST(UnmodifiedPrograms, RarerTimeLimitsFollowSimulatedTimeToo) {
  const auto r = run({robot("a", {plain({PLAIN_PROGRAM, "limits"}, ZeroCompute{})})}, 1s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  const auto found = numbers(r.of("a/plain").output);
  EXPECT_EQ(found.size(), 14u) << r.of("a/plain").output;
  for (const auto& [name, ms] : found) {
    EXPECT_GE(ms, 9.99) << name;
    EXPECT_LT(ms, 11.1) << name;
  }
  EXPECT_LT(r.outcome.accounting.wall, WallSpan(5s)) << "something really slept";
}

// Also measured: the program's own computing passes in between, and other threads of it wait for a time.
TEST(UnmodifiedPrograms, TimersSendTheirSignalsInSimulatedTime) {
  for (const Compute& compute : {Compute{ZeroCompute{}}, Compute{MeasuredCompute{}}}) {
    const auto r = run({robot("a", {plain({PLAIN_PROGRAM, "signals"}, compute)})}, 2s);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    const auto found = numbers(r.of("a/plain").output);
    EXPECT_EQ(found.size(), 8u) << r.of("a/plain").output << "contract " << compute.index() << ", "
                                << r.of("a/plain").last_state << ", " << r.of("a/plain").ended;
    for (const auto& [name, ms] : found) {
      EXPECT_GE(ms, 9.99) << name;
      EXPECT_LT(ms, 12) << name;
    }
  }
}

TEST(UnmodifiedPrograms, AScriptThatForksAndHandlesSignalsComesThrough) {
  // As shims do that start another program: sub-shells, pipes, a trap, then exec.
  const char* script =
      "trap 'true' CHLD; a=$(echo one | cat); for i in 1 2 3 4 5; do b=$(sleep 0.01; echo $i); done\n"
      "exec python3 -c 'import time, subprocess, sys\n"
      "subprocess.run([\"true\"])\n"
      "start = time.monotonic(); time.sleep(0.25); print(\"slept\", time.monotonic() - start)'";
  for (int i = 0; i < 2; ++i) {
    const auto r = run({robot("a", {plain({"bash", "-c", script}, ZeroCompute{})})}, 1s);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    EXPECT_DOUBLE_EQ(numbers(r.of("a/plain").output)["slept"], 0.25) << r.of("a/plain").output;
  }
}

TEST(UnmodifiedPrograms, MeasuredComputingMovesTheirClock) {
  const auto r = run({robot("a", {plain({PLAIN_PROGRAM, "loop", "20"})})}, 500ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  const auto found = numbers(r.of("a/plain").output);
  ASSERT_EQ(found.size(), 20u) << r.of("a/plain").output;
  EXPECT_GE(found.at("19"), 200.0);
  EXPECT_LT(found.at("19"), 215.0);
  EXPECT_NE(r.of("a/plain").ended.find("exited with 0 at 2"), std::string::npos) << r.of("a/plain").ended;
}

TEST(UnmodifiedPrograms, ClocksAgree) {
  const auto r = run({robot("a", {plain({PLAIN_PROGRAM, "clocks"}, ZeroCompute{})})}, 2s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/plain").output, "day 1500\nreal 1500\nsteady 1500\ntime moved\n");
  EXPECT_LT(r.outcome.accounting.wall, WallSpan(1s)) << "nothing really slept";
}

TEST(UnmodifiedPrograms, AnAnytimePlannerWithThreadsStopsOnItsOwnLimit) {
  const auto r = run({robot("a", {plain({PLAIN_PROGRAM, "anytime", "20"})})}, 100ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  const auto found = numbers(r.of("a/plain").output);
  ASSERT_TRUE(found.contains("planned")) << r.of("a/plain").output;
  EXPECT_GE(found.at("planned"), 20.0);
  EXPECT_LT(found.at("planned"), 30.0);
  EXPECT_NE(r.of("a/plain").output.find("rounds some"), std::string::npos);
  EXPECT_GT(r.of("a/plain").executed, SimSpan(10ms));
}

TEST(UnmodifiedPrograms, APythonScriptSleepsInSimulatedTime) {
  const char* script =
      "import time\n"
      "start = time.monotonic()\n"
      "for i in range(5): time.sleep(0.1)\n"
      "print('slept', time.monotonic() - start)\n";
  const auto r = run({robot("a", {plain({"python3", "-c", script}, ZeroCompute{})})}, 1s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_DOUBLE_EQ(numbers(r.of("a/plain").output)["slept"], 0.5) << r.of("a/plain").output;
}

TEST(UnmodifiedPrograms, TheirRecordedRunIsTheMeasuredRunAgain) {
  const std::vector<RobotSpec> robots{robot("a", {plain({PLAIN_PROGRAM, "loop", "10"})})};
  const auto measured = run(robots, 150ms);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  const auto again = run(replayed(robots, measured), 150ms);
  EXPECT_EQ(measured.of("a/plain").output, again.of("a/plain").output);
  EXPECT_EQ(measured.of("a/plain").ended, again.of("a/plain").ended);
}

TEST(UnmodifiedPrograms, APlannerOfOmplStopsOnItsOwnTimeLimit) {
#ifdef OMPL_PROGRAM
  for (const Fraction speed : {Fraction{1, 1}, Fraction{1, 4}}) {
    auto planner = plain({OMPL_PROGRAM, "0.1"});
    planner.cpu_speed = speed;
    const auto r = run({robot("a", {planner})}, 1s);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    auto found = numbers(r.of("a/plain").output);
    EXPECT_GE(found["planned"], 0.1) << r.of("a/plain").output;
    EXPECT_LT(found["planned"], 0.2) << r.of("a/plain").output;
    EXPECT_GT(found["length"], 1.2) << "a path around the obstacle";
    EXPECT_LT(r.of("a/plain").cpu.seconds(), 0.3 * speed.value() + 0.1);
  }
#else
  GTEST_SKIP() << "OMPL (libompl-dev) is not installed";
#endif
}

TEST(PythonProgram, IsWrittenAsOneInCppIs) {
  const char* script =
      "import isochron\n"
      "robot = isochron.attach()\n"
      "while (now := robot.wait(0.010)) is not None:\n"
      "    robot.write('thrust', 1 - robot.read('position'))\n"
      "    robot.log(f'at {now:.2f}')\n";
  const auto r = run({robot("a", {python({"-c", script}, modelled(1ms))})}, 100ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended << r.of("a/python").output;
  EXPECT_EQ(r.of("a/python").activations, 10u);
  EXPECT_EQ(r.of("a/python").writes, 10u);
  EXPECT_EQ(r.logs(0).at(3), "at 0.03");
}

TEST(PythonProgram, IsToldWhatIsWrong) {
  const char* script =
      "import isochron\n"
      "robot = isochron.attach()\n"
      "try:\n"
      "    robot.read('poise')\n"
      "except isochron.Error as error:\n"
      "    print(error)\n";
  const auto r = run({robot("a", {python({"-c", script}, ZeroCompute{})})}, 50ms);
  EXPECT_EQ(r.of("a/python").output, "there is no variable poise; known here: a/position a/thrust\n");
}

}  // namespace
}  // namespace isochron::programs
