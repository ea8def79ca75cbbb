// What programs that nobody wrote for us do at their edges.
#include <map>
#include <sstream>

#include "core/input_error.hpp"
#include "programs/process_stat.hpp"
#include "programs/test/run_support.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {
namespace {

ProgramSpec guest(std::vector<std::string> arguments, Compute compute = ZeroCompute{}) {
  ProgramSpec spec;
  spec.name = "guest";
  spec.run = std::move(arguments);
  spec.run.insert(spec.run.begin(), GUEST_PROGRAM);
  spec.virtual_clock = true;
  spec.compute = std::move(compute);
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

// The date is in the shared pages before the program is started, so even its first look is right: 40 times.
TEST(Guest, SeesTheEpochOfTheScenarioFromItsFirstLook) {
  for (int i = 0; i < 40; ++i) {
    auto options = quick();
    if (i % 2 == 1) options.epoch = *Epoch::parse("1999-12-31T23:59:59Z");
    const auto r = run({robot("a", {guest({"date"})})}, 20ms, options);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    ASSERT_EQ(r.of("a/guest").output, i % 2 == 1 ? "946684799\n" : "1893456000\n") << "run " << i;
  }
}

// Also where both clocks show nearly the same: nothing can be told from the limit itself.
TEST(Guest, WaitsByTheClockThatItsConditionWasMadeFor) {
  for (const char* epoch : {"1970-01-01", "1970-01-01T00:16:40Z", "2030-01-01"}) {
    auto options = quick();
    options.epoch = *Epoch::parse(epoch);
    const auto r = run({robot("a", {guest({"conditions"})})}, 1s, options);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    const auto found = numbers(r.of("a/guest").output);
    EXPECT_EQ(found.size(), 3u) << epoch << ": " << r.of("a/guest").output << r.of("a/guest").last_state;
    for (const auto& [name, ms] : found) {
      EXPECT_GE(ms, 9.99) << name << " from " << epoch;
      EXPECT_LT(ms, 11.1) << name << " from " << epoch;
    }
  }
}

// Nothing can be preloaded into it: it would be over before simulated zero, for free.
TEST(Guest, ThatIsLinkedStaticallyIsRefusedBeforeTheRun) {
  ProgramSpec still = guest({});
  still.run = {STATIC_PROGRAM};
  try {
    run({robot("a", {still})}, 20ms);
    FAIL() << "it ran";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a/guest: " STATIC_PROGRAM " is linked statically"), std::string::npos)
        << error.what();
  }
}

TEST(Guest, MayHaveManyThreadsThatSleepAtOnce) {
  const auto r = run({robot("a", {guest({"threads", "300"})})}, 1s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  auto found = numbers(r.of("a/guest").output);
  EXPECT_EQ(found["slept"], 900) << r.of("a/guest").output;
  EXPECT_EQ(found["early"], 0);
}

// Beyond the last link a sleep must not return at once: the program ends, and it is said why.
TEST(Guest, WithTooManyThreadsIsEndedWithASentence) {
  const auto r = run({robot("a", {guest({"threads", std::to_string(protocol::links_max + 10)})})}, 1s);
  EXPECT_FALSE(r.outcome.completed);
  EXPECT_TRUE(r.of("a/guest").failed);
  ASSERT_FALSE(r.of("a/guest").faults.empty());
  EXPECT_NE(r.of("a/guest").faults[0].find("had more than the 1024 threads"), std::string::npos)
      << r.of("a/guest").faults[0];
  EXPECT_NE(r.of("a/guest").output.find("too many threads"), std::string::npos) << r.of("a/guest").output;
}

// A forked one, one that was spawned, one without our descriptors, and a shell, which may start another.
TEST(Guest, ProcessesThatItStartsAreCountedWithTheirCpu) {
  for (const Compute& compute : {Compute{ZeroCompute{}}, Compute{MeasuredCompute{}}}) {
    const auto r = run({robot("a", {guest({"family"}, compute)})}, 30s);  // it blocks for as long as the machine takes
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    EXPECT_GE(r.of("a/guest").outsiders, 4u);
    EXPECT_LE(r.of("a/guest").outsiders, 5u);
    EXPECT_GE(r.of("a/guest").outsiders_cpu, CpuSpan(150ms));
    EXPECT_LT(r.of("a/guest").outsiders_cpu, CpuSpan(1s));
    EXPECT_EQ(r.of("a/guest").strays, 0u);
  }
}

TEST(Guest, ProcessesThatItLeavesBehindAreEndedAndSaid) {
  const auto r = run({robot("a", {guest({"stray"})})}, 50ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/guest").outsiders, 1u);
  EXPECT_EQ(r.of("a/guest").strays, 1u);
  EXPECT_EQ(r.outcome.strays, 1);
}

TEST(Guest, ThatStartsNothingHasNoOutsiders) {
  const auto r = run({robot("a", {guest({"conditions"})})}, 100ms);
  EXPECT_EQ(r.of("a/guest").outsiders, 0u);
  EXPECT_EQ(r.of("a/guest").outsiders_cpu, CpuSpan::zero());
}

// A planner that limits itself by what it executed takes that long on its robot's computer, as slow as that may be.
TEST(Guest, SeesOnItsCpuClocksWhatItExecutedOnTheRobot) {
  for (const Fraction speed : {Fraction{1, 1}, Fraction{1, 4}}) {
    auto planner = guest({"cpu", "0.04"}, MeasuredCompute{});
    planner.cpu_speed = speed;
    const auto r = run({robot("a", {planner})}, 2s);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    auto found = numbers(r.of("a/guest").output);
    EXPECT_FALSE(found.contains("back")) << "a CPU clock went back";
    EXPECT_EQ(found.size(), 7u) << r.of("a/guest").output;
    for (const auto& [name, ms] : found) {
      EXPECT_GE(ms, name == "times" ? 29.0 : 39.9) << name << " at " << speed.value();
      EXPECT_LT(ms, 60) << name << " at " << speed.value();
    }
  }
}

// Replayed, they show the same values again; the program prints what it made of them.
TEST(Guest, SeesTheSameCpuTimesInAReplay) {
  const std::vector<RobotSpec> robots{robot("a", {guest({"cpu", "0.02"}, MeasuredCompute{})})};
  const auto measured = run(robots, 1s);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  const auto again = run(replayed(robots, measured), 1s);
  EXPECT_EQ(measured.of("a/guest").output, again.of("a/guest").output);
  EXPECT_EQ(first_difference(measured, again), "");
}

// Declared computing: CPU time is what was declared, the same every time.
TEST(Guest, SeesDeclaredCpuTimeWhereComputingIsModelled) {
  ModelledCompute model;
  model.clock_read = 100us;
  std::string first;
  for (int i = 0; i < 3; ++i) {
    const auto r = run({robot("a", {guest({"cpu", "0.02"}, model)})}, 2s);
    ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
    if (i == 0) first = r.of("a/guest").output;
    EXPECT_EQ(r.of("a/guest").output, first);
    EXPECT_NEAR(numbers(first)["process"], 20, 1) << first;
  }
}

// Memory is what is really used: reserving addresses, as a JVM does for its heap, costs nothing.
TEST(Guest, MayReserveMoreAddressesThanItsMemory) {
  auto java = guest({"reserve", "64"});
  java.memory_limit = 64 << 20;
  const auto r = run({robot("a", {java})}, 50ms);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/guest").output, "reserved\n");
}

// As a shim of pyenv does: a shell that runs other commands and then execs an interpreter, which imports for a while.
ProgramSpec slow_starter() {
  ProgramSpec spec = guest({}, MeasuredCompute{});
  spec.run = {"bash", "-c",
              "for i in 1 2 3; do x=$(" GUEST_PROGRAM
              " burn 10); done\n"
              "exec /usr/bin/python3 -c 'import time, random, logging\n"
              "[i for i in range(300000)]\n"
              "time.sleep(0.1); print(\"woke\", 1000 * (time.monotonic() - 1000))'"};
  return spec;
}

TEST(Guest, StartsUpForFreeUntilItFirstWaits) {
  const auto r = run({robot("a", {slow_starter()})}, 2s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  auto found = numbers(r.of("a/guest").output);
  EXPECT_GE(found["woke"], 100) << r.of("a/guest").output;
  EXPECT_LT(found["woke"], 110) << "imports and the shell were charged";
  EXPECT_GE(r.of("a/guest").startup, CpuSpan(10ms));
  EXPECT_LT(r.of("a/guest").executed, SimSpan(50ms));
  EXPECT_EQ(r.of("a/guest").stalled, SimSpan::zero()) << "waiting for children of the shell was charged";
  EXPECT_GE(r.of("a/guest").outsiders, 3u);
}

TEST(Guest, IsChargedForItsStartIfTheScenarioSaysSo) {
  auto spec = slow_starter();
  spec.startup_free = CpuSpan::zero();
  const auto r = run({robot("a", {spec})}, 60s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  auto found = numbers(r.of("a/guest").output);
  EXPECT_GE(found["woke"], 120) << r.of("a/guest").output;
  EXPECT_EQ(r.of("a/guest").startup, CpuSpan::zero());
}

TEST(Guest, ThatComputesToItsEndIsChargedForAllOfIt) {
  const auto r = run({robot("a", {guest({"work", "50000000"}, MeasuredCompute{})})}, 10s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_EQ(r.of("a/guest").output, "done\n");
  EXPECT_EQ(r.of("a/guest").startup, CpuSpan::zero());
  EXPECT_GE(r.of("a/guest").executed, SimSpan(5ms));
  EXPECT_EQ(r.of("a/guest").executed, ComputeRate().apply(r.of("a/guest").cpu));
}

TEST(Guest, ThatComputesBeyondItsAllowanceIsChargedForAllOfIt) {
  auto spec = guest({"work", "200000000"}, MeasuredCompute{});
  spec.startup_free = CpuSpan(2ms);
  const auto r = run({robot("a", {spec})}, 10s);
  EXPECT_TRUE(r.of("a/guest").startup_too_long);
  EXPECT_EQ(r.of("a/guest").executed, ComputeRate().apply(r.of("a/guest").cpu));
}

TEST(Guest, ThatPollsItsClockIsChargedFromItsFirstLook) {
  const auto r = run({robot("a", {guest({"poller", "0.05"}, MeasuredCompute{})})}, 1s);
  ASSERT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  auto found = numbers(r.of("a/guest").output);
  EXPECT_GE(found["polled"], 50) << r.of("a/guest").output;
  EXPECT_LT(found["polled"], 60);
  EXPECT_GE(r.of("a/guest").executed, SimSpan(50ms));
}

// It waits for somebody else from its start: the world must not wait for it.
TEST(Guest, ThatBlocksFromItsStartDoesNotHoldTheWorld) {
  const auto r = run({robot("a", {guest({"deaf"}, MeasuredCompute{})})}, 300ms);
  EXPECT_TRUE(r.outcome.completed) << r.outcome.why_ended;
  EXPECT_GE(r.of("a/guest").stalls, 1u);
  EXPECT_LT(r.outcome.accounting.wall, WallSpan(10s));
}

TEST(Guest, ItsStartIsTheSameInAReplay) {
  for (const char* how : {"poller", "cpu"}) {
    const std::vector<RobotSpec> robots{robot("a", {guest({how, "0.01"}, MeasuredCompute{})})};
    const auto measured = run(robots, 1s);
    const auto again = run(replayed(robots, measured), 1s);
    EXPECT_EQ(measured.of("a/guest").output, again.of("a/guest").output);
    EXPECT_EQ(first_difference(measured, again), "");
    EXPECT_EQ(again.of("a/guest").replay_parted, 0u);
  }
}

TEST(Guest, ReadsATextOrAFileFromItsStandardInput) {
  auto spec = guest({"listen", "fgets"});
  spec.input.text = "one\ntwo";
  EXPECT_EQ(run({robot("a", {spec})}, 50ms).of("a/guest").output, "one 0.000\ntwo 0.000\nend 0.000\n");
  spec.input = {};
  spec.input.file = "/proc/sys/kernel/ostype";
  EXPECT_EQ(run({robot("a", {spec})}, 50ms).of("a/guest").output, "Linux 0.000\nend 0.000\n");
  spec.input.file = "/nowhere";
  EXPECT_THROW(run({robot("a", {spec})}, 50ms), InputError);
  EXPECT_EQ(run({robot("a", {guest({"listen", "fgets"})})}, 50ms).of("a/guest").output, "end 0.000\n");
}

// However it reads, a line is there at its time and not before; the end comes with the last one.
TEST(Guest, ReadsLinesAtTheirSimulatedTimes) {
  for (const char* how : {"fgets", "cin", "unsynced", "getline", "scanf", "getchar", "read", "poll"}) {
    for (const Compute& compute : {Compute{ZeroCompute{}}, Compute{modelled(0ms)}}) {
      auto spec = guest({"listen", how}, compute);
      spec.input.lines = {{at(0ms), "zero"}, {at(100ms), "one"}, {at(250ms), "two"}};
      auto options = quick();
      options.hang_after = 5s;
      const auto r = run({robot("a", {spec})}, 1s, options);
      EXPECT_TRUE(r.outcome.completed) << how << ": " << r.outcome.why_ended;
      EXPECT_EQ(r.of("a/guest").output, "zero 0.000\none 100.000\ntwo 250.000\nend 250.000\n") << how;
    }
  }
}

TEST(Guest, ReadsLinesAtTheirTimesWhereComputingCostsTimeToo) {
  auto spec = guest({"listen", "cin"}, MeasuredCompute{});
  spec.input.lines = {{at(100ms), "one"}, {at(250ms), "two"}};
  const std::vector<RobotSpec> robots{robot("a", {spec})};
  const auto measured = run(robots, 1s);
  ASSERT_TRUE(measured.outcome.completed) << measured.outcome.why_ended;
  auto found = numbers(measured.of("a/guest").output);
  EXPECT_NEAR(found["one"], 100, 3) << measured.of("a/guest").output;
  EXPECT_NEAR(found["two"], 250, 3);
  const auto again = run(replayed(robots, measured), 1s);
  EXPECT_EQ(measured.of("a/guest").output, again.of("a/guest").output);
}

TEST(ProcessStat, IsReadWhateverTheNameOfTheProcess) {
  const auto stat = parse_stat("12 (a) b ) R 1 12 12 0 -1 4194304 1 2 3 4 150 50 7 3 20 0 1 0", 100);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->used, CpuSpan(2s));
  EXPECT_EQ(stat->by_children, CpuSpan(100ms));
  for (const char* text : {"", "12", "12 (a)", "12 (a) R", "12 (a) R 1 2 3", "12 (a) R 1 2 3 4 5 6 7 8 9 10 x 1 1 1"}) {
    EXPECT_FALSE(parse_stat(text, 100).has_value()) << text;
  }
}

}  // namespace
}  // namespace isochron::programs
