// The attacks of a scenario's `v2x` as an air carries them out: who is hit when, and what forged messages say.

#include "run/v2x_attacks.hpp"

#include <cmath>
#include <memory>
#include <numbers>

#include "traffic/v2x_security.hpp"
#include "v2x/radio/forgery.hpp"

namespace isochron {

namespace {

/// What forged messages are made by; shared by the attacks of one air.
struct Forger {
  explicit Forger(const Scenario& scenario)
      : geo(scenario.v2x->latitude, scenario.v2x->longitude, scenario.v2x->altitude) {
    if (scenario.v2x->security) security.emplace(scenario);
  }
  v2x::GeoFrame geo;
  std::optional<V2xSecurity> security;
  std::vector<std::string> names;  // of stations

  /// Forges in place. An insider then signs anew; anybody else leaves the signature as it was, which is now wrong.
  bool forge(v2x::Bytes& octets, SimTime at, v2x::StationId from, bool insider,
             const std::function<bool(v2x::Frame&)>& how) {
    const bool was_signed = v2x::is_envelope(octets);
    if (!v2x::forge_message(octets, how)) return false;
    if (insider && was_signed) {
      const auto inside = v2x::message_inside(octets);
      octets = security->signed_by(names.at(from), at, v2x::Bytes(inside.begin(), inside.end()));
    }
    return true;
  }
};

using AttackForger = std::shared_ptr<Forger>;  // the attacks' functions outlive the loop that makes them

void forge_by(v2x::Attack& made, const AttackSection& attack, const AttackForger& forger, std::uint64_t seed) {
  constexpr double degree = std::numbers::pi / 180;
  using Kind = v2x::Attack::Kind;
  const bool insider = attack.insider;
  if (attack.kind == Kind::falsify) {
    v2x::FalseMotion motion{attack.offset[0], attack.offset[1], attack.speed, attack.heading};
    if (motion.heading_rad) *motion.heading_rad *= degree;
    made.change = [=](v2x::Bytes& octets, SimTime at, v2x::StationId from, RandomStream&) {
      return forger->forge(octets, at, from, insider,
                           [&](v2x::Frame& frame) { return v2x::falsify(frame, motion, forger->geo); });
    };
  }
  if (attack.kind == Kind::spat) {
    using State = v2x::SignalState;
    constexpr std::array states{State::protected_movement_allowed, State::protected_clearance, State::stop_and_remain,
                                State::dark};
    const State state = states.at(static_cast<std::size_t>(attack.shows));
    made.change = [=](v2x::Bytes& octets, SimTime at, v2x::StationId from, RandomStream&) {
      return forger->forge(octets, at, from, insider,
                           [&](v2x::Frame& frame) { return v2x::fake_signals(frame, state, at); });
    };
  }
  if (attack.kind == Kind::sybil) {
    const bool told = attack.key_places.contains("offset");
    const std::array<double, 2> apart = told ? attack.offset : std::array<double, 2>{0, 8};
    made.beside = [=, count = attack.count](std::span<const std::uint8_t> octets, SimTime at, v2x::StationId from) {
      std::vector<v2x::Bytes> all;
      for (std::uint32_t i = 1; i <= count; ++i) {
        v2x::Bytes one(octets.begin(), octets.end());
        const bool forged = forger->forge(one, at, from, insider, [&](v2x::Frame& frame) {
          const auto id = static_cast<std::uint32_t>(RandomStream(seed, "sybil/" + std::to_string(from)).bits()) + i;
          auto other = v2x::as_another(frame, id, apart[0] * i, apart[1] * i, forger->geo);
          return other && (frame = std::move(*other), true);
        });
        if (forged) all.push_back(std::move(one));
      }
      return all;
    };
  }
  if (attack.kind == Kind::ghosts) {
    const double heading = attack.heading.value_or(0) * degree;
    made.ghosts = attack.count;
    made.every = attack.every;
    made.invent = [=, station = made.antenna, speed = attack.speed.value_or(0), where = attack.at, since = made.from](
                      unsigned i, SimTime at) {
      constexpr double apart_m = 8;
      const auto id = static_cast<std::uint32_t>(RandomStream(seed, "ghost/" + std::to_string(station)).bits()) + i;
      const v2x::Vec3 start{where[0] - apart_m * i * std::sin(heading), where[1] - apart_m * i * std::cos(heading), 0};
      v2x::Bytes octets = v2x::ghost_bsm({id, start, heading, speed}, since, at, forger->geo);
      if (!insider) return octets;
      return forger->security->signed_by_stranger(forger->names.at(station), at, std::move(octets));
    };
  }
}

}  // namespace

std::string attackers_name(std::size_t attack) { return "attacker " + std::to_string(attack + 1); }

void add_attacks(const Scenario& scenario, v2x::AirSettings& air, const std::map<std::string, v2x::StationId>& ids) {
  const auto forger = std::make_shared<Forger>(scenario);
  std::size_t number = 0;
  for (const AttackSection& attack : scenario.v2x->attacks) {
    v2x::Attack made;
    made.kind = attack.kind;
    for (const std::string& victim : attack.victims) {
      if (const auto id = ids.find(victim); id != ids.end()) made.victims.push_back(id->second);
    }
    made.probability = attack.share.value;
    made.from = SimTime::zero() + attack.from;
    if (attack.until) made.until = SimTime::zero() + *attack.until;
    made.by = attack.by;
    made.copies = attack.copies;
    made.middle = {attack.at[0], attack.at[1], 0};
    made.radius_m = attack.radius;
    made.noise_mw = std::pow(10, attack.noise / 10);
    if (attack.kind == v2x::Attack::Kind::ghosts) {
      made.antenna = static_cast<v2x::StationId>(air.stations.size());
      const auto at = attack.antenna.value_or(std::array<double, 3>{attack.at[0], attack.at[1], 1.5});
      air.stations.push_back({attackers_name(number), {at[0], at[1], at[2]}, true});
    }
    forge_by(made, attack, forger, scenario.seed);
    air.attacks.push_back(std::move(made));
    ++number;
  }
  for (const v2x::AirStation& station : air.stations) forger->names.push_back(station.name);
}

}  // namespace isochron
