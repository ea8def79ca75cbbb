// Programs that misbehave: each is named, none stops the others or outlives the run.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "programs/test/run_support.hpp"

namespace isochron::programs {
namespace {

/// How many processes run this behaviour of the robot program.
int alive(const std::string& behaviour) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string line;
    std::getline(file, line);
    const std::string wanted = std::string(ROBOT_PROGRAM) + '\0' + behaviour + '\0';
    if (line.compare(0, wanted.size(), wanted) == 0) ++count;
  }
  return count;
}

/// The bad program beside a good one that must not notice; returns the run.
Run beside_good(ProgramSpec bad, SimSpan until = 100ms, CoordinatorOptions options = quick()) {
  bad.name = "bad";
  bad.on_failure = OnFailure::go_on;
  auto r = run({robot("a", {program("good", {"controller", "10", "0.5"})}), robot("b", {bad})}, until, options);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/good").activations, static_cast<std::uint64_t>(until / SimSpan(10ms)));
  EXPECT_EQ(r.of("a/good").overruns, 0u);
  const Accounting& a = r.outcome.accounting;
  EXPECT_EQ(a.executed + a.world + a.coordination + a.waited + a.idle, a.wall);
  return r;
}

bool mentions(const std::vector<std::string>& texts, const std::string& wanted) {
  for (const std::string& text : texts) {
    if (text.find(wanted) != std::string::npos) return true;
  }
  return false;
}

TEST(BadProgram, ThatDoesNotExistIsNamed) {
  auto bad = program("bad", {});
  bad.run = {"/no/such/program"};
  try {
    run({robot("a", {bad})}, 10ms);
    FAIL() << "it ran";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("a/bad: cannot run /no/such/program: No such file"), std::string::npos)
        << error.what();
  }
}

TEST(BadProgram, ThatSpinsCostsItsOwnRobotOnly) {
  const auto r = beside_good(program("bad", {"spin"}));
  EXPECT_GE(r.of("b/bad").executed, SimSpan(99ms));
  EXPECT_EQ(alive("spin"), 0);
}

TEST(BadProgram, ThatIgnoresSignalsDies) {
  beside_good(program("bad", {"spin_deaf"}));
  EXPECT_EQ(alive("spin_deaf"), 0);
}

TEST(BadProgram, ThatCrashesIsReportedWithWhatItSaid) {
  const auto r = beside_good(program("bad", {"crash"}));
  EXPECT_TRUE(r.of("b/bad").failed);
  EXPECT_EQ(r.of("b/bad").ended.find("killed by SIGSEGV (Segmentation fault) at 10."), 0u) << r.of("b/bad").ended;
  EXPECT_EQ(r.of("b/bad").output, "about to crash\n");
  EXPECT_EQ(r.of("b/bad").last_state.find("its last request was wait at "), 0u) << r.of("b/bad").last_state;
}

TEST(BadProgram, ThatCrashesEndsTheRunIfTheScenarioSaysSo) {
  const auto r = run({robot("a", {program("bad", {"crash"})})}, 100ms);
  EXPECT_FALSE(r.outcome.completed);
  EXPECT_EQ(r.outcome.why_ended.find("a/bad killed by SIGSEGV"), 0u) << r.outcome.why_ended;
  EXPECT_NE(r.outcome.why_ended.find("about to crash"), std::string::npos);
}

TEST(BadProgram, ThatExitsIsLeftBehind) {
  const auto r = beside_good(program("bad", {"quit", "3"}, modelled(1ms)));
  EXPECT_EQ(r.of("b/bad").ended, "exited with 3 at 10ms");
  EXPECT_TRUE(r.of("b/bad").failed);
  const auto fine = beside_good(program("bad", {"quit", "0"}, modelled(1ms)));
  EXPECT_FALSE(fine.of("b/bad").failed);
}

TEST(BadProgram, ThatForksLeavesNothing) {
  const auto r = beside_good(program("bad", {"forks"}));
  EXPECT_GE(r.outcome.strays, 1);  // two, where the child came to fork as well
  EXPECT_EQ(alive("forks"), 0);
}

TEST(BadProgram, ThatPrintsForeverFillsNothing) {
  auto options = quick();
  options.output_kept = 4096;
  auto bad = program("bad", {"prints"});
  bad.blocking = Blocking::free;
  const auto r = beside_good(bad, 100ms, options);
  EXPECT_GT(r.of("b/bad").output_size, 100'000u);
  EXPECT_LT(r.of("b/bad").output.size(), 3 * 4096u);
  EXPECT_NE(r.of("b/bad").output.find("bytes left out"), std::string::npos);
}

TEST(BadProgram, ThatWritesNaNIsRefused) {
  const auto r = beside_good(program("bad", {"writes_nan"}, ZeroCompute{}));
  EXPECT_TRUE(mentions(r.of("b/bad").faults, "writes to b/thrust: a value that is not a number"));
  EXPECT_NE(r.of("b/bad").output.find("not a number"), std::string::npos) << "it is told too";
}

TEST(BadProgram, ThatWritesAWrongTypeIsRefused) {
  const auto r = beside_good(program("bad", {"writes_wrong"}, ZeroCompute{}));
  EXPECT_TRUE(mentions(r.of("b/bad").faults, "thrust is float64, not float32"));
}

TEST(BadProgram, ThatAllocatesWithoutEndMeetsItsLimit) {
  auto bad = program("bad", {"allocates"}, ZeroCompute{});
  bad.memory_limit = 64 << 20;
  const auto r = beside_good(bad);
  EXPECT_TRUE(r.of("b/bad").failed);
  EXPECT_TRUE(mentions(r.of("b/bad").faults, "more than its limit of 64 MiB (`memory` in the scenario)"));
  EXPECT_NE(r.of("b/bad").ended.find("ended by its memory limit of 64 MiB"), std::string::npos) << r.of("b/bad").ended;
}

TEST(BadProgram, ThatBlocksIsChargedWhatTheScenarioSays) {
  const auto charged = beside_good(program("bad", {"blocks", "3"}), 100ms);
  EXPECT_GE(charged.of("b/bad").stalls, 5u);
  EXPECT_GE(charged.of("b/bad").stalled, SimSpan(14ms)) << "a block is noticed some microseconds after it began";
  auto bad = program("bad", {"blocks", "3"});
  bad.blocking = Blocking::free;
  const auto free = beside_good(bad, 100ms);
  EXPECT_GE(free.of("b/bad").stalls, 1u);
}

TEST(BadProgram, ThatHangsIsEndedWhereComputingIsNotMeasured) {
  auto options = quick();
  options.hang_after = 300ms;
  const auto r = beside_good(program("bad", {"hangs"}, ZeroCompute{}), 100ms, options);
  EXPECT_TRUE(mentions(r.of("b/bad").faults, "hangs"));
  EXPECT_TRUE(r.of("b/bad").failed);
}

TEST(BadProgram, ThatHangsWhileMeasuredOnlyLosesItsOwnTime) {
  const auto r = beside_good(program("bad", {"hangs"}), 60ms);
  EXPECT_EQ(r.of("b/bad").stalls, 1u);
  EXPECT_NE(r.of("b/bad").last_state.find("blocked in a system call"), std::string::npos) << r.of("b/bad").last_state;
}

TEST(BadProgram, ThatLiesAboutItsPeriodIsNamed) {
  auto bad = program("bad", {"controller", "7"});
  bad.every = 10ms;
  const auto r = beside_good(bad);
  EXPECT_TRUE(mentions(r.of("b/bad").faults, "waits for 7ms but is declared with every 10ms"));
}

TEST(BadProgram, ThatClosesItsDescriptorsKeepsItsLink) {
  const auto r = beside_good(program("bad", {"closes_link"}, ZeroCompute{}));
  EXPECT_FALSE(r.of("b/bad").failed) << r.of("b/bad").ended;
}

TEST(BadProgram, ThatScribblesOverItsPagesHarmsItselfOnly) {
  auto options = quick();
  options.hang_after = 300ms;
  beside_good(program("bad", {"scribbles"}, ZeroCompute{}), 100ms, options);
}

TEST(BadProgram, ThatListsNonsenseGetsAnswersAndHarmsNobody) {
  const auto r = run(
      {robot("a", {program("good", {"controller"}, ZeroCompute{}), program("bad", {"lists_nonsense"}, ZeroCompute{})})},
      100ms);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.logs(1).size(), 1u) << "every request was answered";
  EXPECT_GT(r.of("a/bad").fault_count, 10u);
  EXPECT_EQ(r.out_of_order, 0);
}

TEST(BadProgram, ThatNeverAttachesIsNamed) {
  auto options = quick();
  options.attach_within = 300ms;
  const auto r = run({robot("a", {program("bad", {"silent"})})}, 100ms, options);
  EXPECT_NE(r.outcome.why_ended.find("a/bad did not attach within 300ms"), std::string::npos) << r.outcome.why_ended;
  EXPECT_EQ(alive("silent"), 0);
}

TEST(BadProgram, ThatNeverWaitsWhereComputingIsFreeIsNamed) {
  const auto r = run({robot("a", {program("bad", {"asks_at_once"}, ZeroCompute{})})}, 20ms);
  EXPECT_FALSE(r.outcome.completed);
  EXPECT_TRUE(mentions(r.of("a/bad").faults, "without any time passing"));
}

TEST(BadSpec, TwoProgramsOfOneNameAreRefused) {
  EXPECT_THROW(run({robot("a", {program("x", {"spin"}), program("x", {"spin"})})}, 10ms), std::runtime_error);
}

TEST(BadSpec, ACoreThatTheRobotDoesNotHaveIsRefused) {
  auto bad = program("x", {"spin"});
  bad.core = 3;
  EXPECT_THROW(run({robot("a", {bad})}, 10ms), std::runtime_error);
}

/// A coordinator in a process of its own; returns its pid once its programs run.
pid_t start_coordinator(const std::string& behaviour, int programs) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<ProgramSpec> specs;
    for (int i = 0; i < programs; ++i) specs.push_back(program("p" + std::to_string(i), {behaviour, "7.77"}));
    DoubleIntegrator plant({"a"});
    Coordinator(plant, {robot("a", specs)}, quick()).run(SimTime::never());
    _exit(0);
  }
  for (int i = 0; i < 100 && alive(behaviour) < programs; ++i) usleep(20'000);
  return child;
}

TEST(Coordinator, KilledWithoutMercyLeavesNoStray) {
  const pid_t child = start_coordinator("forks", 2);
  usleep(100'000);
  EXPECT_GE(alive("forks"), 2);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (int i = 0; i < 100 && alive("forks") > 0; ++i) usleep(20'000);
  EXPECT_EQ(alive("forks"), 0);
}

TEST(Coordinator, TwoAtOnceDoNotDisturbEachOther) {
  const pid_t other = start_coordinator("spin", 1);
  const auto r = run({robot("a", {program("controller", {"controller", "10", "2"})})}, 100ms);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/controller").activations, 10u);
  EXPECT_EQ(r.of("a/controller").overruns, 0u);
  EXPECT_GE(r.of("a/controller").executed, SimSpan(19ms));
  EXPECT_LT(r.of("a/controller").executed, SimSpan(30ms));
  for (int i = 0; i < 100 && alive("spin") > 0; ++i) usleep(20'000);
  EXPECT_EQ(alive("spin"), 0);
}

}  // namespace
}  // namespace isochron::programs
