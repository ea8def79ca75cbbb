#pragma once
// SAE J2735 messages as octets (UPER), as plain structs, and as JSON. One description of each structure
// (describe_*.hpp) serves all directions, so that what is written is what is read.
//
// Promises: decode(encode(f)) equals f up to the standard's resolution, and encode(decode(octets)) gives the same
//           octets for every canonical message, with unknown extensions, regional parts and unknown Part II containers
//           kept as they came. Octets behind the frame are ignored.
// Threads:  any; no state.
// Fails:    an error names the field (`BSM.coreData.speed`) and says what is wrong; nothing is thrown.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/result.hpp"
#include "v2x/codec/alerts.hpp"
#include "v2x/codec/bsm.hpp"
#include "v2x/codec/map.hpp"
#include "v2x/codec/priority.hpp"
#include "v2x/codec/psm.hpp"
#include "v2x/codec/spat.hpp"
#include "v2x/codec/tim.hpp"

namespace isochron::v2x {

/// The numbers of the messages that are known here.
enum MessageId : int {
  id_map = 18,
  id_spat = 19,
  id_bsm = 20,
  id_eva = 22,
  id_rsa = 27,
  id_rtcm = 28,
  id_srm = 29,
  id_ssm = 30,
  id_tim = 31,
  id_psm = 32
};
/// The standard's name of a message with this number, known here or not ("ICA", "PVD"); "" where it has none.
[[nodiscard]] std::string_view message_name_of(int id);

/// A message of another kind: its number and octets.
struct OtherMessage {
  int id = 0;  // 0..32767
  Bytes value;
  friend bool operator==(const OtherMessage&, const OtherMessage&) = default;
};

struct Frame {
  std::variant<Bsm, MapData, Spat, Psm, Tim, Srm, Ssm, RoadSideAlert, EmergencyVehicleAlert, RtcmCorrections,
               OtherMessage>
      message;
  Additions additions;
  friend bool operator==(const Frame&, const Frame&) = default;
};
[[nodiscard]] int message_id(const Frame& frame);

struct CodecError {
  std::string field;    // "SPAT.intersections[0].states[2].signalGroup"; empty = the whole
  std::string what;     // "256 is outside 0..255"
  std::size_t bit = 0;  // decode: how far reading came
};
std::string to_string(const CodecError& error);

[[nodiscard]] Result<Frame, CodecError> decode(std::span<const std::uint8_t> octets);
/// A frame of any number as an OtherMessage: for those whose octets decode() refuses.
[[nodiscard]] Result<Frame, CodecError> decode_closed(std::span<const std::uint8_t> octets);
[[nodiscard]] Result<Bytes, CodecError> encode(const Frame& frame);

/// A message of another kind is its number, `type` where the standard has a name for it, and its octets.
/// `si`: SI units, keys are J2735's names with the unit behind (`speed_m_s`), null = unavailable.
/// `j2735`: the standard's names and integers, as other tools print them.
enum class JsonForm { si, j2735 };
[[nodiscard]] std::string to_json(const Frame& frame, JsonForm form = JsonForm::si, int indent = 2);
/// Either form; unknown keys and wrong types are errors. The form is told by the key "units" ("si" if absent).
[[nodiscard]] Result<Frame, CodecError> from_json(std::string_view text);

/// The XML that other tools export (XER), a MessageFrame or a message alone, also within something else.
[[nodiscard]] Result<Frame, CodecError> from_xer(std::string_view text);
/// A file of a message: hexadecimal, JSON or XER, by what it begins with.
[[nodiscard]] Result<Frame, CodecError> from_any_text(std::string_view text);

/// "00 14 25…" in either case, blanks allowed.
[[nodiscard]] Result<Bytes, CodecError> from_hex(std::string_view text);
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> octets);

}  // namespace isochron::v2x
