#include "v2x/radio/attacker.hpp"

#include <algorithm>

#include "core/input_error.hpp"

namespace isochron::v2x {

AttackedMedium::AttackedMedium(std::unique_ptr<Medium> medium, std::vector<Attack> attacks, std::uint64_t seed)
    : medium_(std::move(medium)), attacks_(std::move(attacks)), draws_(seed, "radio/attacker") {
  for (const Attack& attack : attacks_) {
    if (!(attack.probability >= 0 && attack.probability <= 1)) {
      throw InputError(Place{}, "an attack's probability must be in 0..1");
    }
    if (attack.by < SimSpan::zero()) throw InputError(Place{}, "an attacker cannot send before the sender");
    if (attack.kind == Attack::Kind::ghosts && attack.every <= SimSpan::zero()) {
      throw InputError(Place{}, "ghosts must speak at intervals");
    }
  }
  for (std::size_t i = 0; i < attacks_.size(); ++i) {
    const Attack& attack = attacks_[i];
    if (attack.kind == Attack::Kind::jam) {
      turns_.push({attack.from, i, 0});
      if (attack.until < SimTime::never()) turns_.push({attack.until, i, 0});
    }
    if (attack.kind != Attack::Kind::ghosts) continue;
    for (unsigned ghost = 0; ghost < attack.ghosts; ++ghost) {
      turns_.push({attack.from + attack.every * ghost / attack.ghosts, i, ghost});  // one after the other
    }
  }
}

StationId AttackedMedium::add_station(const Vec3& at) {
  places_.push_back(at);
  return medium_->add_station(at);
}

void AttackedMedium::set_position(StationId station, const Vec3& at) {
  places_.at(station) = at;
  medium_->set_position(station, at);
  make_noise(station);
}

/// All that jammers make at a station now.
void AttackedMedium::make_noise(StationId station) {
  double noise_mw = 0;
  bool any = false;
  for (const Attack& attack : attacks_) {
    if (attack.kind != Attack::Kind::jam) continue;
    any = true;
    const Vec3 off{places_[station].x - attack.middle.x, places_[station].y - attack.middle.y, 0};
    const bool within = distance(off, {}) <= attack.radius_m;
    if (within && now_ >= attack.from && now_ < attack.until) noise_mw += attack.noise_mw;
  }
  if (any) medium_->set_noise(station, noise_mw);
}

void AttackedMedium::take_turn(const Turn& turn) {
  const Attack& attack = attacks_[turn.attack];
  if (attack.kind == Attack::Kind::jam) {
    for (StationId station = 0; station < places_.size(); ++station) make_noise(station);
    return;
  }
  if (turn.at >= attack.until) return;
  turns_.push({turn.at + attack.every, turn.attack, turn.ghost});
  if (!draws_.chance(attack.probability)) return;
  ++tampering_.invented;
  medium_->send(turn.at, attack.antenna, attack.invent(turn.ghost, turn.at));
}

bool AttackedMedium::strikes(const Attack& attack, SimTime at, StationId from) {
  if (at < attack.from || at >= attack.until) return false;
  const auto& v = attack.victims;
  if (!v.empty() && std::find(v.begin(), v.end(), from) == v.end()) return false;
  return draws_.chance(attack.probability);
}

void AttackedMedium::alter(const Attack& attack, Bytes& octets, SimTime at, StationId from) {
  if (attack.change) {
    tampering_.altered += attack.change(octets, at, from, draws_) ? 1 : 0;
    return;
  }
  ++tampering_.altered;
  if (octets.empty()) return;
  const std::uint64_t bit = draws_.below(octets.size() * 8);
  octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] ^ 1u << bit % 8);
}

void AttackedMedium::say_beside(const Attack& attack, SimTime at, StationId from, const Bytes& octets,
                                double power_dbm) {
  constexpr SimSpan apart = std::chrono::milliseconds(1);
  SimTime when = at;
  for (const Bytes& more : attack.beside(octets, at, from)) {
    ++tampering_.invented;
    hold(when += apart, from, more, power_dbm);
  }
}

void AttackedMedium::hold(SimTime at, StationId from, const Bytes& octets, double power_dbm) {
  held_.push({at, from, order_++, octets, power_dbm});
}

void AttackedMedium::tell_dropped(SimTime at, StationId from, const Bytes& octets) const {
  const Reception nobody{from, Fate::dropped, {}, 0};
  witness_({at, at, at, from, octets, {&nobody, 1}});
}

void AttackedMedium::send(SimTime at, StationId from, Bytes octets, double power_dbm) {
  SimTime when = at;
  for (const Attack& attack : attacks_) {
    if (attack.kind == Attack::Kind::ghosts || attack.kind == Attack::Kind::jam) continue;  // by turns of their own
    if (!strikes(attack, at, from)) continue;
    switch (attack.kind) {
      case Attack::Kind::drop:
        ++tampering_.dropped;
        if (witness_) tell_dropped(at, from, octets);
        return;
      case Attack::Kind::alter:
      case Attack::Kind::falsify:
      case Attack::Kind::spat:
        alter(attack, octets, at, from);
        break;
      case Attack::Kind::sybil:
        say_beside(attack, when, from, octets, power_dbm);
        break;
      case Attack::Kind::delay:
        ++tampering_.delayed;
        when += attack.by;
        break;
      case Attack::Kind::replay:
        tampering_.replayed += attack.copies;
        for (unsigned i = 1; i <= attack.copies; ++i) hold(when + attack.by * i, from, octets, power_dbm);
        break;
      case Attack::Kind::ghosts:
      case Attack::Kind::jam:
        break;
    }
  }
  if (when > at) return hold(when, from, octets, power_dbm);
  medium_->send(at, from, std::move(octets), power_dbm);
}

void AttackedMedium::advance(SimTime until, const Deliver& deliver) {
  while (true) {
    const SimTime held_at = held_.empty() ? SimTime::never() : held_.top().at;
    const SimTime turn_at = turns_.empty() ? SimTime::never() : turns_.top().at;
    const SimTime next = std::min(held_at, turn_at);
    if (next > until || next == SimTime::never()) break;
    medium_->advance(next, deliver);
    now_ = std::max(now_, next);
    if (turn_at == next) {
      const Turn turn = turns_.top();
      turns_.pop();
      take_turn(turn);
    } else {
      const Held held = held_.top();
      held_.pop();
      medium_->send(held.at, held.from, held.octets, held.power_dbm);
    }
  }
  medium_->advance(until, deliver);
  now_ = std::max(now_, until);
}

SimTime AttackedMedium::next_event() const {
  SimTime next = medium_->next_event();
  if (!held_.empty()) next = std::min(next, held_.top().at);
  if (!turns_.empty()) next = std::min(next, turns_.top().at);
  return next;
}

}  // namespace isochron::v2x
