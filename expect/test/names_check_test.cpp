#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect/test/helpers.hpp"

namespace isochron::expect {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class NamesCheck : public testing::Test {
 protected:
  NamesCheck() {
    names_.add(0, test::ship);
    names_.add(1, test::buoy);
    names_.add(2, test::pilot);
  }
  /// Everything wrong with a text, in the order in which it is found.
  std::string wrong(const std::string& text, bool complete = true) {
    std::vector<Mistake> mistakes;
    check_expectation(test::expectation(text), {names_, figures_, complete}, mistakes);
    std::string all;
    for (const Mistake& mistake : mistakes) all += (all.empty() ? "" : "\n") + to_string(mistake);
    return all.empty() ? "fine" : all;
  }
  Names names_;
  std::map<std::string, Quantity> figures_{{"ship/pilot.missed_deadlines", Quantity::number}, {"wall", Quantity::time}};
};

TEST_F(NamesCheck, TakesWhatFitsTogether) {
  for (const char* text :
       {"always distance(ship, buoy) > 1", "always ship.fine", "never not ship.fine", "always ship.what == \"send\"",
        "always ship/pilot.response < 20ms", "p99(ship/pilot.response) < 20ms", "always ship/pilot.response > 0",
        "always 2 * ship/pilot.response / 3 < 1s", "always ship/pilot.response / 1ms < 3", "wall < 10s",
        "ship/pilot.missed_deadlines == 0", "count(ship.fine) > 3", "always time < 10s or speed(ship) < 3",
        "always max(ship/pilot.response, 3ms) < 1s", "mean(distance(ship, buoy)) < 3 and wall < 1s"}) {
    EXPECT_EQ(wrong(text), "fine") << text;
  }
}

TEST_F(NamesCheck, NamesTheNearestOfAnUnknownName) {
  EXPECT_EQ(wrong("always shop.position.x > 1"),
            "file.yaml:3:17: there is no number called `shop.position.x`; did you mean `ship.position.x`?");
  EXPECT_THAT(wrong("always distance(ship, bouy) > 1"),
              HasSubstr("3:32: there is no body `bouy`; did you mean `buoy`?"));
  EXPECT_THAT(wrong("always ship > 1"), HasSubstr("is not one number; as in ship.position.x"));
  EXPECT_THAT(wrong("most(ship/pilot.respnse) < 1s"),
              HasSubstr("3:15: there is no number called `ship/pilot.respnse`"));
  EXPECT_THAT(wrong("ship/pilot.missed == 0"), HasSubstr("did you mean"));
}

TEST_F(NamesCheck, LeavesUnknownNamesToTheJudgeWhereMoreMayCome) {
  EXPECT_EQ(wrong("always shop.position.x > 1 and ship.fine", false), "fine");
  EXPECT_THAT(wrong("always shop.position.x > 1 and ship.position.x", false), HasSubstr("says nothing that holds"));
}

TEST_F(NamesCheck, RefusesUnitsThatDoNotFit) {
  EXPECT_THAT(wrong("always ship/pilot.response < 20"),
              HasSubstr("one side is a time and the other a number; times have a unit, as in 20ms"));
  EXPECT_THAT(wrong("always ship.position.x < 20ms"), HasSubstr("one side is a number and the other a time"));
  EXPECT_THAT(wrong("always ship.position.x + 1s > 1"), HasSubstr("one side is a number and the other a time"));
  EXPECT_THAT(wrong("always ship/pilot.response * 1s > 1"), HasSubstr("a time times a time"));
  EXPECT_THAT(wrong("p99(ship/pilot.response) < 20"), HasSubstr("times have a unit"));
}

TEST_F(NamesCheck, RefusesTypesThatDoNotFit) {
  EXPECT_THAT(wrong("always ship.position.x"), HasSubstr("says nothing that holds or does not; compare it"));
  EXPECT_THAT(wrong("always ship.fine and ship.position.x"), HasSubstr("`ship.position.x` is a number"));
  EXPECT_THAT(wrong("always ship.what"), HasSubstr("is text; compare it"));
  EXPECT_THAT(wrong("always ship.fine == \"yes\""), HasSubstr("is true or false, not text"));
  EXPECT_THAT(wrong("always ship.fine < true"), HasSubstr("have no order"));
  EXPECT_THAT(wrong("always ship.fine + 1 > 1"), HasSubstr("one side is true or false"));
}

TEST_F(NamesCheck, TellsWhatChangesFromWhatIsKnownAtTheEnd) {
  EXPECT_THAT(wrong("ship.position.x < 3"), HasSubstr("changes during the run; begin with always"));
  EXPECT_THAT(wrong("always ship/pilot.missed_deadlines == 0"), HasSubstr("known at the end of the run only"));
}

}  // namespace
}  // namespace isochron::expect
