#include "v2x/radio/attacker.hpp"

#include <algorithm>

#include "core/input_error.hpp"

namespace isochron::v2x {

Attack::Kind attack_kind(std::string_view word) {
  if (word == "alter") return Attack::Kind::alter;
  if (word == "delay") return Attack::Kind::delay;
  if (word == "drop") return Attack::Kind::drop;
  if (word == "replay") return Attack::Kind::replay;
  throw InputError(Place{}, "unknown attack `" + std::string(word) + "`", "one of alter, delay, drop, replay");
}

AttackedMedium::AttackedMedium(std::unique_ptr<Medium> medium, std::vector<Attack> attacks, std::uint64_t seed)
    : medium_(std::move(medium)), attacks_(std::move(attacks)), draws_(seed, "radio/attacker") {
  for (const Attack& attack : attacks_) {
    if (!(attack.probability >= 0 && attack.probability <= 1)) {
      throw InputError(Place{}, "an attack's probability must be in 0..1");
    }
    if (attack.by < SimSpan::zero()) throw InputError(Place{}, "an attacker cannot send before the sender");
  }
}

bool AttackedMedium::strikes(const Attack& attack, SimTime at, StationId from) {
  if (at < attack.from || at >= attack.until) return false;
  const auto& v = attack.victims;
  if (!v.empty() && std::find(v.begin(), v.end(), from) == v.end()) return false;
  return draws_.chance(attack.probability);
}

void AttackedMedium::alter(const Attack& attack, Bytes& octets) {
  ++tampering_.altered;
  if (attack.change) return attack.change(octets, draws_);
  if (octets.empty()) return;
  const std::uint64_t bit = draws_.below(octets.size() * 8);
  octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] ^ 1u << bit % 8);
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
    if (!strikes(attack, at, from)) continue;
    switch (attack.kind) {
      case Attack::Kind::drop:
        ++tampering_.dropped;
        if (witness_) tell_dropped(at, from, octets);
        return;
      case Attack::Kind::alter:
        alter(attack, octets);
        break;
      case Attack::Kind::delay:
        ++tampering_.delayed;
        when += attack.by;
        break;
      case Attack::Kind::replay:
        tampering_.replayed += attack.copies;
        for (unsigned i = 1; i <= attack.copies; ++i) hold(when + attack.by * i, from, octets, power_dbm);
        break;
    }
  }
  if (when > at) return hold(when, from, octets, power_dbm);
  medium_->send(at, from, std::move(octets), power_dbm);
}

void AttackedMedium::advance(SimTime until, const Deliver& deliver) {
  while (!held_.empty() && held_.top().at <= until) {
    const Held held = held_.top();
    medium_->advance(held.at, deliver);
    held_.pop();
    medium_->send(held.at, held.from, held.octets, held.power_dbm);
  }
  medium_->advance(until, deliver);
}

SimTime AttackedMedium::next_event() const {
  return held_.empty() ? medium_->next_event() : std::min(held_.top().at, medium_->next_event());
}

}  // namespace isochron::v2x
