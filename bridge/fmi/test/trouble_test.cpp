// FMUs that fail, crash, stop early or talk.

#include <gtest/gtest.h>

#include "bridge/fmi/test/node_fixture.hpp"

namespace isochron::fmi::test {
namespace {

enum { returns_error = 1, crashes, is_fatal, exits, is_pending, stops_halfway, ends, stands_still, talks };

class FmuInTrouble : public FmuNode {
 protected:
  Ran run_with(int trouble, bool own = false, const std::string& flags = step_flags) {
    Wishes w = wishes();
    w.parameters = {{"trouble", std::to_string(trouble), {}}};
    return run(shop_.fmu2("t" + std::to_string(trouble) + ".fmu", description2(gain2 + ball2 + trouble2, flags)), w,
               own);
  }
};

TEST_F(FmuInTrouble, AnErrorIsToldWithWhatTheFmuSaid) {
  for (const bool own : {false, true}) {
    const Ran ran = run_with(returns_error, own);
    EXPECT_FALSE(ran.outcome.complete);
    EXPECT_SAYS(ran.why,
                "node kit failed: in the step from 50ms to 60ms: fmi2DoStep of the FMU returned error; it said: the "
                "gear is broken at 0.05");
  }
}

TEST_F(FmuInTrouble, FatalErrorsAndEndsAreTold) {
  EXPECT_SAYS(run_with(is_fatal).why, "fmi2DoStep of the FMU returned fatal");
  EXPECT_SAYS(run_with(ends).why, "the FMU ended the simulation in the step to 60ms");
  EXPECT_SAYS(run_with(stands_still).why, "was discarded again and again");
  EXPECT_SAYS(run_with(stops_halfway, false, "").why, "fmi2DoStep of the FMU was discarded");
}

TEST_F(FmuInTrouble, StepsThatEndEarlyOrLateAreGoneOnWith) {
  const Ran plain = run_with(0), halves = run_with(stops_halfway), pending = run_with(is_pending);
  ASSERT_TRUE(halves.outcome.complete) << halves.why;
  ASSERT_TRUE(pending.outcome.complete) << pending.why;
  EXPECT_NEAR(halves.sink->value<double>(9, "h"), plain.sink->value<double>(9, "h"), 1e-12);
  EXPECT_EQ(pending.sink->value<double>(9, "h"), plain.sink->value<double>(9, "h"));
}

TEST_F(FmuInTrouble, InAProcessOfItsOwnItMayCrashOrExit) {
  EXPECT_SAYS(run_with(crashes, true).why, "was killed: Segmentation fault");
  EXPECT_SAYS(run_with(exits, true).why, "ended with code 7");
}

TEST_F(FmuInTrouble, WhatItSaysIsAFlow) {
  for (const bool own : {false, true}) {
    const Ran ran = run_with(talks, own);
    ASSERT_TRUE(ran.outcome.complete) << ran.why;
    ASSERT_EQ(ran.log->messages.size(), 4U) << "from 50, 60, 70 and 80 ms";
    EXPECT_EQ(ran.log->text(0, "msg"), "step from 0.05");
    EXPECT_EQ(ran.log->text(0, "name"), "kit");
    EXPECT_EQ(ran.log->text(0, "function"), "logAll");
  }
}

TEST_F(FmuInTrouble, AnInstanceThatCannotBeMadeSaysWhy) {
  std::string xml = description2(gain2);
  xml.replace(xml.find("guid='{kit}'"), 12, "guid='{hat}'");
  EXPECT_SAYS(run(shop_.fmu2("other.fmu", xml), wishes()).why,
              "fmi2Instantiate of the FMU returned nothing; it said: guid {hat} is not mine");
}

TEST_F(FmuInTrouble, ABinaryThatIsNoneIsRefused) {
  const std::string xml = description2(gain2);
  const auto refused = [&](const std::string& name, const std::string& binary) {
    try {
      (void)run(shop_.zip(name, {{"modelDescription.xml", xml}, {"binaries/linux64/kit.so", binary}}), wishes());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no mistake");
  };
  EXPECT_SAYS(refused("text.fmu", "this is text"), "the binary of the FMU cannot be loaded");
  EXPECT_SAYS(refused("three.fmu", content_of(FMI_KIT3)), "does not have fmi2Instantiate, fmi2FreeInstance");
}

}  // namespace
}  // namespace isochron::fmi::test
