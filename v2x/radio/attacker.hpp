#pragma once
// Somebody who tampers with what others send: alters it, delays it, drops it, sends it again later or sends more beside
// it; who sends what nobody said; who makes noise. Stands in front of any medium, so that experiments differ by one
// line. What is forged comes from functions (forgery.hpp): this knows of octets only.
//
// Promises: the same seed, attacks and calls give the same tampering. Messages of senders that no attack names pass
//           untouched and undelayed.
// Threads:  owner thread, as the medium.

#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "core/random.hpp"
#include "v2x/radio/medium.hpp"

namespace isochron::v2x {

struct Attack {
  enum class Kind { alter, delay, drop, replay, falsify, spat, sybil, ghosts, jam };
  Kind kind = Kind::drop;
  std::vector<StationId> victims;  // whose messages; empty = everybody's
  double probability = 1;          // for each message
  SimTime from = SimTime::zero();
  SimTime until = SimTime::never();
  SimSpan by = std::chrono::milliseconds(500);  // delay: how much later; replay: how long after the original
  unsigned copies = 1;                          // replay: how many, each `by` after the one before
  /// alter, falsify, spat: changes the octets in place; false = leaves them alone. None = flips one bit, drawn.
  std::function<bool(Bytes& octets, SimTime at, StationId from, RandomStream& draws)> change;
  /// sybil: what else the sender's radio says, in the milliseconds after a message.
  std::function<std::vector<Bytes>(std::span<const std::uint8_t> octets, SimTime at, StationId from)> beside;
  /// ghosts: what the i-th of them says; each of `ghosts` speaks once in `every`, by the station `antenna`.
  std::function<Bytes(unsigned i, SimTime at)> invent;
  unsigned ghosts = 0;
  SimSpan every = std::chrono::milliseconds(100);
  StationId antenna = 0;
  /// jam: so much noise at receivers within a circle.
  Vec3 middle{};
  double radius_m = 0;
  double noise_mw = 0;
};

class AttackedMedium final : public Medium {
 public:
  AttackedMedium(std::unique_ptr<Medium> medium, std::vector<Attack> attacks, std::uint64_t seed);

  StationId add_station(const Vec3& at) override;
  void set_position(StationId station, const Vec3& at) override;
  void set_noise(StationId station, double noise_mw) override { medium_->set_noise(station, noise_mw); }
  void remove_station(StationId station) override { medium_->remove_station(station); }
  void send(SimTime at, StationId from, Bytes octets, double power_dbm = default_power) override;
  void advance(SimTime until, const Deliver& deliver) override;
  void set_witness(Witness witness) override {
    witness_ = witness;
    medium_->set_witness(std::move(witness));
  }
  [[nodiscard]] SimTime next_event() const override;
  [[nodiscard]] SimSpan lookahead() const override { return medium_->lookahead(); }
  [[nodiscard]] SimSpan busy_time(StationId station) const override { return medium_->busy_time(station); }
  [[nodiscard]] const MediumCounts& counts() const override { return medium_->counts(); }
  [[nodiscard]] std::uint64_t digest() const override { return medium_->digest(); }

  struct Tampering {
    std::uint64_t altered = 0;
    std::uint64_t delayed = 0;
    std::uint64_t dropped = 0;
    std::uint64_t replayed = 0;
    std::uint64_t invented = 0;  // said by nobody: sybil, ghosts
  };
  [[nodiscard]] const Tampering& tampering() const { return tampering_; }

 private:
  struct Held {
    SimTime at;
    StationId from;
    std::uint64_t order;
    Bytes octets;
    double power_dbm;
    friend bool operator>(const Held& a, const Held& b) {
      return std::tie(a.at, a.from, a.order) > std::tie(b.at, b.from, b.order);
    }
  };
  [[nodiscard]] bool strikes(const Attack& attack, SimTime at, StationId from);
  void alter(const Attack& attack, Bytes& octets, SimTime at, StationId from);
  void say_beside(const Attack& attack, SimTime at, StationId from, const Bytes& octets, double power_dbm);
  void tell_dropped(SimTime at, StationId from, const Bytes& octets) const;
  void hold(SimTime at, StationId from, const Bytes& octets, double power_dbm);

  /// What an attack does of itself, and when next: the noise begins and ends, a ghost speaks.
  struct Turn {
    SimTime at;
    std::size_t attack;
    unsigned ghost;
    friend bool operator>(const Turn& a, const Turn& b) {
      return std::tie(a.at, a.attack, a.ghost) > std::tie(b.at, b.attack, b.ghost);
    }
  };
  void take_turn(const Turn& turn);
  void make_noise(StationId station);

  std::unique_ptr<Medium> medium_;
  std::vector<Attack> attacks_;
  std::vector<Vec3> places_;  // of stations
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  SimTime now_;
  RandomStream draws_;
  std::priority_queue<Held, std::vector<Held>, std::greater<>> held_;
  std::uint64_t order_ = 0;
  Tampering tampering_;
  Witness witness_;
};

}  // namespace isochron::v2x
