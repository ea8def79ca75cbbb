#pragma once
// Broadcast over IEEE 802.11p. Every station listens before it talks (AIFS, then a random number of slots), nobody
// acknowledges, so what collides is lost. Three kinds of events move it:
//
//     send ──► queue ──► countdown expires ──► frame on the air ──► frame ends ──► delivered, or not
//
// A frame's start and its end each visit the stations in reach once. There, powers add up; a receiver that is free
// locks on to a frame that stands out, follows its signal to interference and noise through every change until its end,
// and then a draw decides. Flight time (3 us for a km) delays the delivery; for contention and interference it is
// neglected, being shorter than the 4 us within which a frame cannot be noticed anyway.
//
// Cost: O(stations in reach) for each frame; after the first second nothing is allocated but the messages.

#include <deque>
#include <queue>
#include <tuple>
#include <vector>

#include "core/random.hpp"
#include "v2x/radio/digest.hpp"
#include "v2x/radio/expiry_tree.hpp"
#include "v2x/radio/neighbours.hpp"
#include "v2x/radio/options.hpp"
#include "v2x/radio/packet_error.hpp"

namespace isochron::v2x {

class DsrcMedium final : public Medium {
 public:
  explicit DsrcMedium(const MediumOptions& options);

  StationId add_station(const Vec3& at) override;
  void set_position(StationId station, const Vec3& at) override;
  void set_noise(StationId station, double noise_mw) override;
  void remove_station(StationId station) override;
  void send(SimTime at, StationId from, Bytes octets, double power_dbm = default_power) override;
  void advance(SimTime until, const Deliver& deliver) override;
  void set_witness(Witness witness) override { witness_ = std::move(witness); }
  [[nodiscard]] SimTime next_event() const override;
  [[nodiscard]] SimSpan lookahead() const override;
  [[nodiscard]] SimSpan busy_time(StationId station) const override;
  [[nodiscard]] const MediumCounts& counts() const override { return counts_; }
  [[nodiscard]] std::uint64_t digest() const override { return digest_.value(); }

  /// How far a frame can matter.
  [[nodiscard]] double reach_m() const { return reach_m_; }

 private:
  static constexpr std::uint32_t none = 0xffffffff;

  struct Message {
    SimTime sent;
    Bytes octets;
    double power_mw = 0;
  };
  /// What a station's receiver hears; visited by every frame in reach, so kept small.
  struct Receiver {
    double total_mw = 0;   // of all frames on the air here
    double locked_mw = 0;  // of the one being received
    double log_success = 0;
    double noise_mw = 0;          // that somebody makes, beside what is always there
    std::int64_t changed_ns = 0;  // when the interference last changed
    std::int64_t locked_ns = 0;   // when it locked on
    std::uint32_t locked = none;  // slot in frames_
    std::uint32_t signals = 0;
    bool transmitting = false;
    bool busy = false;
    bool there = true;
  };
  /// What a station does to get the channel.
  struct Access {
    explicit Access(RandomStream stream) : draws(stream) {}
    std::deque<Message> queue;
    std::uint32_t backoff = 0;  // slots left to wait as of idle_since
    SimTime idle_since;
    SimTime busy_since;
    SimSpan busy_total;
    RandomStream draws;
  };
  /// Valid until the ends have gone some way together: farther for far ones, where a metre changes less.
  struct Link {
    StationId to = 0;
    double gain = 0;
    double valid_to_m = 0;  // sum of both ends' odometers
  };
  /// The stations in reach of one, as of some moment.
  struct LinkList {
    std::vector<Link> links;
    SimTime built;
    bool stale = true;
  };
  struct Heard {
    StationId to = 0;
    double power_mw = 0;
  };
  struct FrameOnAir {
    StationId from = 0;
    SimTime start;
    SimTime end;
    Message message;
    std::uint64_t key = 0;  // of its draws
    std::vector<Heard> heard;
  };
  struct Ending {
    SimTime at;
    StationId from;
    std::uint32_t slot;
    friend bool operator>(const Ending& a, const Ending& b) { return std::tie(a.at, a.from) > std::tie(b.at, b.from); }
  };
  struct Arrival {  // of a message from its sender's program
    SimTime at;
    StationId from;
    std::uint64_t order;
    Message message;
  };
  struct ArrivalLater {
    bool operator()(const Arrival& a, const Arrival& b) const {
      return std::tie(a.at, a.from, a.order) > std::tie(b.at, b.from, b.order);
    }
  };
  struct Landing {  // of a received frame, after its flight
    SimTime at;
    StationId to;
    StationId from;
    SimTime sent;
    double power_mw;
    std::shared_ptr<const SharedMessage> message;
  };
  struct LandingLater {
    bool operator()(const Landing& a, const Landing& b) const {
      return std::tie(a.at, a.to, a.from) > std::tie(b.at, b.to, b.from);
    }
  };

  // access: who may talk (dsrc_access.cpp)
  void message_arrives(Arrival arrival);
  void countdown_expires(StationId station, SimTime now);
  void channel_turned(StationId station, bool busy, SimTime now);
  void turned_busy(StationId station, SimTime now);
  void turned_idle(StationId station, SimTime now);
  void count_down(Access& access, SimTime now) const;
  void draw_backoff(Access& access) {
    access.backoff = static_cast<std::uint32_t>(access.draws.below(options_.contention_window + 1));
  }
  bool drop_expired(StationId station, SimTime now);
  void expire_oldest(StationId station, SimTime now);

  // air: who hears what (dsrc_medium.cpp)
  void start_frame(StationId from, Message message, SimTime now);
  void end_frame(std::uint32_t slot, SimTime now);
  void hear(std::uint32_t slot, const Heard& heard, SimTime now);
  void unhear(std::uint32_t slot, const Heard& heard, SimTime now);
  void lock_or_not(Receiver& receiver, std::uint32_t slot, double power_mw, SimTime now) const;
  void settle(Receiver& receiver, SimTime now) const;
  void refresh_busy(StationId station, SimTime now);
  bool finish_reception(FrameOnAir& frame, const Heard& heard, SimTime now,
                        std::shared_ptr<const SharedMessage>& shared);
  [[nodiscard]] SimSpan flight(StationId from, StationId to) const;
  void begin_account();
  void tell_witness(const FrameOnAir& frame, std::span<const std::uint8_t> octets) const;
  void land_before(SimTime bound, const Deliver& deliver);

  // links: how loud (dsrc_links.cpp)
  LinkList& links_of(StationId from, SimTime now);
  void build_links(StationId from, LinkList& list, SimTime now);
  void disturb(const Vec3& at);
  void evaluate(StationId from, Link& link) const;
  [[nodiscard]] double gain(StationId a, StationId b, double distance_m) const;

  MediumOptions options_;
  double noise_mw_;
  double negligible_mw_;
  double preamble_mw_;
  double preamble_ratio_;
  double energy_mw_;
  double reach_m_;
  PacketError error_;
  Fading fading_;
  std::uint64_t link_seed_;

  std::vector<Vec3> places_;
  std::vector<double> odometers_m_;
  std::vector<Receiver> receivers_;
  std::vector<Access> access_;
  std::vector<LinkList> links_;
  Neighbours neighbours_;
  std::vector<std::uint32_t> candidates_;

  ExpiryTree countdowns_;
  std::vector<FrameOnAir> frames_;
  std::vector<std::uint32_t> free_frames_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::priority_queue<Arrival, std::vector<Arrival>, ArrivalLater> arrivals_;
  std::priority_queue<Landing, std::vector<Landing>, LandingLater> landings_;
  SimTime now_;
  MediumCounts counts_;
  DeliveryDigest digest_;
  Witness witness_;
  std::vector<Reception> account_;  // by station, of the frame that ends
};

}  // namespace isochron::v2x
