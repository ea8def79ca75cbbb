#include "expect/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect/test/helpers.hpp"

namespace isochron::expect {
namespace {

using test::at_ms;
using test::Response;
using test::Ship;
using testing::HasSubstr;

/// A judge of one expectation, and records for it.
class Court {
 public:
  explicit Court(const std::string& text, JudgeOptions options = {})
      : judge_(test::expectations({text}), std::move(options)) {
    judge_.defined(0, test::ship);
    judge_.defined(1, test::buoy);
    judge_.defined(2, test::pilot);
  }
  Court& ship(int ms, double x, bool fine = true, const std::string& what = "") {
    judge_.recorded(0, at_ms(ms), cdr_bytes(Ship{{x, 0, 0}, {x, 0, 0}, fine, what}));
    return *this;
  }
  Court& buoy(int ms, double x) {
    judge_.recorded(1, at_ms(ms), cdr_bytes(Ship{{x, 0, 0}, {}, true, ""}));
    return *this;
  }
  Court& response(int ms, int took_ms) {
    judge_.recorded(2, at_ms(ms), cdr_bytes(Response{took_ms * 1'000'000}));
    return *this;
  }
  Judgement finish(int end_ms = 1000) {
    return judge_.finish({{"missed", {2, Quantity::number}}, {"wall", {1.5, Quantity::time}}}, at_ms(end_ms)).front();
  }
  Judge& judge() { return judge_; }

 private:
  Judge judge_;
};

TEST(Judge, SaysWhenAndWithWhichValuesAnAlwaysWasViolated) {
  const Judgement judgement =
      Court("always ship.position.x < 3").ship(0, 1).ship(10, 3.5).ship(20, 4).ship(30, 2).ship(40, 5).finish();
  EXPECT_EQ(judgement.verdict, Verdict::violated);
  EXPECT_EQ(judgement.samples, 5u);
  EXPECT_EQ(judgement.violations, 2u);  // it ceased to hold twice
  ASSERT_EQ(judgement.told.size(), 2u);
  EXPECT_EQ(judgement.told[0].at, at_ms(10));
  EXPECT_EQ(judgement.told[0].until, at_ms(20));
  EXPECT_EQ(judgement.told[1].at, at_ms(40));
  ASSERT_EQ(judgement.told[0].values.size(), 1u);
  EXPECT_EQ(to_string(judgement.told[0].values[0]), "ship.position.x = 3.5");
  EXPECT_EQ(judgement.why, "violated at 10ms (until 20ms): ship.position.x = 3.5; 2 times in all");
}

TEST(Judge, HoldsWhatHolds) {
  const Judgement judgement = Court("always ship.position.x < 3").ship(0, 1).ship(10, 2).finish();
  EXPECT_EQ(judgement.verdict, Verdict::held);
  EXPECT_EQ(judgement.why, "held at 2 samples");
  EXPECT_EQ(Court("never ship.position.x > 3").ship(0, 1).finish().verdict, Verdict::held);
  EXPECT_EQ(Court("never ship.position.x > 3").ship(0, 4).finish().verdict, Verdict::violated);
}

TEST(Judge, LooksAtItsWindowOnly) {
  const std::string text = "always ship.position.x < 3 from 10ms until 30ms";
  EXPECT_EQ(Court(text).ship(0, 9).ship(10, 1).ship(20, 1).ship(30, 9).finish().verdict, Verdict::held);
  EXPECT_EQ(Court(text).ship(0, 1).ship(29, 9).finish().verdict, Verdict::violated);
}

TEST(Judge, SaysWhatItNeverSaw) {
  EXPECT_EQ(Court("always ship.position.x < 3").finish().verdict, Verdict::unseen);
  const Judgement judgement = Court("always shop.position.x < 3").ship(0, 1).finish();
  EXPECT_EQ(judgement.verdict, Verdict::unseen);
  EXPECT_THAT(judgement.why, HasSubstr("no number called `shop.position.x`; did you mean `ship.position.x`?"));
  EXPECT_EQ(Court("p99(ship/pilot.response) < 1s").ship(0, 1).finish().verdict, Verdict::unseen);
  EXPECT_EQ(Court("always ship.position.x < 3 from 10s").ship(0, 1).finish().verdict, Verdict::unseen);
}

TEST(Judge, DoesNotHoldWithUnitsThatDoNotFit) {
  const Judgement judgement = Court("always ship.position.x < 3s").ship(0, 1).finish();
  EXPECT_EQ(judgement.verdict, Verdict::unseen);
  EXPECT_THAT(judgement.why, HasSubstr("one side is a number and the other a time"));
}

TEST(Judge, WaitsForWhatComesEventually) {
  const std::string text = "eventually ship.position.x > 3 within 20ms";
  EXPECT_EQ(Court(text).ship(0, 1).ship(20, 4).finish().verdict, Verdict::held);
  const Judgement late = Court(text).ship(0, 1).ship(10, 2).ship(30, 4).finish();
  EXPECT_EQ(late.verdict, Verdict::violated);
  EXPECT_EQ(late.told[0].at, at_ms(20));
  EXPECT_THAT(late.why, HasSubstr("did not come true until 20ms"));
  EXPECT_THAT(late.why, HasSubstr("ship.position.x = 2"));
  // A run that ends before it came has not shown it.
  EXPECT_EQ(Court("eventually ship.position.x > 3").ship(0, 1).finish(15).told[0].at, at_ms(15));
}

TEST(Judge, SeesWhetherOneThingFollowsAnother) {
  const std::string text = "after ship.what == \"send\", ship.position.x > 3 within 20ms";
  const auto court = [&] { return std::make_unique<Court>(text); };
  EXPECT_EQ(court()->ship(0, 1).ship(10, 1, true, "send").ship(30, 4).finish().verdict, Verdict::held);
  EXPECT_EQ(court()->ship(0, 1).ship(10, 4, true, "send").ship(90, 1).finish().verdict, Verdict::held);
  const Judgement late = court()->ship(10, 1, true, "send").ship(20, 1).ship(31, 4).finish();
  EXPECT_EQ(late.verdict, Verdict::violated);
  EXPECT_EQ(late.told[0].at, at_ms(10));
  // Each time that it becomes true, not each time that it is.
  EXPECT_EQ(court()->ship(0, 1, true, "send").ship(10, 1, true, "send").ship(40, 1).finish().violations, 1u);
  // The run ended while there was still time.
  const Judgement open = court()->ship(10, 1, true, "send").finish(25);
  EXPECT_EQ(open.verdict, Verdict::held);
  EXPECT_THAT(open.why, HasSubstr("ended before the last could be judged"));
  EXPECT_THAT(court()->ship(0, 1).finish().why, HasSubstr("was never true"));
}

TEST(Judge, GathersQuantilesMeansAndCounts) {
  const auto value = [](const std::string& text) {
    Court court(text);
    for (int i = 1; i <= 200; ++i) court.response(i, i);
    return court.finish();
  };
  EXPECT_EQ(value("p99(ship/pilot.response) < 199ms").verdict, Verdict::held);
  EXPECT_EQ(value("p99(ship/pilot.response) < 199ms").why, "p99(ship/pilot.response) = 198ms");
  EXPECT_EQ(value("p99(ship/pilot.response) < 198ms").verdict, Verdict::violated);
  EXPECT_EQ(value("p50(ship/pilot.response) == 100ms").verdict, Verdict::held);
  EXPECT_EQ(value("p0(ship/pilot.response) == 1ms and p100(ship/pilot.response) == 200ms").verdict, Verdict::held);
  EXPECT_EQ(value("most(ship/pilot.response) == 200ms").verdict, Verdict::held);
  EXPECT_EQ(value("least(ship/pilot.response) == 1ms").verdict, Verdict::held);
  EXPECT_EQ(value("abs(mean(ship/pilot.response) - 100.5ms) < 1ns").verdict, Verdict::held);
  EXPECT_EQ(value("last(ship/pilot.response) == 200ms").verdict, Verdict::held);
  EXPECT_EQ(value("count(ship/pilot.response) == 200").verdict, Verdict::held);
  EXPECT_EQ(value("count(ship/pilot.response > 150ms) == 50").verdict, Verdict::held);
}

TEST(Judge, KnowsTheFiguresOfTheReport) {
  const Judgement judgement = Court("missed == 0").finish();
  EXPECT_EQ(judgement.verdict, Verdict::violated);
  EXPECT_THAT(judgement.why, HasSubstr("missed = 2"));
  EXPECT_EQ(Court("missed <= 2 and wall < 2s").finish().verdict, Verdict::held);
  EXPECT_EQ(Court("missed_deadlines == 0").finish().verdict, Verdict::unseen);
}

TEST(Judge, ComparesChannelsInTheOrderOfTimeWhateverTheOrderInTheFile) {
  const auto told = [](const std::function<void(Court&)>& records) {
    Court court("always distance(ship, buoy) < 3");
    records(court);
    const Judgement judgement = court.finish();
    return to_string(judgement.verdict) + std::string(" ") + judgement.why;
  };
  const std::string one =
      told([](Court& c) { c.ship(0, 0).buoy(0, 1).ship(10, 2).buoy(10, 4).ship(20, 8).buoy(20, 8.5); });
  EXPECT_EQ(one, "held held at 3 samples");  // at equal times both have moved
  EXPECT_EQ(told([](Court& c) { c.buoy(0, 1).buoy(10, 4).buoy(20, 8.5).ship(0, 0).ship(10, 2).ship(20, 8); }), one);
  const std::string held = told([](Court& c) { c.buoy(0, 1).ship(5, 2).ship(15, 6).buoy(20, 6); });
  EXPECT_EQ(held, "violated violated at 15ms: distance(ship, buoy) = 5");
  EXPECT_EQ(told([](Court& c) { c.ship(5, 2).ship(15, 6).buoy(0, 1).buoy(20, 6); }), held);
}

TEST(Judge, SeesEachOfSeveralRecordsAtOneTime) {
  const std::string text = "after ship.what == \"send\", buoy.position.x > 3 within 5ms";
  Court court(text);
  court.ship(10, 0, true, "read")
      .ship(10, 0, true, "send")
      .ship(10, 0, true, "write")
      .buoy(5, 0)
      .buoy(30, 0)
      .ship(40, 0);
  EXPECT_EQ(court.finish().verdict, Verdict::violated);
  EXPECT_EQ(Court(text).buoy(10, 1).ship(10, 0, true, "send").buoy(10, 2).buoy(10, 4).ship(20, 0).finish().verdict,
            Verdict::held);
}

TEST(Judge, MeasuresDistancesInAPlaneToo) {
  const auto planet = [](const std::string& topic) {
    return ChannelDefinition{topic, {"p/msg/Flat", "float64[2] position\n"}, {}};
  };
  Judge judge(test::expectations({"always distance(red, blue) < 4"}));
  judge.defined(0, planet("/red.position"));
  judge.defined(1, planet("/blue.position"));
  judge.recorded(0, at_ms(1), cdr_bytes(test::Flat{{0, 0}}));
  judge.recorded(1, at_ms(1), cdr_bytes(test::Flat{{3, 4}}));
  EXPECT_THAT(judge.finish({}, at_ms(10)).front().why, HasSubstr("distance(red, blue) = 5"));
}

TEST(Judge, FindsNamesInChannelsThatComeLater) {
  Judge judge(test::expectations({"always ship/pilot.response < 20ms"}));
  judge.defined(0, test::ship);
  judge.recorded(0, at_ms(1), cdr_bytes(Ship{}));
  judge.defined(1, test::pilot);
  judge.recorded(1, at_ms(2), cdr_bytes(Response{30'000'000}));
  EXPECT_THAT(judge.finish({}, at_ms(10)).front().why, HasSubstr("at 2ms: ship/pilot.response = 30.0ms"));
}

TEST(Judge, EndsAtTheFirstViolation) {
  int called = 0;
  Court court("always ship.position.x < 3", {.end_at_first_violation = true, .on_violation = [&] { ++called; }});
  court.ship(0, 1).ship(10, 4);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(court.judge().violated_at(), at_ms(10));
  const Judgement judgement = court.ship(20, 1).ship(30, 5).finish();
  EXPECT_EQ(called, 1);
  EXPECT_EQ(judgement.violations, 1u);  // what comes after it is not looked at
}

TEST(Judge, TakesWhatIsNoNumberForAViolation) {
  EXPECT_EQ(Court("always ship.position.x < 3").ship(0, NAN).finish().verdict, Verdict::violated);
  EXPECT_EQ(Court("most(ship.position.x) < 3").ship(0, 1).ship(1, NAN).ship(2, 1).finish().verdict, Verdict::violated);
  EXPECT_EQ(Court("p50(ship.position.x) < 3").ship(0, NAN).ship(1, NAN).ship(2, 1).finish().verdict, Verdict::violated);
}

TEST(Judge, SurvivesRecordsThatAreCut) {
  const auto whole = cdr_bytes(Ship{{1, 2, 3}, {}, true, "send"});
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Court court("always ship.what == \"send\" and ship.position.z < 9");
    court.judge().recorded(0, at_ms(1), {whole.data(), size});
    EXPECT_EQ(court.finish().verdict, size == whole.size() ? Verdict::held : Verdict::unseen) << size;
  }
}

}  // namespace
}  // namespace isochron::expect
