#pragma once
// The part of a scenario's vocabulary for radio: by what medium agents talk, who is equipped, what they do with what
// they hear, who interferes, and the intersections that traffic lights describe to them. See docs/v2x.md.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "scenario/agents_section.hpp"
#include "scenario/faults_section.hpp"
#include "v2x/radio/attacker.hpp"

namespace isochron {

enum class RadioKind { ideal, fixed, dsrc };
template <>
struct Words<RadioKind> {
  static constexpr std::array<const char*, 3> list{"ideal", "fixed", "dsrc"};
};
template <>
struct Words<v2x::Attack::Kind> {
  static constexpr std::array<const char*, 9> list{"alter", "delay", "drop",   "replay", "falsify",
                                                   "spat",  "sybil", "ghosts", "jam"};
};

/// What forged signals show.
enum class FakeSignal { green, yellow, red, dark };
template <>
struct Words<FakeSignal> {
  static constexpr std::array<const char*, 4> list{"green", "yellow", "red", "dark"};
};

struct AttackSection : Section {
  v2x::Attack::Kind kind = v2x::Attack::Kind::drop;
  std::vector<std::string> victims;
  Share share{1};
  SimSpan from{};
  std::optional<SimSpan> until;
  SimSpan by = std::chrono::milliseconds(500);
  std::uint32_t copies = 1;
  std::array<double, 2> offset{0, 0};
  std::optional<double> speed, heading;
  FakeSignal shows = FakeSignal::green;
  std::uint32_t count = 3;
  SimSpan every = std::chrono::milliseconds(100);
  std::array<double, 2> at{0, 0};
  std::optional<std::array<double, 3>> antenna;
  double radius = 100;
  double noise = -60;
  bool insider = false;
};
template <class V>
void describe(V& v, AttackSection& s) {
  v.required(
      "kind", s.kind,
      "what the attacker does. With others' messages: alter, delay, drop, replay; falsify (BSM and PSM say "
      "another place, speed or heading), spat (lights say another colour), sybil (a radio speaks for others that "
      "are nowhere). Of its own: ghosts (vehicles that are nowhere), jam (noise)");
  v.optional("victims", s.victims, "whose; everybody's if left out");
  v.optional("share", s.share, "of their messages, as in 20%");
  v.optional("from", s.from, "when it begins");
  v.optional("until", s.until, "and ends");
  v.optional("by", s.by, "delay: how much later; replay: how long after the original");
  v.optional("copies", s.copies, "replay: how many");
  v.optional(
      "offset", s.offset,
      "falsify: so far from the true place, [east, north], m; sybil: between one and the next, [aside, behind], m");
  v.optional("speed", s.speed, "falsify, ghosts: what is said, m/s; falsify: the true one if left out; ghosts: 0");
  v.optional(
      "heading", s.heading,
      "falsify, ghosts: what is said, degrees from north, clockwise; falsify: the true one if left out; ghosts: 0");
  v.optional("shows", s.shows, "spat: what all signals are said to show");
  v.optional("count", s.count, "sybil, ghosts: how many that are nowhere");
  v.optional("every", s.every, "ghosts: between two messages of one of them");
  v.optional("at", s.at,
             "ghosts: where the first begins, the others 8 m behind each other, [x, y], m; jam: the middle");
  v.optional("antenna", s.antenna, "ghosts: where the attacker's is, m; 1.5 m over `at` if left out");
  v.optional("radius", s.radius, "jam: how far the noise goes, m");
  v.optional("noise", s.noise, "jam: how loud it is there, dBm; media other than dsrc: nothing is heard there");
  v.optional(
      "insider", s.insider,
      "falsify, spat, sybil, ghosts with `security`: the attacker signs, by the keys of its victims, ghosts by one "
      "of its own that is certified; left out: what it forges is signed wrongly, or not at all");
}

/// What receivers make something of.
enum class Accept { any, verified };
template <>
struct Words<Accept> {
  static constexpr std::array<const char*, 2> list{"any", "verified"};
};
struct SecuritySection : Section {
  std::vector<std::string> without;
  Accept accept = Accept::verified;
  std::vector<std::string> revoked;
  SimSpan certificate_every = std::chrono::milliseconds(500);
};
template <class V>
void describe(V& v, SecuritySection& s) {
  v.optional("without", s.without, "stations that do not sign what they say; all do if left out");
  v.optional("accept", s.accept,
             "verified: only what a certified station signed for its purpose, not older than 0.7 s; any: everything, "
             "signed or not");
  v.optional("revoked", s.revoked, "stations whose certificates are revoked: nobody accepts what they sign");
  v.optional("certificate_every", s.certificate_every,
             "how often a message brings its whole certificate; the others name it by its digest");
}

struct LaneSection : Section {
  std::vector<std::array<double, 2>> nodes;
  std::string head;
  std::vector<std::string> to, yields;
};
template <class V>
void describe(V& v, LaneSection& s) {
  v.required("nodes", s.nodes,
             "its middle, from the intersection outwards: [[x, y], …], m; the first is its stop line");
  v.optional("head", s.head, "the signal of who comes in by it; left out: it leads away");
  v.optional("to", s.to, "lanes that it leads to");
  v.optional("yields", s.yields,
             "those of them that one has to give way on, as when turning left: told as `permissive`");
}

struct IntersectionSection : Section {
  std::array<double, 3> antenna{0, 0, 5};
  int id = 1;
  double lane_width = 3.5;
  double speed_limit = 13.9;
  Named<LaneSection> lanes;
};
template <class V>
void describe(V& v, IntersectionSection& s) {
  v.optional("antenna", s.antenna, "where the lights' radio is, m; lanes are told relative to it");
  v.optional("id", s.id, "its number in messages");
  v.optional("lane_width", s.lane_width, "m");
  v.optional("speed_limit", s.speed_limit, "m/s");
  v.required("lanes", s.lanes, "by name");
}

/// What a unit says of itself.
enum class Says { bsm, psm, nothing };
template <>
struct Words<Says> {
  static constexpr std::array<const char*, 3> list{"bsm", "psm", "nothing"};
};
struct UnitSection : Section {
  std::optional<Says> says;
  std::optional<double> power;
  std::optional<SimSpan> every, slowest;
  std::optional<bool> congestion;
};
template <class V>
void describe(V& v, UnitSection& s) {
  v.optional(
      "says", s.says,
      "of itself: bsm (as a vehicle), psm (as somebody on foot), nothing; what its programs send goes out beside it");
  v.optional("power", s.power, "of its radio, dBm; `power` of `v2x` if left out");
  v.optional("every", s.every, "between two messages of itself; 100ms if left out");
  v.optional("slowest", s.slowest, "in a crowd; 600ms if left out");
  v.optional("congestion", s.congestion,
             "whether it talks less often in a crowd and quieter on a busy channel, as by J2945/1; true if left out");
}

struct V2xSection : Section {
  RadioKind medium = RadioKind::dsrc;
  std::vector<std::string> equipped;
  std::vector<std::string> deaf;
  std::vector<std::string> quiet;
  bool advice = true;
  bool warning = true;
  double antenna = 0.95;
  double latitude = 43.0731, longitude = -89.4009, altitude = 260;
  double range = 1e9;
  SimSpan delay = std::chrono::milliseconds(2);
  Share loss;
  double power = 20;
  double fading = 1.5;
  bool obstruction = true;
  std::vector<AttackSection> attacks;
  std::optional<SecuritySection> security;
  UnitSection unit;
  Named<UnitSection> units;
  Named<IntersectionSection> intersections;
};
template <class V>
void describe(V& v, V2xSection& s) {
  v.optional("medium", s.medium,
             "ideal: all in range hear everything; fixed: with a delay and a loss; dsrc: IEEE 802.11p");
  v.optional("equipped", s.equipped,
             "cars with a radio, or robots where there are no `agents`; all if left out. Lights have one if an "
             "intersection is "
             "theirs");
  v.optional("deaf", s.deaf, "cars that talk, and whose drivers make nothing of what they hear");
  v.optional("quiet", s.quiet, "cars whose unit sends nothing of its own: their programs say what there is to say");
  v.optional("advice", s.advice, "drivers take the speed advice for the green");
  v.optional("warning", s.warning, "drivers brake when warned of somebody behind the corner");
  v.optional("antenna", s.antenna, "height over a car's middle, m");
  v.optional("latitude", s.latitude, "of the world's origin, degrees; x is east, y is north");
  v.optional("longitude", s.longitude, "degrees");
  v.optional("altitude", s.altitude, "m");
  v.optional("range", s.range, "farther stations hear nothing, m");
  v.optional("delay", s.delay, "fixed: from sending to hearing");
  v.optional("loss", s.loss, "fixed: share that each receiver loses, as in 50%");
  v.optional("power", s.power, "dsrc: of the strongest, dBm");
  v.optional("fading", s.fading, "dsrc: Nakagami's m; 1 = Rayleigh, higher = steadier, 0 = none");
  v.optional("obstruction", s.obstruction, "dsrc: whether buildings and vehicles stand in the way");
  v.optional("attacks", s.attacks, "who interferes, in order");
  v.optional("unit", s.unit, "how the on-board units of all work");
  v.optional("units", s.units, "and those of some, by car or robot");
  v.optional("security", s.security, "messages are signed and verified, as by IEEE 1609.2");
  v.optional("intersections", s.intersections, "lanes, by the name of the lights that tell of them (MAP, SPaT)");
}

}  // namespace isochron
