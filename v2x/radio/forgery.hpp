#pragma once
// Messages that have a valid form and tell untruths: a false place, speed or heading, vehicles that are nowhere, signals
// that show something else. What AttackedMedium's attacks put on the air.
//
// Promises: what cannot be forged in this way (another kind of message, no message at all) is left as it is.
// Threads:  any; no state.

#include <functional>
#include <optional>
#include <string_view>

#include "core/time.hpp"
#include "v2x/codec/codec.hpp"
#include "v2x/radio/geometry.hpp"
#include "v2x/station/geo_frame.hpp"

namespace isochron::v2x {

/// Reads the message in octets, bare or in an envelope, lets `forge` change it, and puts it back where it was; a
/// signature around it is then wrong. False: `forge` left it alone, or it cannot be read or written.
bool forge_message(Bytes& octets, const std::function<bool(Frame& frame)>& forge);

/// What a BSM or PSM is made to say; what is not given stays true.
struct FalseMotion {
  double east_m = 0, north_m = 0;     // away from where it is
  std::optional<double> speed_m_s;    // instead
  std::optional<double> heading_rad;  // instead, from north, clockwise
};
bool falsify(Frame& frame, const FalseMotion& motion, const GeoFrame& geo);

/// A BSM in the name of somebody else, `aside_m` to the right of its sender and `behind_m` behind. Nothing: it is none.
std::optional<Frame> as_another(const Frame& frame, std::uint32_t id, double aside_m, double behind_m,
                                const GeoFrame& geo);

/// A vehicle that is nowhere, driving straight on.
struct Ghost {
  std::uint32_t id = 0;
  Vec3 start{};
  double heading_rad = 0;  // from north, clockwise
  double speed_m_s = 0;
};
Bytes ghost_bsm(const Ghost& ghost, SimTime since, SimTime at, const GeoFrame& geo);

/// Makes every movement of a SPaT show this, as if for the next 20 s.
bool fake_signals(Frame& frame, SignalState state, SimTime at);

}  // namespace isochron::v2x
