#pragma once
// An ordered, lossless stream of bytes in both directions between two members, over a carrier that may lose, double
// and delay packets and through partitions that heal. Pure: no socket, no clock, no thread.
//
// Each side draws a session number and knocks until the other's packets show that it has heard it: only then is the
// other adopted, so that a packet recorded from another run is never taken for a living peer. Packets are counted, and
// each is taken once, so that one recorded from this run is not either. Data is numbered and kept until acknowledged;
// what is not acknowledged in time is sent again, all from the oldest on.
//
// Over a lossless carrier (TCP) nothing of that is needed: nothing is kept, acknowledged or sent again. Where the
// carrier finds another way to the peer, what was under way may be gone; then both directions begin anew as further
// streams, both sides are told, and whoever uses the session says how far it had come (flow/peer.hpp).
//
// In runs where a process that is lost is started again, each has a life: the first 0, the one in its place 1, and so
// on. It is a part of the session number. The peer of a later life takes the place of the earlier one as soon as it is
// heard, both directions begin from nothing, and nothing of the earlier one is taken any more.
//
// Promises: take() gives every byte that the other side sent, once and in order; over a lossless carrier every byte of
//           each stream up to where that was broken off.
//           A second holder of the peer's name is refused while the first one is heard.
//           A packet that was recorded, in this run or another, changes nothing.
// Threads:  owner thread. Cost: a copy of what is not acknowledged yet; no allocation beyond that in steady state.

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "link/packet.hpp"

namespace isochron::link {

struct SessionTiming {
  WallSpan knock = std::chrono::milliseconds(100);      // a sign of life at least so often
  WallSpan ack_within = std::chrono::milliseconds(20);  // if there is nothing to send anyway
  WallSpan resend = std::chrono::milliseconds(300);
  WallSpan silent = std::chrono::milliseconds(700);  // from here on the peer counts as silent
  WallSpan lost = std::chrono::seconds(10);          // and from here on as gone
};

class Session {
 public:
  enum class State { knocking, joined, left, refused };
  using Transmit = std::function<void(const Packet&)>;

  enum class Carriage { may_lose, lossless };
  enum class Lives { one, several };

  /// `session` is a random number that is not 0. `address` has federation, from and to filled in.
  Session(const Packet& address, std::uint64_t session, const SessionTiming& timing, Transmit transmit,
          Carriage carriage = Carriage::may_lose, Lives lives = Lives::one);

  /// The number of a session of the given life: the others' bits are those of `random`.
  [[nodiscard]] static std::uint64_t number_of_life(std::uint64_t random, std::uint32_t life);
  /// The life of the peer that is awaited or there.
  [[nodiscard]] std::uint32_t life() const { return life_; }
  /// The peer before that life is lost: only one of that life, or of a later one, is taken.
  void expect_life(std::uint32_t life);

  /// Any number of bytes; sent now if the peer is there. Otherwise kept until then, or, over a lossless carrier, left
  /// to the next stream.
  void send(std::span<const std::byte> bytes, WallTime now);
  struct Taken {
    bool genuine = false;              // the living peer sent it, and it did not come before
    std::span<const std::byte> bytes;  // the stream's next ones; they lie in the packet
    std::uint32_t restarted = 0;       // not 0: they are the first of another stream, with this number
  };
  /// A packet of this federation between these two, sealed by somebody who holds the key.
  Taken take(const Packet& packet, WallTime now);
  void tick(WallTime now);
  /// Over a lossless carrier: what was sent may not have come. The number of the stream that begins now; 0 = none yet.
  std::uint32_t restart();
  /// Over a lossless carrier: something was to be sent before the peer was there.
  [[nodiscard]] bool holed() const { return holed_; }
  /// What this side does, told with each knock, so that the other can say why it waits.
  void set_news(std::string news) { own_news_ = std::move(news); }
  /// The last packet of a session that ends; call it again in case it was lost.
  void bye(const std::string& reason, WallTime now);
  /// The middleware lost sight of the peer: it counts as silent until it is heard again.
  void out_of_sight() { out_of_sight_ = true; }

  [[nodiscard]] State state() const { return state_; }
  /// Why it left or refused us.
  [[nodiscard]] const std::string& why() const { return why_; }
  /// Left with a bye.
  [[nodiscard]] bool left_cleanly() const { return cleanly_; }
  [[nodiscard]] bool silent(WallTime now) const;
  [[nodiscard]] WallTime heard_at() const { return heard_at_; }
  [[nodiscard]] const std::string& news() const { return news_; }
  /// Everything sent has been acknowledged.
  [[nodiscard]] bool drained() const { return kept_.empty(); }
  [[nodiscard]] std::uint64_t resent() const { return resent_; }

 private:
  struct Kept {
    std::uint64_t number;
    std::vector<std::byte> bytes;
  };
  void knock(WallTime now);
  void transmit(PacketKind kind, std::span<const std::byte> body, std::uint64_t heard, WallTime now);
  bool is_fresh(const Packet& packet);
  bool adopt(const Packet& packet, WallTime now);
  void meet_other_claimant(const Packet& packet, WallTime now);
  void join(const Packet& packet, WallTime now);
  void begin_life(std::uint32_t life);
  bool of_this_life(const Packet& packet, WallTime now);
  void take_refusal(const Packet& packet);
  void acknowledge(std::uint64_t up_to, WallTime now);
  Taken take_data(const Packet& packet, WallTime now);
  Taken take_streamed(const Packet& packet);
  void transmit_data(std::uint64_t number, std::span<const std::byte> bytes, WallTime now);
  void leave(std::string why, bool cleanly);

  Packet address_;
  std::uint64_t session_;
  SessionTiming timing_;
  Transmit transmit_;
  Carriage carriage_;
  Lives lives_;
  std::uint32_t life_ = 0;
  State state_ = State::knocking;
  std::uint64_t peer_ = 0;  // the peer's session, as last heard; adopted once joined
  ReplayWindow turns_;      // of the adopted peer's packets
  std::uint64_t turn_ = 0;  // of ours
  std::uint64_t next_number_ = 1;
  std::uint64_t expected_ = 1;
  std::uint32_t stream_ = 1, stream_heard_ = 0;  // ours, and the peer's; over a lossless carrier
  std::deque<Kept> kept_;
  std::vector<std::vector<std::byte>> spare_;
  WallTime oldest_sent_;  // when the first of kept_ was sent last
  WallTime sent_at_;      // anything
  WallTime heard_at_;     // anything
  WallTime owes_ack_at_ = WallTime::never();
  std::uint32_t owed_ = 0;
  std::uint64_t resent_ = 0;
  bool out_of_sight_ = false;
  bool holed_ = false;
  bool cleanly_ = false;
  std::string why_;
  std::string news_;
  std::string own_news_;
};

}  // namespace isochron::link
