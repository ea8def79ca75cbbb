// Real time, from a scenario: the same programs and libraries as in other modes, on the wall clock. Bounds are
// generous; what is checked is that time passes, that lateness is counted and that failures are told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "journal/disk.hpp"
#include "journal/mcap_reader.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"

namespace isochron {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

const std::string source = ISOCHRON_SOURCE_DIR;

std::string ships(const std::string& predator, const std::string& prey, const std::string& time) {
  return "name: ships\nduration: 300ms\nworld: {model: " + source +
         "/models/ships.xml, step: 10ms}\nrobots:\n  predator:\n    programs:\n      controller: " + predator +
         "\n  prey:\n    programs:\n      controller: " + prey + "\ntime: " + time + "\n";
}
const std::string library = "{library: " ISOCHRON_BUILD_DIR "/lib/libships_controllers.so, every: 10ms}";
const std::string program = "{run: [" ISOCHRON_BUILD_DIR "/bin/prey_controller], every: 10ms}";

class Realtime : public ::testing::Test {
 protected:
  RunReport run(const std::string& text) {
    const Scenario scenario = read_scenario(text, "test.yaml", source);
    return run_scenario(scenario, {.journal = file, .machine = {}}, clock, disk, watch);
  }
  ~Realtime() override { std::filesystem::remove(file); }

  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  std::string file = "realtime_test_" + std::to_string(getpid()) + ".mcap";
};

const ProgramReport& of(const RunReport& report, const std::string& name) {
  for (const ProgramReport& found : report.programs) {
    if (found.name == name) return found;
  }
  throw std::runtime_error("no program " + name);
}

/// Where the whole run fell behind, nothing can be said of who ran how often.
bool too_busy(const RunReport& report) { return of(report, "world").timing->late.max > WallSpan(100ms); }

TEST_F(Realtime, ControllersInLibrariesRunOnTheWallClock) {
  const RunReport report = run(ships(library, library, "{mode: realtime}"));
  EXPECT_EQ(report.end, RunReport::End::finished) << report.why;
  EXPECT_EQ(report.simulated, SimSpan(300ms));
  EXPECT_GE(report.wall, WallSpan(300ms));
  EXPECT_EQ(of(report, "world").activations, 30U);
  const ProgramReport& chaser = of(report, "predator/controller");
  ASSERT_TRUE(chaser.timing);
  EXPECT_GE(chaser.timing->late.max, chaser.timing->late.p50);
  if (too_busy(report)) GTEST_SKIP() << "this machine is too busy for real time";
  EXPECT_GT(chaser.activations, 1U);
}

TEST_F(Realtime, AProgramIsTheSameAsInOtherModes) {
  const RunReport report = run(ships(library, program, "{mode: realtime}"));
  EXPECT_EQ(report.end, RunReport::End::finished) << report.why;
  EXPECT_TRUE(watch.deadlines().has_value());
  if (too_busy(report)) GTEST_SKIP() << "this machine is too busy for real time";
  EXPECT_GT(of(report, "prey/controller").activations, 1U);
}

TEST_F(Realtime, EveryActivationIsInTheJournal) {
  const RunReport report = run(ships(library, program, "{mode: realtime}"));
  auto reader = McapReader::open(disk, file);
  ASSERT_TRUE(reader.ok());
  std::uint64_t found = 0;
  auto cursor = reader->messages_as_written({.topics = {"/deadlines/prey/controller"}});
  while (cursor.next()) ++found;
  // The last one may still have been at work when time was over.
  EXPECT_NEAR(static_cast<double>(found), static_cast<double>(of(report, "prey/controller").activations), 1);
}

TEST_F(Realtime, WhatTakesLongerThanItsDeadlineIsCounted) {
  const std::string strict =
      "{library: " ISOCHRON_BUILD_DIR "/lib/libships_controllers.so, every: 10ms, deadline: 1ns}";
  const RunReport report = run(ships(strict, library, "{mode: realtime}"));
  EXPECT_GE(of(report, "predator/controller").missed_deadlines + 1, of(report, "predator/controller").activations);
}

TEST_F(Realtime, AProgramThatFailsEndsTheRunAndIsNamed) {
  const RunReport report = run(ships(library, "{run: [/bin/false], every: 10ms}", "{mode: realtime}"));
  EXPECT_EQ(report.end, RunReport::End::failed);
  EXPECT_THAT(report.why, HasSubstr("prey/controller exited with 1"));
}

TEST_F(Realtime, NonsenseIsAnsweredAndHarmsNobody) {
  const std::string bad = "{run: [" ISOCHRON_BUILD_DIR "/test/client_robot_program, lists_nonsense], every: 10ms}";
  const RunReport report = run(ships(library, bad, "{mode: realtime}"));
  EXPECT_EQ(report.end, RunReport::End::finished) << report.why;
  EXPECT_FALSE(report.notes.empty()) << "what was refused is told";
}

TEST_F(Realtime, StopsWhenItIsTold) {
  watch.stop();
  EXPECT_EQ(run(ships(library, library, "{mode: realtime}")).end, RunReport::End::interrupted);
}

TEST_F(Realtime, RefusesAnotherPace) {
  try {
    run(ships(library, library, "{mode: realtime, pace: 2x}"));
    FAIL() << "it ran";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a second takes a second"));
  }
}

}  // namespace
}  // namespace isochron
