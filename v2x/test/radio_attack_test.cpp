// Attackers who keep to the form: what they forge can be read, and says what is not so.

#include <gtest/gtest.h>

#include <numbers>

#include "core/input_error.hpp"
#include "v2x/radio/attacker.hpp"
#include "v2x/radio/forgery.hpp"
#include "v2x/radio/options.hpp"
#include "v2x/station/vehicle.hpp"

namespace isochron::v2x {
namespace {

using namespace std::chrono_literals;

SimTime at(SimSpan t) { return SimTime::zero() + t; }
const GeoFrame geo(43, -89);

Bytes a_bsm() { return ghost_bsm({7, {10, 20, 0}, 0, 5}, at(0s), at(1s), geo); }
BsmCore core_of(const Bytes& octets) { return std::get<Bsm>(decode(octets)->message).core; }
Vec3 place_of(const BsmCore& core) { return geo.from(*core.latitude_deg, *core.longitude_deg); }

TEST(Forgery, AGhostDrivesOnAndIsBelievedByWhoeverListens) {
  const BsmCore core = core_of(a_bsm());
  EXPECT_NEAR(place_of(core).x, 10, 0.02);
  EXPECT_NEAR(place_of(core).y, 25, 0.02);
  EXPECT_DOUBLE_EQ(*core.speed_m_s, 5);
  VehicleStation station({}, geo);
  station.hear(at(1050ms), a_bsm());
  EXPECT_EQ(station.neighbours().count(7), 1u);
}

TEST(Forgery, FalsifiesPlaceSpeedAndHeadingAndNothingElse) {
  Bytes octets = a_bsm();
  const BsmCore before = core_of(octets);
  EXPECT_TRUE(forge_message(octets, [](Frame& f) { return falsify(f, {30, -40, 12.0, std::numbers::pi / 2}, geo); }));
  const BsmCore after = core_of(octets);
  EXPECT_NEAR(place_of(after).x - place_of(before).x, 30, 0.02);
  EXPECT_NEAR(place_of(after).y - place_of(before).y, -40, 0.02);
  EXPECT_DOUBLE_EQ(*after.speed_m_s, 12);
  EXPECT_NEAR(*after.heading_rad, std::numbers::pi / 2, 1e-3);
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.sec_mark_s, before.sec_mark_s);
  Bytes other{0, 240, 1, 9};
  EXPECT_FALSE(forge_message(other, [](Frame& f) { return falsify(f, {1, 0, {}, {}}, geo); }));
  EXPECT_EQ(other, (Bytes{0, 240, 1, 9}));
  Bytes rubbish{1};
  EXPECT_FALSE(forge_message(rubbish, [](Frame&) { return true; }));
}

TEST(Forgery, PutsWhatItForgedBackIntoItsEnvelope) {
  const Bytes inside = a_bsm();
  Bytes octets{3, 0x80, static_cast<std::uint8_t>(inside.size())};
  octets.insert(octets.end(), inside.begin(), inside.end());
  Bytes forged = octets;
  EXPECT_TRUE(forge_message(forged, [](Frame& f) {
    auto& bsm = std::get<Bsm>(f.message);
    for (int i = 0; i < 2; ++i) bsm.part2.push_back(OpaquePart{60, Bytes(60, 1), ""});  // it grows beyond 127 octets
    return true;
  }));
  EXPECT_EQ(forged[2], 0x81) << "the length before it now takes two octets";
  EXPECT_EQ(forged.size(), 4u + forged[3]);
}

TEST(Forgery, SybilsHaveAnotherNameAndPlace) {
  const Frame frame = *decode(a_bsm());
  const auto other = as_another(frame, 99, 3, 8, geo);
  ASSERT_TRUE(other.has_value());
  const BsmCore& core = std::get<Bsm>(other->message).core;
  EXPECT_EQ(core.id, 99u);
  EXPECT_NEAR(place_of(core).x, 13, 0.02) << "to the right of who heads north";
  EXPECT_NEAR(place_of(core).y, 17, 0.02) << "and behind";
  EXPECT_FALSE(as_another(Frame{}, 1, 0, 0, geo).has_value()) << "its heading is not known";
}

TEST(Forgery, SignalsShowWhatTheAttackerLikes) {
  Frame frame;
  Spat& spat = frame.message.emplace<Spat>();
  IntersectionState state;
  MovementState movement;
  MovementEvent red;
  red.state = SignalState::stop_and_remain;
  movement.signal_group = 3;
  movement.events = {red, red};
  state.movements = {movement};
  spat.intersections = {state};
  EXPECT_TRUE(fake_signals(frame, SignalState::protected_movement_allowed, at(100s)));
  const Frame heard = *decode(*encode(frame));
  const MovementState& told = std::get<Spat>(heard.message).intersections[0].movements[0];
  EXPECT_EQ(told.signal_group, 3);
  ASSERT_EQ(told.events.size(), 1u);
  EXPECT_EQ(told.events[0].state, SignalState::protected_movement_allowed);
  EXPECT_DOUBLE_EQ(**told.events[0].timing->max_end_s, 120);
}

struct Heard {
  SimTime at;
  StationId from, to;
  Bytes octets;
};
/// Two stations ten metres apart and an attacker; the first one sends once each 100 ms for two seconds.
std::vector<Heard> with(Attack attack, const char* medium = "ideal") {
  AttackedMedium air(make_medium(medium, {}), {std::move(attack)}, 1);
  for (int i = 0; i < 3; ++i) air.add_station({10.0 * i, 0, 1.5});
  std::vector<Heard> heard;
  for (int k = 0; k < 20; ++k) {
    air.send(at(100ms * k + 1ms), 0, a_bsm());
    air.advance(at(100ms * (k + 1)), [&](const Delivery& d) {
      heard.push_back({d.received, d.from, d.to, Bytes(d.octets.begin(), d.octets.end())});
    });
  }
  return heard;
}

TEST(Attack, GhostsSpeakByTheAttackersAntennaAsLongAsItLasts) {
  Attack attack;
  attack.kind = Attack::Kind::ghosts;
  attack.ghosts = 4;
  attack.from = at(500ms);
  attack.until = at(1500ms);
  attack.antenna = 2;
  attack.invent = [](unsigned i, SimTime now) { return ghost_bsm({100 + i, {}, 0, 0}, at(0s), now, geo); };
  std::map<std::uint32_t, int> ghosts;
  for (const Heard& h : with(attack)) {
    if (h.from != 2 || h.to != 1) continue;
    EXPECT_GE(h.at, at(500ms));
    EXPECT_LT(h.at, at(1502ms));
    ++ghosts[core_of(h.octets).id];
  }
  EXPECT_EQ(ghosts, (std::map<std::uint32_t, int>{{100, 10}, {101, 10}, {102, 10}, {103, 10}}));
}

TEST(Attack, ASybilSpeaksForOthersByItsOwnRadio) {
  Attack attack;
  attack.kind = Attack::Kind::sybil;
  attack.beside = [](std::span<const std::uint8_t> octets, SimTime, StationId) {
    std::vector<Bytes> all;
    for (std::uint32_t i = 1; i <= 3; ++i) {
      all.push_back(*encode(*as_another(*decode(octets), 500 + i, 0, 8.0 * i, geo)));
    }
    return all;
  };
  std::map<std::uint32_t, int> ids;
  for (const Heard& h : with(attack)) {
    EXPECT_EQ(h.from, 0u);
    if (h.to == 1) ++ids[core_of(h.octets).id];
  }
  EXPECT_EQ(ids, (std::map<std::uint32_t, int>{{7, 20}, {501, 20}, {502, 20}, {503, 20}}));
}

TEST(Attack, AJammerDrownsWhoIsNearItWhileItLasts) {
  for (const char* medium : {"ideal", "fixed", "802.11p"}) {
    Attack attack;
    attack.kind = Attack::Kind::jam;
    attack.middle = {25, 0, 0};
    attack.radius_m = 10;  // the third station alone
    attack.noise_mw = 1e-3;
    attack.from = at(500ms);
    attack.until = at(1500ms);
    std::map<StationId, int> during, otherwise;
    for (const Heard& h : with(attack, medium)) {
      const bool lasts = h.at >= at(500ms) && h.at < at(1500ms);
      ++(lasts ? during : otherwise)[h.to];
    }
    EXPECT_EQ(during[2], 0) << medium;
    EXPECT_EQ(during[1], 10) << medium;
    EXPECT_EQ(otherwise[2], 10) << medium;
  }
}

TEST(Attack, WhoIsJammedDoesNotGetTheChannel) {
  Attack attack;
  attack.kind = Attack::Kind::jam;
  attack.middle = {0, 0, 0};
  attack.radius_m = 1;
  attack.noise_mw = 1e-6;
  EXPECT_TRUE(with(attack, "802.11p").empty()) << "the sender hears noise, and waits for its end";
}

TEST(Attack, GhostsMustSpeakAtIntervals) {
  Attack attack;
  attack.kind = Attack::Kind::ghosts;
  attack.every = {};
  EXPECT_THROW(AttackedMedium(make_medium("ideal", {}), {attack}, 1), InputError);
}

}  // namespace
}  // namespace isochron::v2x
