#pragma once
// The two media without a channel. `ideal`: everybody in range hears everything, exactly AIFS and airtime after it was
// sent. `fixed`: after a fixed delay, each receiver losing it with a fixed probability of its own stream.

#include <queue>
#include <vector>

#include "core/random.hpp"
#include "v2x/radio/digest.hpp"
#include "v2x/radio/options.hpp"

namespace isochron::v2x {

class SimpleMedium final : public Medium {
 public:
  enum class Kind { ideal, fixed };
  SimpleMedium(Kind kind, const MediumOptions& options);

  StationId add_station(const Vec3& at) override;
  void set_position(StationId station, const Vec3& at) override;
  void set_noise(StationId station, double noise_mw) override;
  void remove_station(StationId station) override;
  void send(SimTime at, StationId from, Bytes octets, double power_dbm = default_power) override;
  void advance(SimTime until, const Deliver& deliver) override;
  void set_witness(Witness witness) override { witness_ = std::move(witness); }
  [[nodiscard]] SimTime next_event() const override;
  [[nodiscard]] SimSpan lookahead() const override;
  [[nodiscard]] SimSpan busy_time(StationId) const override { return SimSpan::zero(); }
  [[nodiscard]] const MediumCounts& counts() const override { return counts_; }
  [[nodiscard]] std::uint64_t digest() const override { return digest_.value(); }

 private:
  struct Station {
    Vec3 at;
    bool there = true;
    bool drowned = false;  // by noise
    RandomStream luck;     // as a receiver
  };
  struct Arrival {
    SimTime at;
    StationId to;
    StationId from;
    std::uint64_t order;  // of sending
    SimTime sent;
    std::shared_ptr<const SharedMessage> message;
  };
  struct Later {
    bool operator()(const Arrival& a, const Arrival& b) const {
      return std::tie(a.at, a.to, a.from, a.order) > std::tie(b.at, b.to, b.from, b.order);
    }
  };

  Kind kind_;
  MediumOptions options_;
  std::vector<Station> stations_;
  std::priority_queue<Arrival, std::vector<Arrival>, Later> arrivals_;
  SimTime now_;
  MediumCounts counts_;
  DeliveryDigest digest_;
  Witness witness_;
  std::vector<Reception> receptions_;  // of the message being sent
};

}  // namespace isochron::v2x
