// The air between clients: in one process, and over a link for holders of the key.

#include <gtest/gtest.h>

#include <thread>

#include "link/reactor.hpp"
#include "v2x/comm/client.hpp"
#include "v2x/comm/figures.hpp"
#include "v2x/comm/server.hpp"
#include "v2x/test/comm_visitor.hpp"

namespace isochron::v2x {
namespace {

using namespace std::chrono_literals;

SimTime at(SimSpan t) { return SimTime::zero() + t; }

AirSettings two_cars(const char* medium = "ideal") {
  AirSettings settings;
  settings.medium = medium;
  settings.stations = {{"a", {0, 0, 1}, false}, {"b", {0, 0, 1}, false}, {"light", {5, 5, 5}, true}};
  return settings;
}
AirUp up(const std::string& name, SimTime t, double x, bool sends) {
  AirUp made{t, t + 10ms, {{name, {x, 0, 0.5}, {1, 0, 0, 0}}}, {}, {}};
  if (sends) made.sends.push_back({name, t + 3ms, 20, {0, 20, 1, 2, 3}});
  return made;
}
constexpr SimSpan lead = 40ms;  // four heartbeats
const std::map<std::string, std::string> owners{{"a", "one"}, {"b", "two"}, {"light", "one"}};

TEST(SharedAir, HandsOverWhenTheSlowestHasToldAndNotBefore) {
  SharedAir air(two_cars(), owners, lead, [](const AirLog&) {});
  air.enter("one");
  air.enter("two");
  EXPECT_TRUE(air.exchange("one", up("a", at(0ms), 0, true)).deliveries.empty());
  const AirNews two = air.exchange("two", up("b", at(0ms), 50, false));
  ASSERT_EQ(two.deliveries.size(), 1u);
  EXPECT_EQ(two.deliveries[0].from, "a");
  EXPECT_EQ(two.deliveries[0].to, "b");
  EXPECT_EQ(two.deliveries[0].sent, at(3ms));
  EXPECT_GT(two.deliveries[0].received, at(3ms) + 58us);
  EXPECT_LT(two.deliveries[0].received, at(4ms));
  EXPECT_EQ(two.deliveries[0].octets, (std::vector<std::uint8_t>{0, 20, 1, 2, 3}));
  // The light heard it too, on the first client's side.
  EXPECT_EQ(air.exchange("one", up("a", at(10ms), 0, false)).deliveries.size(), 1u);
  EXPECT_EQ(air.figures().frames(), 1u);
}

TEST(SharedAir, ForgetsWhoHasLeft) {
  SharedAir air(two_cars(), owners, lead, [](const AirLog&) {});
  air.enter("one");
  air.enter("two");
  air.exchange("one", up("a", at(0ms), 0, true));
  air.exchange("one", up("a", at(10ms), 0, true));
  EXPECT_EQ(air.time(), SimTime::zero());
  air.leave("two");
  EXPECT_GT(air.time(), at(19ms));
}

TEST(SharedAir, GoesOnWithoutAClientThatHasStoppedAndNamesIt) {
  SharedAir air(two_cars(), owners, lead, [](const AirLog&) {});
  air.enter("one");
  air.enter("two");
  air.exchange("two", up("b", at(0ms), 50, false));
  for (SimTime t = at(0ms); t < at(200ms); t += 10ms) air.exchange("one", up("a", t, 0, true));
  EXPECT_GT(air.time(), at(190ms)) << "the world has gone on without it long ago";
  ASSERT_EQ(air.standstills().size(), 1u);
  EXPECT_EQ(air.standstills()[0].client, "two");
  EXPECT_EQ(air.standstills()[0].from, at(10ms));
  EXPECT_EQ(air.standstills()[0].to, SimTime::never());

  // It wakes up: what it says of the past keeps nobody, and from where the world is it takes part again.
  EXPECT_TRUE(air.exchange("two", up("b", at(10ms), 50, false)).deliveries.empty());
  EXPECT_GT(air.time(), at(190ms));
  air.exchange("two", up("b", at(200ms), 50, false));
  EXPECT_EQ(air.standstills()[0].to, at(210ms));
  air.exchange("one", up("a", at(200ms), 0, true));
  air.exchange("one", up("a", at(210ms), 0, true));
  EXPECT_LT(air.time(), at(210ms)) << "it is waited for again";
  EXPECT_EQ(air.exchange("two", up("b", at(210ms), 50, false)).deliveries.size(), 2u);
}

TEST(SharedAir, TwoThatHaveStoppedDoNotHoldTheThirdUp) {
  AirSettings settings = two_cars();
  settings.stations.push_back({"c", {0, 0, 1}, false});
  SharedAir air(settings, {{"a", "one"}, {"b", "two"}, {"c", "three"}}, lead, [](const AirLog&) {});
  for (const char* name : {"one", "two", "three"}) air.enter(name);
  air.exchange("two", up("b", at(0ms), 50, false));
  air.exchange("three", up("c", at(10ms), 50, false));
  for (SimTime t = at(0ms); t < at(200ms); t += 10ms) air.exchange("one", up("a", t, 0, true));
  EXPECT_GT(air.time(), at(190ms));
  EXPECT_EQ(air.standstills().size(), 2u);
}

TEST(SharedAir, WaitsForAClientThatIsOnlySlow) {
  SharedAir air(two_cars(), owners, lead, [](const AirLog&) {});
  air.enter("one");
  air.enter("two");
  air.exchange("two", up("b", at(0ms), 50, false));
  for (SimTime t = at(0ms); t < at(30ms); t += 10ms) air.exchange("one", up("a", t, 0, true));
  EXPECT_LT(air.time(), at(10ms));
  EXPECT_TRUE(air.standstills().empty());
}

TEST(SharedAir, LogsEveryMessageWithItsFateAtEveryStation) {
  std::vector<AirFrame> frames;
  std::size_t busy = 0;
  SharedAir air(two_cars("802.11p"), owners, lead, [&](const AirLog& log) {
    frames.insert(frames.end(), log.frames.begin(), log.frames.end());
    busy += log.busy.size();
  });
  air.enter("one");
  for (SimTime t; t < at(300ms); t += 10ms) {
    AirUp both = up("a", t, 0, true);
    both.bodies.push_back({"b", {1e5, 0, 0.5}, {1, 0, 0, 0}});
    air.exchange("one", both);
  }
  ASSERT_EQ(frames.size(), 30u);
  EXPECT_GE(busy, 6u);
  for (const AirFrame& frame : frames) {
    EXPECT_EQ(frame.type, 20);
    ASSERT_EQ(frame.to, (std::vector<std::string>{"b", "light"}));
    EXPECT_EQ(frame.fate[0], static_cast<std::uint8_t>(Fate::weak));
    EXPECT_EQ(frame.fate[1], static_cast<std::uint8_t>(Fate::delivered));
    EXPECT_NEAR(frame.distance_m[1], std::hypot(5, 5, 3.5), 0.01);
    EXPECT_LT(frame.latency_s[0], 0);
    EXPECT_GT(frame.latency_s[1], 1e-4);
    EXPECT_GE(frame.started, frame.sent);
  }
}

TEST(Air, BuildingsWeakenWhatIsBehindThem) {
  const auto delivered = [](bool building) {
    AirSettings settings = two_cars("802.11p");
    settings.options.propagation.line_of_sight.sigma_db = settings.options.propagation.obstructed.sigma_db = 0;
    if (building) settings.buildings.push_back({{300, 0, 5}, {1, 0, 0, 0}, {20, 20, 5}});
    Air air(settings);
    AirFigures figures;
    for (SimTime t; t < at(3s); t += 10ms) {
      air.hear(up("a", t, 0, true));
      air.hear(up("b", t, 600, false));
      air.advance(t + 10ms - SimSpan::from_ns(1), [](AirDelivery&&) {});
      figures.take(air.log(t));
    }
    return figures.by_distance().at(30).share();  // 600 m
  };
  EXPECT_GT(delivered(false), delivered(true) + 0.3);
}

TEST(Air, SaysTheSameHoweverTimeIsCut) {
  const auto digest = [](int pieces) {
    Air air(two_cars("802.11p"));
    for (SimTime t; t < at(1s); t += 10ms) {
      air.hear(up("a", t, t.seconds() * 10, true));
      air.hear(up("b", t, 80, true));
      for (int i = 1; i <= pieces; ++i)
        air.advance(t + SimSpan(10ms) * i / pieces - SimSpan::from_ns(1), [](auto&&) {});
    }
    return air.digest();
  };
  EXPECT_EQ(digest(1), digest(7));
}

TEST(AirFigures, CountsByDistanceAndLatency) {
  AirFigures figures;
  AirFrame frame{"a", 20, 40, at(0ms), at(0ms), at(1ms), {"b", "c", "d"}, {0, 2, 0}, {10, 50, 55}, {0.001F, -1, 0.003F},
                 {}};
  figures.take(AirLog{at(0ms), {frame, frame}, {{"a", 0.25}, {"b", 0.75}}});
  EXPECT_EQ(figures.frames(), 2u);
  EXPECT_EQ(figures.by_distance()[0].delivered, 2u);
  EXPECT_EQ(figures.by_distance()[2].offered, 4u);
  EXPECT_EQ(figures.by_distance()[2].delivered, 2u);
  EXPECT_NEAR(figures.latency().mean_s, 0.002, 1e-6);
  EXPECT_NEAR(figures.latency().max_s, 0.003, 1e-6);
  EXPECT_DOUBLE_EQ(figures.busy_mean(), 0.5);
  EXPECT_NE(to_json(figures).find("\"delivered\":4"), std::string::npos);
}

/// A server on loopback.
class Serving {
 public:
  Serving() : air_(two_cars(), owners, lead, [](const AirLog&) {}) {
    server_ = std::make_unique<CommServer>(reactor_, key_, Address::loopback(0), air_,
                                           std::vector<std::string>{"one", "two"});
    thread_ = std::thread([this] { reactor_.run(); });
  }
  ~Serving() {
    reactor_.stop();
    thread_.join();
    server_.reset();
  }
  [[nodiscard]] Address address() const { return server_->address(); }
  const link::Key key_ = link::Key::generate();
  SharedAir air_;

 private:
  link::EpollReactor reactor_;
  std::unique_ptr<CommServer> server_;
  std::thread thread_;
};

TEST(CommServer, CarriesMessagesBetweenHoldersOfTheKey) {
  Serving serving;
  CommClient one(serving.key_, serving.address(), "one"), two(serving.key_, serving.address(), "two");
  ASSERT_EQ(one.join(20s), "");
  ASSERT_EQ(two.join(20s), "");
  std::size_t heard = 0;
  for (SimTime t; t < at(200ms); t += 10ms) {
    ASSERT_TRUE(one.exchange(up("a", t, 0, true)));
    const auto news = two.exchange(up("b", t, 40, false));
    ASSERT_TRUE(news);
    heard += news->deliveries.size();
  }
  EXPECT_EQ(heard, 20u);
  EXPECT_EQ(one.missed(), 0u);
}

TEST(CommServer, LetsNobodyInWithoutTheKeyOrUnderAForeignName) {
  Serving serving;
  CommClient stranger(link::Key::generate(), serving.address(), "one");
  EXPECT_NE(stranger.join(20s).find("key"), std::string::npos);
  CommClient nobody(serving.key_, serving.address(), "three");
  EXPECT_NE(nobody.join(20s).find("no client `three`"), std::string::npos);
  CommClient one(serving.key_, serving.address(), "one"), again(serving.key_, serving.address(), "one");
  ASSERT_EQ(one.join(20s), "");
  EXPECT_NE(again.join(20s).find("already"), std::string::npos);
}

TEST(CommServer, AClientThatEndsHoldsNobodyUp) {
  Serving serving;
  CommClient one(serving.key_, serving.address(), "one");
  ASSERT_EQ(one.join(20s), "");
  {
    CommClient two(serving.key_, serving.address(), "two");
    ASSERT_EQ(two.join(20s), "");
    ASSERT_TRUE(two.exchange(up("b", at(0ms), 0, false)));
  }
  for (int i = 0; i < 2000 && serving.air_.clients() > 1; ++i) std::this_thread::sleep_for(5ms);
  ASSERT_TRUE(one.exchange(up("a", at(100ms), 0, true)));
  EXPECT_GT(serving.air_.time(), at(100ms));
}

/// Whether a client that was let in is still there after it said so.
bool stays(const AirUp& said) {
  const link::Key key = link::Key::generate();
  DeskReactor desk;
  SharedAir air(two_cars("802.11p"), owners, lead, [](const AirLog&) {});
  CommServer server(desk, key, Address::loopback(1), air, {"one", "two"});
  CommVisitor visitor(desk, key);
  EXPECT_TRUE(visitor.join(std::string("one")));
  std::vector<std::byte> bytes(cdr_size(said));
  cdr_write(said, bytes);
  visitor.say_sealed(bytes);
  EXPECT_EQ(server.strangers(), visitor.inside() ? 0u : 1u);
  return visitor.inside();
}

TEST(CommServer, ShowsOutWhoSpeaksForOthersOrSaysWhatCannotBe) {
  EXPECT_TRUE(stays(up("a", at(10ms), 0, true)));
  EXPECT_FALSE(stays(up("b", at(10ms), 0, false))) << "where another client's car is";
  AirUp said = up("a", at(10ms), 0, true);
  said.sends[0].from = "b";
  EXPECT_FALSE(stays(said)) << "what another client's car sends";
  said = up("a", at(10ms), 0, true);
  said.sends[0].at = at(1s);
  EXPECT_FALSE(stays(said)) << "at a time that is not its turn";
  said = up("a", at(10ms), 0, true);
  said.sends[0].power_dbm = std::nan("");
  EXPECT_FALSE(stays(said));
  EXPECT_FALSE(stays(up("a", at(10ms), std::nan(""), true)));
  EXPECT_FALSE(stays(up("a", at(1'600'000'000s), 0, true)));
  said = up("a", at(10ms), 0, true);
  said.until = at(1000s);
  EXPECT_FALSE(stays(said)) << "a heartbeat of a quarter of an hour";
}

TEST(CommClient, GoesOnWithoutAServer) {
  std::optional<CommClient> client;
  {
    Serving serving;
    client.emplace(serving.key_, serving.address(), "one");
    ASSERT_EQ(client->join(20s), "");
    ASSERT_TRUE(client->exchange(up("a", at(0ms), 0, true)));
  }
  EXPECT_FALSE(client->exchange(up("a", at(10ms), 0, true)));
  EXPECT_EQ(client->missed(), 1u);
}

}  // namespace
}  // namespace isochron::v2x
