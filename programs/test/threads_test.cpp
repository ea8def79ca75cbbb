// Programs of several threads that nobody wrote for us, under every policy.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "programs/policy_tree.hpp"
#include "programs/test/run_support.hpp"

namespace isochron::programs {
namespace {

std::map<std::string, std::string> words(const std::string& output) {
  std::map<std::string, std::string> found;
  std::istringstream lines(output);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t space = line.find(' ');
    found[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
  }
  return found;
}

ProgramSpec plain(std::vector<std::string> run) {
  ProgramSpec spec;
  spec.name = "plain";
  spec.run = std::move(run);
  spec.virtual_clock = true;
  spec.memory_limit = std::uint64_t{8} << 30;
  return spec;
}

ProgramSpec threaded(std::vector<std::string> behaviour) {
  behaviour.insert(behaviour.begin(), THREADED_PROGRAM);
  return plain(std::move(behaviour));
}

const std::map<std::string, MakePolicy>& policies() {
  static const std::map<std::string, MakePolicy> all{
      {"the default", {}},
      {"least progress", [] { return std::make_unique<LeastProgress>(1ms); }},
      {"a tree",
       [] {
         PolicyGroup fair{PolicyGroup::Rule::fair, 0, 1, {{PolicyGroup::Rule::program, 0, 1, {}}}};
         return std::make_unique<PolicyTree>(fair, 1, 1ms);
       }},
  };
  return all;
}

TEST(ThreadedPrograms, OfPythonRunUnderEveryPolicyAndSpeed) {
  const char* pool =
      "from concurrent.futures import ThreadPoolExecutor\n"
      "import time\n"
      "def work(n):\n"
      "    time.sleep(0.001 * (n % 3)); return sum(i * i for i in range(2000 * (n % 5)))\n"
      "with ThreadPoolExecutor(4) as workers:\n"
      "    print('sum', sum(workers.map(work, range(20))))\n";
  const char* tasks =
      "import asyncio, time\n"
      "def heavy(n): return sum(range(20000 * n))\n"
      "async def one(n):\n"
      "    await asyncio.sleep(0.002 * n); return await asyncio.to_thread(heavy, n)\n"
      "async def main():\n"
      "    print('sum', sum(await asyncio.gather(*[one(n) for n in range(6)])))\n"
      "asyncio.run(main())\n";
  for (const char* script : {pool, tasks}) {
    for (const auto& [name, policy] : policies()) {
      for (const Fraction speed : {Fraction{1, 1}, Fraction{1, 4}}) {
        ProgramSpec spec = plain({"/usr/bin/python3", "-c", script});
        spec.cpu_speed = speed;
        const auto r = run({{"a", 1, policy, {spec}}}, 5s);
        EXPECT_TRUE(r.outcome.completed) << name << ": " << r.outcome.why_ended;
        EXPECT_NE(r.of("a/plain").output.find("sum "), std::string::npos) << name << ": " << r.of("a/plain").output;
      }
    }
  }
}

TEST(ThreadedPrograms, MadeAtRandomComeToTheirEndUnderEveryPolicy) {
  const char* wanted = std::getenv("ISOCHRON_SEEDS");
  const unsigned seeds = wanted == nullptr ? 60 : static_cast<unsigned>(std::atoi(wanted));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    for (const auto& [name, policy] : policies()) {
      ProgramSpec spec = threaded({"random", std::to_string(seed)});
      spec.cpu_speed = seed % 2 == 0 ? Fraction{1, 1} : Fraction{1, 4};
      const auto r = run({{"a", 1, policy, {spec}}}, 2s);
      const auto found = words(r.of("a/plain").output);
      ASSERT_TRUE(r.outcome.completed) << name << ", seed " << seed << ": " << r.outcome.why_ended;
      ASSERT_TRUE(found.contains("made")) << name << ", seed " << seed << ": " << r.of("a/plain").last_state;
      EXPECT_EQ(found.at("made"), found.at("done")) << name << ", seed " << seed;
    }
  }
}

TEST(ThreadedPrograms, AThreadThatWakesGoesBeforeOneThatComputes) {
  for (const char* rank : {"0", "50"}) {
    const auto r = run({robot("a", {threaded({"urgent", rank, "200"})})}, 1s);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    const auto found = words(r.of("a/plain").output);
    ASSERT_TRUE(found.contains("middle")) << r.of("a/plain").output;
    EXPECT_LT(std::stod(found.at("middle")), 200) << "it would wait for the other's turn of a millisecond";
  }
}

TEST(ThreadedPrograms, PrioritiesOfTheirOwnAreObeyed) {
  ProgramSpec bound = threaded({"ranks"});
  bound.core = 0;
  const auto r = run({{"a", 3, {}, {bound}}}, 2s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  const auto found = words(r.of("a/plain").output);
  EXPECT_EQ(found.at("order"), "210");
  EXPECT_EQ(found.at("own"), "0 0");
  EXPECT_EQ(found.at("cores"), "3") << "those of the robot, not of this machine";
}

CoordinatorOptions on_lanes(std::uint32_t lanes) {
  CoordinatorOptions options = quick();
  options.cores = lanes;
  return options;
}

double rounds_of(const Run& r) { return std::stod(words(r.of("a/plain").output).at("rounds")); }

// The same computer, so what they compute in a simulated second is as the cores that they have.
TEST(ThreadedPrograms, ComputeOnAllCoresOfTheirRobot) {
  const auto rounds = [](std::uint32_t cores, const char* threads, std::uint32_t lanes) {
    const auto r = run({{"a", cores, {}, {threaded({"spread", threads, "200"})}}}, 1s, on_lanes(lanes));
    EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    const auto found = words(r.of("a/plain").output);
    EXPECT_LT(std::stod(found.at("took")), 205) << cores << " cores, " << lanes << " lanes";
    return rounds_of(r);
  };
  const double one = rounds(1, "4", 1);
  for (const std::uint32_t lanes : {1u, 2u}) {
    EXPECT_NEAR(rounds(4, "4", lanes) / one, 4, 0.8) << lanes << " lanes";
    EXPECT_NEAR(rounds(2, "4", lanes) / one, 2, 0.4) << lanes << " lanes";
    EXPECT_NEAR(rounds(4, "1", lanes) / one, 1, 0.2) << lanes << " lanes";
    EXPECT_NEAR(rounds(3, "8", lanes) / one, 3, 0.6) << lanes << " lanes";
  }
}

TEST(ThreadedPrograms, OnSeveralCoresHaveUsedMoreCpuTimeThanPassed) {
  const auto r = run({{"a", 4, {}, {threaded({"spread", "4", "200"})}}}, 1s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_NEAR(std::stod(words(r.of("a/plain").output).at("cpu")), 800, 80);
  EXPECT_NEAR(r.of("a/plain").executed.seconds(), 0.2, 0.02) << "as long as it took";
  EXPECT_NEAR(r.of("a/plain").cpu.seconds(), 0.8, 0.1);
}

TEST(ThreadedPrograms, OneThatIsBoundToACoreKeepsToIt) {
  ProgramSpec bound = threaded({"spread", "4", "100"});
  bound.core = 1;
  const double one = rounds_of(run({{"a", 1, {}, {threaded({"spread", "4", "100"})}}}, 1s));
  EXPECT_NEAR(rounds_of(run({{"a", 4, {}, {bound}}}, 1s)) / one, 1, 0.2);
}

TEST(ThreadedPrograms, ThatWaitForEachOtherComeToTheirEndOnSeveralCores) {
  for (const std::uint32_t lanes : {1u, 2u}) {
    const auto passing = run({{"a", 4, {}, {threaded({"pass", "4", "50"})}}}, 2s, on_lanes(lanes));
    ASSERT_TRUE(passing.outcome.completed) << passing.outcome.why_ended;
    EXPECT_EQ(words(passing.of("a/plain").output)["turns"], "200") << passing.of("a/plain").last_state;
    EXPECT_EQ(passing.of("a/plain").stalls, 0u) << "they wait for each other, not for somebody else";
    for (unsigned seed = 1; seed <= 30; ++seed) {
      const auto r = run({{"a", 3, {}, {threaded({"random", std::to_string(seed)})}}}, 2s, on_lanes(lanes));
      auto found = words(r.of("a/plain").output);
      ASSERT_TRUE(r.outcome.completed) << "seed " << seed << ": " << r.outcome.why_ended;
      ASSERT_TRUE(found.contains("made")) << "seed " << seed << ": " << r.of("a/plain").last_state;
      EXPECT_EQ(found["made"], found["done"]) << "seed " << seed;
    }
  }
}

TEST(ThreadedPrograms, PrintInAReplayWhenTheyDid) {
  for (int i = 0; i < 5; ++i) {
    const std::vector<RobotSpec> robots{{"a", 1, {}, {threaded({"talk", "60"})}}};
    const auto measured = run(robots, 1s);
    ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
    const auto again = run(replayed(robots, measured), 1s);
    EXPECT_EQ(first_difference(measured, again), "");
    EXPECT_EQ(again.of("a/plain").parted, "");
  }
}

TEST(ThreadedPrograms, ThatDoNotEndInAReplayAreSaidToPart) {
  const std::string file = testing::TempDir() + "isochron-once-" + std::to_string(getpid());
  std::remove(file.c_str());
  const std::vector<RobotSpec> robots{{"a", 1, {}, {threaded({"once", file})}}};
  const auto measured = run(robots, 100ms);
  ASSERT_TRUE(measured.of("a/plain").ended.starts_with("exited with 0")) << measured.of("a/plain").ended;
  const auto again = run(replayed(robots, measured), 100ms);
  std::remove(file.c_str());
  EXPECT_NE(again.of("a/plain").parted.find("is blocked where the record has its end"), std::string::npos)
      << again.of("a/plain").parted;
  EXPECT_LT(again.outcome.accounting.wall, WallSpan(5s)) << "it hangs for 30 s";
}

TEST(ThreadedPrograms, WatchingTheClockLeavesLittleBehind) {
  const auto r = run({robot("a", {threaded({"poll", "100"})})}, 1s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  const double looks = std::stod(words(r.of("a/plain").output).at("looks"));
  std::size_t bytes = 0;
  for (const auto& link : r.record.tapes.at(0).clocks) {
    for (const auto& values : link) bytes += values.size();
  }
  EXPECT_GT(looks, 1000);
  EXPECT_GT(static_cast<double>(r.of("a/plain").clock_reads), looks);
  EXPECT_LT(static_cast<double>(bytes), 3 * looks);
  EXPECT_LT(static_cast<double>(r.record.tapes.at(0).charges.size()), looks / 100);
}

const char* const pool_of_threads =
    "from concurrent.futures import ThreadPoolExecutor\n"
    "import time\n"
    "def work(n):\n"
    "    time.sleep(0.001 * (n % 3)); print(n); return sum(i * i for i in range(100 * (n % 5)))\n"
    "with ThreadPoolExecutor(4) as workers:\n"
    "    print('sum', sum(workers.map(work, range(20))))\n";
const char* const tasks_and_threads =
    "import asyncio\n"
    "def some(n): return sum(range(100 * n))\n"
    "async def one(n):\n"
    "    await asyncio.sleep(0.002 * n); return await asyncio.to_thread(some, n)\n"
    "async def main():\n"
    "    print('sum', sum(await asyncio.gather(*[one(n) for n in range(6)])))\n"
    "asyncio.run(main())\n";

TEST(ThreadedPrograms, DoAgainWhatTheirRecordSays) {
  for (unsigned seed = 100; seed < 130; ++seed) {
    const std::vector<RobotSpec> robots{robot("a", {threaded({"random", std::to_string(seed)})})};
    const auto measured = run(robots, 1s);
    const auto again = run(replayed(robots, measured), 1s);
    EXPECT_EQ(first_difference(measured, again), "") << "seed " << seed << ": " << again.of("a/plain").parted;
  }
  for (const char* script : {pool_of_threads, tasks_and_threads}) {
    const std::vector<RobotSpec> robots{robot("a", {plain({"/usr/bin/python3", "-c", script})})};
    const auto measured = run(robots, 1s);
    const auto again = run(replayed(robots, measured), 1s);
    EXPECT_EQ(first_difference(measured, again), "") << again.of("a/plain").parted;
    EXPECT_NE(measured.of("a/plain").output.find("sum"), std::string::npos);
  }
}

TEST(ThreadedPrograms, AreTheSameEveryTimeWhereComputingIsModelled) {
  const auto digests = [](ProgramSpec spec) {
    spec.compute = modelled(1ms);
    std::set<std::uint64_t> found;
    for (int i = 0; i < 4; ++i) {
      const auto r = run({robot("a", {spec})}, 1s);
      EXPECT_NE(r.of("a/plain").ended.find("exited with 0"), std::string::npos) << r.outcome.why_ended;
      found.insert(digest(r.record.happenings));
    }
    return found.size();
  };
  for (unsigned seed = 100; seed < 120; ++seed) {
    EXPECT_EQ(digests(threaded({"random", std::to_string(seed)})), 1u) << "seed " << seed;
  }
  EXPECT_EQ(digests(plain({"/usr/bin/python3", "-c", pool_of_threads})), 1u);
  EXPECT_EQ(digests(plain({"/usr/bin/python3", "-c", tasks_and_threads})), 1u);
}

TEST(ThreadedPrograms, WhatTheyPrintIsPartOfTheRecord) {
  const std::vector<RobotSpec> robots{
      robot("a", {plain({"/usr/bin/python3", "-c", "import os, time; time.sleep(0.01); print(os.getpid())"})})};
  const auto measured = run(robots, 100ms);
  const auto again = run(replayed(robots, measured), 100ms);
  EXPECT_NE(first_difference(measured, again).find("output"), std::string::npos) << "the replay proves nothing";
}

// Hash seeds, ports and guesses: what a program draws from the kernel comes from the run's seed.
TEST(ThreadedPrograms, DrawTheSameFromTheKernelInEveryRun) {
  const char* script =
      "import os, random\n"
      "print(os.urandom(8).hex(), random.random(), hash('text'), open('/dev/urandom', 'rb').read(8).hex())\n"
      "print({str(i) for i in range(9)})\n"
      "import uuid; print(uuid.uuid4())\n";
  const auto printed = [&](std::uint64_t seed) {
    ProgramSpec spec = plain({"/usr/bin/python3", "-c", script});
    spec.seed = seed;
    return run({robot("a", {spec})}, 1s).of("a/plain").output;
  };
  const std::string first = printed(1);
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 3) << first;
  EXPECT_EQ(printed(1), first);
  EXPECT_NE(printed(2), first);
}

TEST(ThreadedPrograms, AReplayThatCannotFollowSaysWhereItParted) {
  std::vector<RobotSpec> robots{robot("a", {threaded({"random", "30"})})};
  const auto measured = run(robots, 1s);
  robots[0].programs[0].run.back() = "38";  // another program than was recorded
  const auto again = run(replayed(robots, measured), 1s);
  EXPECT_NE(again.of("a/plain").parted.find("parted from its record at"), std::string::npos);
  EXPECT_LT(again.outcome.accounting.wall, WallSpan(20s)) << "it was waited for until it hung";
}

}  // namespace
}  // namespace isochron::programs
