// Expectations and timelines of faults from the file to the report: the ships without programs, whom pushes move.

#include "run/expectations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "journal/disk.hpp"
#include "run/recorded_scenario.hpp"
#include "run/wall_clock.hpp"
#include "scenario/timed_faults.hpp"

namespace isochron {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

const std::string source = ISOCHRON_SOURCE_DIR;
const std::string ships = "name: ships\nduration: 1s\nworld: {model: " + source + "/models/ships.xml, step: 10ms}\n";

std::string mistakes_of(const std::string& more) {
  try {
    check_scenario(read_scenario(ships + more, "s.yaml", source));
  } catch (const InputError& error) {
    return error.what();
  }
  return "fine";
}

class Expectations : public ::testing::Test {
 protected:
  RunReport run(const std::string& more) { return run(read_scenario(ships + more, "s.yaml", source), {}); }
  RunReport run(const Scenario& scenario, std::vector<Mark> marks) {
    RunWatch watch;
    return run_scenario(scenario, {.journal = file, .marks = std::move(marks)}, clock, disk, watch);
  }
  McapReader journal() { return std::move(McapReader::open(disk, file)).value(); }
  ~Expectations() override { std::filesystem::remove(file); }

  WallClock clock;
  PosixDisk disk;
  std::string file = "expectations_test_" + std::to_string(getpid()) + ".mcap";
};

const std::string pushed = "faults: [{at: 200ms, push: prey, force: [0, 0, 5], for: 100ms}]\n";

TEST(ExpectSection, SaysWhereAndWhatIsWrong) {
  EXPECT_THAT(mistakes_of("expect:\n  a: always distance(pray, predator) > 1\n"),
              HasSubstr("s.yaml:5:22: there is no body `pray`; did you mean `prey`?"));
  EXPECT_THAT(mistakes_of("expect:\n  a: 'always distance(pray, predator) > 1'\n"), HasSubstr("s.yaml:5:23: "));
  EXPECT_THAT(mistakes_of("expect:\n  - always prey.position.w > 1\n"),
              HasSubstr("s.yaml:5:12: there is no number called `prey.position.w`; did you mean `prey.position."));
  EXPECT_THAT(mistakes_of("expect:\n  a: always prey.position.x <\n"), HasSubstr("s.yaml:5:30: something is missing"));
  EXPECT_THAT(mistakes_of("expect:\n  a: always drift < 3\n"), HasSubstr("times have a unit"));
  EXPECT_THAT(mistakes_of("expect:\n  a: >\n    always prey.position.x <\n    spam(1)\n"), HasSubstr("s.yaml:5:"));
  EXPECT_THAT(mistakes_of("expect:\n  a: [1]\n"), HasSubstr("s.yaml:5:6: an expectation is expected here"));
  EXPECT_THAT(mistakes_of("expect:\n  a:\n"), HasSubstr("says nothing"));
  EXPECT_THAT(mistakes_of("expect: {a: always distance(prey, predator) > 1}\n"),
              HasSubstr("a comma ends an expectation"));
  EXPECT_THAT(mistakes_of("expect: always\n"), HasSubstr("s.yaml:4:9: expectations with their names"));
  EXPECT_THAT(mistakes_of("on_violation: stop\n"), HasSubstr("`stop` is not one of the words"));
  EXPECT_EQ(mistakes_of("expect: {a: always prey.position.x < 30, b: most(drift) < 1s}\n"), "fine");
}

TEST_F(Expectations, AreJudgedWhileTheRunGoesOn) {
  const RunReport report =
      run(pushed +
          "expect:\n  still: always abs(prey.position.z) < 0.1\n  away: eventually prey.position.z > 0.3\n"
          "  apart: always distance(prey, predator) > 9\n  quick: drift_max < 1h and simulated == 1s\n");
  EXPECT_EQ(report.end, RunReport::End::finished);
  ASSERT_EQ(report.expectations.size(), 4u);
  EXPECT_EQ(report.expectations[0].verdict, expect::Verdict::violated) << report.expectations[0].why;
  EXPECT_GT(report.expectations[0].told[0].at, SimTime::zero() + SimSpan(200ms));
  EXPECT_EQ(report.expectations[1].verdict, expect::Verdict::held) << report.expectations[1].why;
  EXPECT_EQ(report.expectations[2].verdict, expect::Verdict::held) << report.expectations[2].why;
  EXPECT_EQ(report.expectations[2].samples, 101u);
  EXPECT_EQ(report.expectations[3].verdict, expect::Verdict::held) << report.expectations[3].why;
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["expectations"][0]["verdict"], "violated");
  EXPECT_EQ(json["expectations"][0]["line"], 6);
  EXPECT_GT(json["expectations"][0]["first_violations"][0]["values"]["abs(prey.position.z)"], 0.1);
}

TEST_F(Expectations, GiveTheSameVerdictOfTheJournal) {
  const RunReport report = run(pushed + "expect: [always prey.position.z < 0.1, p90(speed(prey)) < 0.1]\n");
  McapReader reader = journal();
  const auto again = expect::judge(reader, expectations_of(reader), figures_of(reader));
  ASSERT_EQ(again.size(), report.expectations.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].why, report.expectations[i].why);
    EXPECT_EQ(again[i].verdict, expect::Verdict::violated);
    EXPECT_EQ(again[i].samples, report.expectations[i].samples);
  }
}

TEST_F(Expectations, EndTheRunAtTheFirstViolation) {
  const std::string text = ships + pushed + "expect: {still: always prey.position.z < 0.1}\non_violation: end\n";
  const RunReport report = run(read_scenario(text, "s.yaml", source, {{"duration", "1000s"}}), {});
  EXPECT_EQ(report.end, RunReport::End::violated);
  EXPECT_THAT(report.why, HasSubstr("1 of 1 expectations does not hold: still"));
  EXPECT_LT(report.simulated, SimSpan(900s));
  EXPECT_EQ(report.expectations[0].violations, 1u);
  McapReader reader = journal();  // replayed to where it ended, it is the same
  const Scenario again = scenario_to_replay(reader);
  EXPECT_EQ(again.duration, report.simulated);
  EXPECT_EQ(run(again, marks_of(reader)).record.digest.hex, report.record.digest.hex);
}

TEST(TimedFaults, AreDrawnFromTheSeed) {
  const auto marks = [](const std::string& seed) {
    return timed_marks(
        read_scenario(ships + "seed: " + seed +
                          "\nfaults: {timeline: [{between: [100ms, 900ms], times: 5, push: prey, force: [1, "
                          "0, 0], for: 10ms}, {at: 50ms, set: prey/fx, value: 2}]}\n",
                      "s.yaml", source));
  };
  const auto first = marks("1"), again = marks("1"), other = marks("2");
  ASSERT_EQ(first.size(), 6u);
  EXPECT_EQ(first[0].what, "set");
  EXPECT_EQ(first[0].force[0], 2);
  for (std::size_t i = 1; i < 6; ++i) {
    EXPECT_EQ(first[i].at, again[i].at);
    EXPECT_GE(first[i].at, SimTime::zero() + SimSpan(100ms));
    EXPECT_LT(first[i].at, SimTime::zero() + SimSpan(900ms));
    EXPECT_GE(first[i].at, first[i - 1].at);
  }
  EXPECT_NE(first[1].at, other[1].at);
}

TEST(TimedFaults, SayWhatIsWrong) {
  const auto wrong = [](const std::string& entry) {
    return mistakes_of("faults:\n  timeline:\n    - " + entry + "\n");
  };
  EXPECT_THAT(wrong("{at: 1s, for: 1s}"), HasSubstr("s.yaml:6:7: an entry of the timeline breaks one thing"));
  EXPECT_THAT(wrong("{at: 1s, blind: a/b, cut: c, for: 1s}"), HasSubstr("breaks one thing"));
  EXPECT_THAT(wrong("{push: prey, force: [1, 0, 0], for: 1s}"), HasSubstr("needs `at`, or `between`"));
  EXPECT_THAT(wrong("{between: [2s, 1s], push: prey, force: [1, 0, 0], for: 1s}"), HasSubstr("the earlier one first"));
  EXPECT_THAT(wrong("{at: 1s, times: 3, push: prey, force: [1, 0, 0], for: 1s}"), HasSubstr("`times` is for random"));
  EXPECT_THAT(wrong("{at: 1s, push: prey, force: [1, 0, 0]}"), HasSubstr("`for` says how long it lasts"));
  EXPECT_THAT(wrong("{at: 1s, push: prey, for: 1s}"), HasSubstr("a push needs a `force`"));
  EXPECT_THAT(wrong("{at: 1s, push: pray, force: [1, 0, 0], for: 1s}"),
              HasSubstr("s.yaml:6:22: there is no body `pray`; did you mean `prey`?"));
  EXPECT_THAT(wrong("{at: 1s, set: prey/fq, value: 1}"),
              HasSubstr("there is no actuator `prey/fq`; did you mean `prey/f"));
  EXPECT_THAT(wrong("{at: 1s, cut: prey/fq, for: 1s}"), HasSubstr("there is no robot or actuator"));
  EXPECT_THAT(wrong("{at: 1s, blind: prey/imu, for: 1s}"), HasSubstr("there is no sensor `prey/imu`"));
  EXPECT_THAT(wrong("{at: 1s, delay: prey/p, for: 1s}"), HasSubstr("there is no program `prey/p`"));
  EXPECT_EQ(wrong("{at: 1s, push: prey, force: [1, 0, 0], for: 1s}"), "fine");
}

TEST_F(Expectations, SeeWhatTheTimelineBreaks) {
  const RunReport report =
      run("faults: [{at: 205ms, set: prey/fx, value: 1}, {at: 400ms, cut: prey/fx, for: 1s}, {at: 500ms, set: prey/fx, "
          "value: "
          "5}]\nexpect:\n  told: eventually prey/fx.command == 1 within 220ms\n  stuck: never prey/fx.command == 5\n"
          "  marked: after marks.what == \"set\" and marks.about == \"prey/fx\", prey.velocity.x > 0 within 50ms\n");
  for (const expect::Judgement& outcome : report.expectations) {
    EXPECT_EQ(outcome.verdict, expect::Verdict::held) << outcome.name << ": " << outcome.why;
  }
  McapReader reader = journal();
  const auto marks = marks_of(reader);
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[0].at, SimTime::zero() + SimSpan(210ms));  // at the first step after it
}

}  // namespace
}  // namespace isochron
