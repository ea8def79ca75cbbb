#pragma once
// The air between antennas: what one station broadcasts, others hear a little later, or not. A medium is a participant
// that only reacts: it has no thread and no clock, its time is what its caller says.
//
//     medium.send(t, station, octets);              // t not before what was advanced to
//     medium.advance(t2, [](const Delivery& d) {…});   // everything that arrives up to t2, in time order
//
// Promises: a delivery is never earlier than send + lookahead(), and deliveries come in order of (time, receiver,
//           sender). The same calls give the same deliveries, whatever the steps of advance().
// Requires: times never go back. From within the callback only send() at or after the delivery's time is legal.
// Threads:  owner thread.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/time.hpp"
#include "v2x/codec/bits.hpp"
#include "v2x/radio/geometry.hpp"

namespace isochron::v2x {

using StationId = std::uint32_t;

struct Delivery {
  SimTime sent;
  SimTime received;
  StationId from = 0;
  StationId to = 0;
  std::span<const std::uint8_t> octets;  // valid during the callback
  double power_mw = 0;                   // that arrived
  [[nodiscard]] double power_dbm() const;
};
using Deliver = std::function<void(const Delivery&)>;

/// What became of a message at one of the stations that were there.
enum class Fate : std::uint8_t {
  delivered,
  lost,     // by the fixed medium's luck
  weak,     // too far, or too much in between
  busy,     // the receiver was talking, or following another frame
  garbled,  // interference or noise ate it
  expired,  // it waited too long for the channel: nobody heard it
  dropped   // by an attacker: nobody heard it
};
struct Reception {
  StationId to = 0;
  Fate fate = Fate::delivered;
  SimTime received;  // delivered only
  double power_mw = 0;
};
/// One message's whole story, told when it is known.
struct Transmission {
  SimTime sent;
  SimTime started;  // on the air
  SimTime ended;
  StationId from = 0;
  std::span<const std::uint8_t> octets;   // these two are valid during the call
  std::span<const Reception> receptions;  // of every other station there, by id; expired, dropped: the sender alone
};
using Witness = std::function<void(const Transmission&)>;

struct MediumCounts {
  std::uint64_t sent = 0;         // handed to send()
  std::uint64_t transmitted = 0;  // began on the air
  std::uint64_t expired = 0;      // waited too long for the channel, or the queue was full
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;    // a receiver had begun to receive it, or would have without loss, and failed
  std::uint64_t events = 0;  // starts and ends at each receiver
};

class Medium {
 public:
  virtual ~Medium() = default;

  /// A new station; ids count up from 0.
  virtual StationId add_station(const Vec3& at) = 0;
  virtual void set_position(StationId station, const Vec3& at) = 0;
  /// From now on so much noise reaches its antenna beside what is always there; 0 = none. By the media without a
  /// channel nothing is heard where there is any.
  virtual void set_noise(StationId station, double noise_mw) = 0;
  /// From now on it neither sends nor hears; its id is not used again.
  virtual void remove_station(StationId station) = 0;

  static constexpr double default_power = std::numeric_limits<double>::quiet_NaN();
  virtual void send(SimTime at, StationId from, Bytes octets, double power_dbm = default_power) = 0;
  virtual void advance(SimTime until, const Deliver& deliver) = 0;

  /// Is told what became of each message from now on; costs a look at every station for each message.
  virtual void set_witness(Witness witness) = 0;

  /// When something will happen next if nobody sends; never() if nothing will.
  [[nodiscard]] virtual SimTime next_event() const = 0;
  /// Least time between send() and delivery.
  [[nodiscard]] virtual SimSpan lookahead() const = 0;
  /// How long the channel has been busy at a station, up to what was advanced to. 0 where nothing contends.
  [[nodiscard]] virtual SimSpan busy_time(StationId station) const = 0;
  [[nodiscard]] virtual const MediumCounts& counts() const = 0;
  /// Of every delivery so far, in order.
  [[nodiscard]] virtual std::uint64_t digest() const = 0;
};

struct MediumOptions;
/// By one word: "ideal" | "fixed" | "802.11p". Throws InputError for another.
std::unique_ptr<Medium> make_medium(std::string_view kind, const MediumOptions& options);

}  // namespace isochron::v2x
