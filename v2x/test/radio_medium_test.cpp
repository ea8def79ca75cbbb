// What every medium promises, and what each of the three does.

#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "v2x/radio/attacker.hpp"
#include "v2x/radio/congestion.hpp"
#include "v2x/test/road.hpp"

namespace isochron::v2x {
namespace {

using namespace std::chrono_literals;

SimTime at(SimSpan t) { return SimTime::zero() + t; }

struct Copy {
  SimTime sent, received;
  StationId from, to;
  Bytes octets;
  friend bool operator==(const Copy&, const Copy&) = default;
};
Deliver into(std::vector<Copy>& list) {
  return [&list](const Delivery& d) {
    list.push_back({d.sent, d.received, d.from, d.to, Bytes(d.octets.begin(), d.octets.end())});
  };
}

/// Twelve cars on a street that all talk; advanced in steps of the given length.
std::pair<std::vector<Copy>, std::uint64_t> street(const char* kind, SimSpan step, std::uint64_t seed = 1) {
  MediumOptions options;
  options.seed = seed;
  options.fixed_loss = 0.2;
  const auto medium = make_medium(kind, options);
  RandomStream draws(seed, "street");
  for (int i = 0; i < 12; ++i) medium->add_station({i * 60.0, 0, 1.5});
  std::vector<Copy> heard;
  SimTime now;
  for (int k = 0; k < 20; ++k) {
    for (StationId i = 0; i < 12; ++i) {
      medium->send(at(100ms * k) + SimSpan::from_seconds(draws.uniform(0, 0.01)), i,
                   Bytes{std::uint8_t(k), std::uint8_t(i)});
    }
    for (; now < at(100ms * (k + 1)); now += step)
      medium->advance(std::min(now + step, at(100ms * (k + 1))), into(heard));
    now = at(100ms * (k + 1));
  }
  return {heard, medium->digest()};
}

/// What a witness was told, and what was delivered, as one number for each.
struct Told {
  std::uint64_t delivered = 0, others = 0, messages = 0, deliveries = 0;
};
Told witnessed(const char* kind, bool attacked) {
  MediumOptions options;
  options.fixed_loss = 0.3;
  options.range_m = 400;
  auto medium = make_medium(kind, options);
  if (attacked) medium = std::make_unique<AttackedMedium>(std::move(medium), std::vector{Attack{}}, 1);
  Told told;
  medium->set_witness([&](const Transmission& t) {
    ++told.messages;
    EXPECT_EQ(t.octets.size(), 40u);
    EXPECT_GE(t.ended, t.started);
    for (const Reception& r : t.receptions) {
      (r.fate == Fate::delivered ? told.delivered : told.others) += 1;
      EXPECT_TRUE(r.fate != Fate::delivered || r.received >= t.ended);
    }
  });
  for (int i = 0; i < 12; ++i) medium->add_station({i * 60.0, 0, 1.5});
  for (int k = 0; k < 50; ++k) {
    for (StationId i = 0; i < 12; ++i) medium->send(at(10ms * k) + 50us * i, i, Bytes(40));
    medium->advance(at(10ms * (k + 1)), [&](const Delivery&) { ++told.deliveries; });
  }
  medium->advance(at(2s), [&](const Delivery&) { ++told.deliveries; });
  return told;
}

class EveryMedium : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Radio, EveryMedium, testing::Values("ideal", "fixed", "802.11p"), [](const auto& i) {
  return std::string(i.param) == "802.11p" ? std::string("Dsrc") : std::string(i.param);
});

TEST_P(EveryMedium, TellsItsWitnessWhatBecameOfEachMessage) {
  const Told told = witnessed(GetParam(), false);
  EXPECT_EQ(told.messages, 600u);
  EXPECT_EQ(told.delivered, told.deliveries);
  EXPECT_EQ(told.delivered + told.others, 600u * 11);
  EXPECT_GT(told.others, 100u);  // out of range, lost, busy, garbled
  EXPECT_GT(told.delivered, 600u);
  const Told dropped = witnessed(GetParam(), true);
  EXPECT_EQ(dropped.messages, 600u);
  EXPECT_EQ(dropped.delivered, 0u);
}

TEST_P(EveryMedium, DeliversInTimeOrderAndNeverBeforeTheLookahead) {
  const auto [heard, digest] = street(GetParam(), 100ms);
  const SimSpan lookahead = make_medium(GetParam(), {})->lookahead();
  EXPECT_GT(lookahead, SimSpan::zero());
  ASSERT_GT(heard.size(), 1000u);
  for (std::size_t i = 0; i < heard.size(); ++i) {
    EXPECT_GE(heard[i].received, heard[i].sent + lookahead);
    EXPECT_NE(heard[i].from, heard[i].to);
    if (i > 0) {
      EXPECT_LE(std::tie(heard[i - 1].received, heard[i - 1].to), std::tie(heard[i].received, heard[i].to));
    }
  }
}

TEST_P(EveryMedium, RepeatsWhateverTheStepsItIsAdvancedBy) {
  const auto coarse = street(GetParam(), 100ms);
  EXPECT_EQ(street(GetParam(), 100ms), coarse);
  EXPECT_EQ(street(GetParam(), 1ms), coarse);
  EXPECT_EQ(street(GetParam(), SimSpan(77us)), coarse);
}

TEST_P(EveryMedium, SaysWhenSomethingHappensNext) {
  const auto medium = make_medium(GetParam(), {});
  medium->add_station({0, 0, 0});
  medium->add_station({10, 0, 0});
  EXPECT_EQ(medium->next_event(), SimTime::never());
  medium->send(at(5ms), 0, {1, 2, 3});
  std::vector<Copy> heard;
  int steps = 0;
  while (medium->next_event() != SimTime::never() && ++steps < 100) medium->advance(medium->next_event(), into(heard));
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].octets, (Bytes{1, 2, 3}));
}

TEST_P(EveryMedium, AnswersMayBeSentFromWithinTheDelivery) {
  const auto medium = make_medium(GetParam(), {});
  medium->add_station({0, 0, 0});
  medium->add_station({10, 0, 0});
  medium->send(at(1ms), 0, {7});
  int hops = 0;
  medium->advance(at(10s), [&](const Delivery& d) {
    if (++hops < 50) medium->send(d.received, d.to, {std::uint8_t(hops)});
  });
  EXPECT_EQ(hops, 50);
}

TEST_P(EveryMedium, ForgetsAStationThatWasRemoved) {
  const auto medium = make_medium(GetParam(), {});
  for (int i = 0; i < 3; ++i) medium->add_station({i * 10.0, 0, 0});
  medium->send(at(0ms), 0, {1});
  medium->remove_station(1);
  std::vector<Copy> heard;
  medium->advance(at(1s), into(heard));
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].to, 2u);
  medium->send(at(1s), 1, {1});
  medium->advance(at(2s), into(heard));
  EXPECT_EQ(heard.size(), 1u);
}

TEST(IdealMedium, DeliversToEverybodyInRangeAfterAifsAndAirtime) {
  MediumOptions options;
  options.range_m = 100;
  const auto medium = make_medium("ideal", options);
  for (const double x : {0.0, 50.0, 99.0, 101.0}) medium->add_station({x, 0, 0});
  medium->send(at(1ms), 0, Bytes(300));
  std::vector<Copy> heard;
  medium->advance(at(1s), into(heard));
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].received - heard[0].sent, SimSpan(58us + 496us));
}

TEST(FixedMedium, LosesAboutItsShare) {
  MediumOptions options;
  options.fixed_loss = 0.5;
  options.fixed_delay = 3ms;
  const auto medium = make_medium("fixed", options);
  for (int i = 0; i < 11; ++i) medium->add_station({0, 0, 0});
  for (int i = 0; i < 1000; ++i) medium->send(at(1ms * i), 0, {1});
  std::vector<Copy> heard;
  medium->advance(at(10s), into(heard));
  EXPECT_NEAR(static_cast<double>(heard.size()), 5000, 250);
  EXPECT_EQ(heard[0].received - heard[0].sent, SimSpan(3ms));
}

TEST(Radio, NamesTheWordsItKnows) {
  try {
    make_medium("wifi", {});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("802.11p"), std::string::npos);
  }
  MediumOptions wrong;
  wrong.fixed_loss = 2;
  EXPECT_THROW(make_medium("fixed", wrong), InputError);
  wrong.propagation.fading_m = -1;
  EXPECT_THROW(make_medium("802.11p", wrong), InputError);
}

TEST(Airtime, IsThatOfSixMegabitsInTenMegahertz) {
  EXPECT_EQ(airtime(MediumOptions{}, 300), SimSpan(496us));
  EXPECT_EQ(DsrcMedium(MediumOptions{}).lookahead(), SimSpan(58us) + airtime(MediumOptions{}, 0));
}

std::unique_ptr<Medium> attacked(Attack attack) {
  auto medium = std::make_unique<AttackedMedium>(make_medium("ideal", {}), std::vector{std::move(attack)}, 1);
  for (int i = 0; i < 3; ++i) medium->add_station({0, 0, 0});
  return medium;
}

TEST(Attacker, DropsWhatItsVictimsSend) {
  Attack attack;
  attack.victims = {1};
  const auto medium = attacked(attack);
  std::vector<Copy> heard;
  medium->send(at(1ms), 0, {1});
  medium->send(at(1ms), 1, {2});
  medium->advance(at(1s), into(heard));
  EXPECT_EQ(heard.size(), 2u);
  for (const auto& h : heard) EXPECT_EQ(h.from, 0u);
}

TEST(Attacker, AltersOctets) {
  Attack attack;
  attack.kind = Attack::Kind::alter;
  std::vector<Copy> heard;
  auto medium = attacked(attack);
  medium->send(at(1ms), 0, {0, 0});
  medium->advance(at(1s), into(heard));
  EXPECT_EQ(std::popcount(unsigned(heard.at(0).octets[0]) << 8 | heard[0].octets[1]), 1);
  attack.change = [](Bytes& octets, SimTime, StationId, RandomStream&) { return octets = {42}, true; };
  medium = attacked(attack);
  medium->send(at(1ms), 0, {0, 0});
  medium->advance(at(1s), into(heard));
  EXPECT_EQ(heard.back().octets, Bytes{42});
}

TEST(Attacker, DelaysAndReplaysWithoutEverComingEarly) {
  Attack attack;
  attack.kind = Attack::Kind::delay;
  attack.by = 50ms;
  std::vector<Copy> heard;
  auto medium = attacked(attack);
  medium->send(at(1ms), 0, {1});
  EXPECT_EQ(medium->next_event(), at(51ms));
  medium->advance(at(1s), into(heard));
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_GT(heard[0].received, at(51ms));
  attack.kind = Attack::Kind::replay;
  attack.copies = 3;
  medium = attacked(attack);
  heard.clear();
  medium->send(at(1ms), 0, {9});
  medium->advance(at(1s), into(heard));
  ASSERT_EQ(heard.size(), 8u);
  EXPECT_EQ(heard[6].received - heard[0].received, SimSpan(150ms));
  EXPECT_EQ(heard[7].octets, Bytes{9});
}

TEST(CongestionControl, SpreadsMessagesOutAsVehiclesGather) {
  CongestionControl control;
  EXPECT_EQ(control.interval(), SimSpan(100ms));
  for (int i = 0; i < 500; ++i) control.observe(0.2, 75);
  EXPECT_NEAR(control.interval().seconds(), 0.3, 1e-3);
  EXPECT_NEAR(control.power_dbm(), 20, 1e-9);
  for (int i = 0; i < 500; ++i) control.observe(0.9, 1000);
  EXPECT_EQ(control.interval(), SimSpan(600ms));
  EXPECT_NEAR(control.power_dbm(), 10, 1e-6);
  for (int i = 0; i < 500; ++i) control.observe(0.65, 0);
  EXPECT_EQ(control.interval(), SimSpan(100ms));
  EXPECT_NEAR(control.power_dbm(), 15, 1e-6);
}

TEST(CongestionControl, SendsAtOnceWhenOthersMustBeWrongAboutItsPlace) {
  CongestionControl control;
  for (int i = 0; i < 500; ++i) control.observe(0, 1000);
  EXPECT_TRUE(control.due(at(0ms), {0, 0, 0}));
  control.sent(at(0ms), {0, 0, 0}, {10, 0, 0});
  EXPECT_FALSE(control.due(at(300ms), {3, 0, 0}));
  EXPECT_TRUE(control.due(at(300ms), {2, 0, 0}));  // braked
  EXPECT_TRUE(control.due(at(600ms), {6, 0, 0}));
}

}  // namespace
}  // namespace isochron::v2x
