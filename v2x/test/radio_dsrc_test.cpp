// 802.11p: against ns-3's figures, and one effect at a time.

#include <gtest/gtest.h>

#include "v2x/radio/repeatable_math.hpp"
#include "v2x/test/road.hpp"

namespace isochron::v2x {
namespace {

using namespace std::chrono_literals;

SimTime at(SimSpan t) { return SimTime::zero() + t; }

struct Reference {
  unsigned nodes;
  double delivery[3];  // at 200, 400, 600 m
};
/// Measured with ns-3 3.37 (test/ns3/compare runs it again where it is installed).
constexpr Reference ns3[] = {
    {30, {.976, .930, .873}}, {100, {.919, .854, .779}}, {200, {.719, .600, .497}}, {300, {.437, .302, .219}}};

class AgainstNs3 : public testing::TestWithParam<Reference> {};
INSTANTIATE_TEST_SUITE_P(Radio, AgainstNs3, testing::ValuesIn(ns3),
                         [](const auto& i) { return std::to_string(i.param.nodes) + "Nodes"; });

TEST_P(AgainstNs3, DeliveryIsWithinFourHundredths) {
  const Reference& reference = GetParam();
  const double seconds = reference.nodes <= 100 ? 6 : 3;
  std::array<double, 3> mean{};
  constexpr int runs = 2;
  for (int seed = 1; seed <= runs; ++seed) {
    const RoadOutcome outcome = run_road(reference.nodes, seconds, static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < 3; ++i) mean[i] += outcome.delivery[2 + 2 * i] / runs;
  }
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(mean[i], reference.delivery[i], 0.04) << "at " << 200 * (i + 1) << " m";
}

TEST(Dsrc, RepeatsItsDigestAndAnotherSeedGivesAnother) {
  EXPECT_EQ(run_road(50, 1, 7).digest, run_road(50, 1, 7).digest);
  EXPECT_NE(run_road(50, 1, 7).digest, run_road(50, 1, 8).digest);
}

MediumOptions plain() {
  MediumOptions o;
  o.propagation.line_of_sight = free_space_slope;
  o.propagation.fading_m = 0;
  return o;
}

TEST(Dsrc, ALoneFrameTakesAifsAirtimeAndFlight) {
  DsrcMedium medium(plain());
  medium.add_station({0, 0, 0});
  medium.add_station({299.792458, 0, 0});
  medium.send(at(1ms), 0, Bytes(300));
  std::vector<SimTime> times;
  medium.advance(at(1s), [&](const Delivery& d) { times.push_back(d.received); });
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0], at(1ms) + SimSpan(58us + 496us + 1us));
}

TEST(Dsrc, TheSecondWaitsForTheFirst) {
  DsrcMedium medium(plain());
  for (int i = 0; i < 3; ++i) medium.add_station({i * 10.0, 0, 0});
  medium.send(at(1000us), 0, Bytes(300));
  medium.send(at(1200us), 1, Bytes(300));
  int heard = 0;
  medium.advance(at(1s), [&](const Delivery& d) {
    ++heard;
    if (d.from == 1) {
      EXPECT_GE(d.received - d.sent, SimSpan(354us + 58us + 496us));
      EXPECT_LE(d.received - d.sent, SimSpan(354us + 58us + 496us + 15 * 13us + 1us));
    }
  });
  EXPECT_EQ(heard, 4);
}

TEST(Dsrc, HiddenStationsCollideAtTheOneBetweenThem) {
  MediumOptions options = plain();
  options.preamble_dbm = options.energy_dbm = -82;  // heard for 583 m
  DsrcMedium medium(options);
  for (const double x : {0.0, 500.0, 1000.0}) medium.add_station({x, 0, 0});
  medium.send(at(1000us), 0, Bytes(300));
  medium.send(at(1100us), 2, Bytes(300));
  int heard = 0;
  medium.advance(at(1s), [&](const Delivery&) { ++heard; });
  EXPECT_EQ(heard, 0);
  medium.send(at(2s), 0, Bytes(300));
  medium.advance(at(3s), [&](const Delivery& d) { heard += d.to == 1; });
  EXPECT_EQ(heard, 1);
}

TEST(Dsrc, TheNearerOfTwoIsHeardInSpiteOfTheOther) {
  MediumOptions options = plain();
  options.preamble_dbm = options.energy_dbm = -82;
  DsrcMedium medium(options);
  for (const double x : {0.0, 50.0, 620.0}) medium.add_station({x, 0, 0});
  medium.send(at(1000us), 0, Bytes(300));
  medium.send(at(1100us), 2, Bytes(300));
  std::vector<StationId> heard;
  medium.advance(at(1s), [&](const Delivery& d) {
    if (d.to == 1) heard.push_back(d.from);
  });
  EXPECT_EQ(heard, std::vector<StationId>{0});
}

struct Wall final : Obstruction {
  bool line_of_sight(const Vec3& a, const Vec3& b) const override { return (a.x < 50) == (b.x < 50); }
};

TEST(Dsrc, BuildingsShortenTheReach) {
  const auto share = [](const Obstruction* wall) {
    MediumOptions options;
    options.obstruction = wall;
    options.propagation.obstructed.at_10_m_db += 20;  // deep in the shadow
    DsrcMedium medium(options);
    medium.add_station({0, 0, 1.5});
    for (int i = 0; i < 40; ++i) medium.add_station({100.0 + i, i * 7.0, 1.5});
    int heard = 0;
    for (int k = 0; k < 20; ++k) {
      medium.send(at(100ms * k), 0, Bytes(300));
      medium.advance(at(100ms * (k + 1)), [&](const Delivery&) { ++heard; });
    }
    return heard / 800.0;
  };
  const Wall wall;
  const double open = share(nullptr);
  EXPECT_GT(open, 0.9);
  EXPECT_LT(share(&wall), open / 2);
}

TEST(Dsrc, MeasuresHowBusyTheChannelIs) {
  DsrcMedium medium(plain());
  for (int i = 0; i < 10; ++i) medium.add_station({i * 10.0, 0, 0});
  for (int k = 0; k < 10; ++k) {
    for (StationId i = 0; i < 10; ++i) medium.send(at(100ms * k + 10ms * i), i, Bytes(300));
    medium.advance(at(100ms * (k + 1)), [](const Delivery&) {});
  }
  EXPECT_NEAR(medium.busy_time(3).seconds(), 100 * 496e-6, 2e-3);
}

TEST(Dsrc, DropsWhatWaitedTooLong) {
  MediumOptions options = plain();
  options.queue = 4;
  DsrcMedium medium(options);
  medium.add_station({0, 0, 0});
  medium.add_station({1, 0, 0});
  for (int i = 0; i < 20; ++i) medium.send(at(0ms), 0, Bytes(300));
  medium.advance(at(1s), [](const Delivery&) {});
  EXPECT_EQ(medium.counts().transmitted, 4u);
  EXPECT_EQ(medium.counts().expired, 16u);
}

TEST(Dsrc, OnlyThoseInReachCost) {
  MediumOptions options;
  DsrcMedium medium(options);
  const double far = 10 * medium.reach_m();
  for (int i = 0; i < 100; ++i) medium.add_station({(i % 2) * far, i * 1.0, 0});
  medium.send(at(0ms), 0, Bytes(300));
  medium.advance(at(1s), [](const Delivery&) {});
  EXPECT_EQ(medium.counts().events, 2 * 49u);
}

TEST(Dsrc, FollowsStationsThatMove) {
  DsrcMedium medium(plain());
  medium.add_station({0, 0, 0});
  const StationId car = medium.add_station({1e6, 0, 0});
  int heard = 0;
  const auto count = [&](const Delivery&) { ++heard; };
  medium.send(at(0ms), 0, Bytes(10));
  medium.advance(at(100ms), count);
  EXPECT_EQ(heard, 0);
  medium.set_position(car, {100, 0, 0});
  medium.send(at(100ms), 0, Bytes(10));
  medium.advance(at(200ms), count);
  EXPECT_EQ(heard, 1);
  for (int i = 0; i < 100; ++i) medium.set_position(car, {100, i * 4.0, 0});
  medium.send(at(2s), 0, Bytes(10));
  medium.advance(at(3s), count);
  EXPECT_EQ(heard, 2);
}

TEST(Propagation, IsSymmetricAndHasTheDeviationItSays) {
  double sum = 0;
  double squares = 0;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const Vec3 a{i * 3.1, 7, 1};
    const Vec3 b{i * 1.7, 90, 1};
    const double s = shadowing(5, 3, 9, a, b, 25);
    EXPECT_EQ(s, shadowing(5, 9, 3, b, a, 25));
    sum += s;
    squares += s * s;
  }
  EXPECT_NEAR(sum / 4000, 0, 0.1);
  EXPECT_NEAR(std::sqrt(squares / 4000), 1, 0.1);
}

TEST(Propagation, FollowsThePublishedSlopes) {
  EXPECT_NEAR(path_loss_db(urban_line_of_sight, 10), 63.9, 1e-9);
  EXPECT_NEAR(path_loss_db(urban_line_of_sight, 100) - path_loss_db(urban_line_of_sight, 10), 18.1, 1e-9);
  EXPECT_NEAR(path_loss_db(urban_line_of_sight, 2000) - path_loss_db(urban_line_of_sight, 200), 28.5, 1e-9);
  EXPECT_NEAR(distance_of_loss(urban_obstructed, path_loss_db(urban_obstructed, 333)), 333, 1e-6);
  EXPECT_NEAR(distance_of_loss(urban_obstructed, path_loss_db(urban_obstructed, 33)), 33, 1e-6);
}

TEST(Propagation, FadingHasMeanOneAndNakagamisTail) {
  const Fading rayleigh(1);
  double mean = 0;
  int weak = 0;
  for (std::uint64_t i = 0; i < 1024; ++i) {
    mean += rayleigh.factor(i << 54) / 1024;
    weak += rayleigh.factor(i << 54) < 0.1;
  }
  EXPECT_NEAR(mean, 1, 1e-9);
  EXPECT_NEAR(weak / 1024.0, 1 - std::exp(-0.1), 0.002);
  EXPECT_EQ(Fading(0).factor(12345), 1);
}

TEST(RepeatableMath, AgreesWithTheLibrary) {
  for (double x = -50; x < 50; x += 0.37) EXPECT_NEAR(repeatable_exp(x) / std::exp(x), 1, 1e-14) << x;
  EXPECT_NEAR(ratio_of_db(-104), 3.9810717055349735e-11, 1e-23);
  EXPECT_NEAR(db_of(0.5), -3.0102999566398120, 1e-12);
}

}  // namespace
}  // namespace isochron::v2x
