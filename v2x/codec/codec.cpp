#include "v2x/codec/codec.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "v2x/codec/kinds.hpp"
#include "v2x/codec/uper_reader.hpp"
#include "v2x/codec/uper_writer.hpp"

namespace isochron::v2x {

namespace {

/// A unit as people write it: the key's "m_s2" is m/s².
std::string written(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> others{{{"m_s", " m/s"},
                                                                                 {"m_s2", " m/s²"},
                                                                                 {"rad_s", " rad/s"},
                                                                                 {"kg_m2_s", " kg·m²/s"},
                                                                                 {"percent", " %"},
                                                                                 {"ratio", ""}}};
  for (const auto& [key, text] : others) {
    if (key == unit) return std::string(text);
  }
  return " " + std::string(unit);
}

}  // namespace

std::string range_text(const Scale& s, double value) {
  const std::int64_t low = s.low == s.unavailable ? s.low + 1 : s.low;
  const std::int64_t high = s.high == s.unavailable ? s.high - 1 : s.high;
  char text[160];
  std::snprintf(text, sizeof text, "%.10g%s is outside %.10g..%.10g", value, written(s.unit).c_str(), quantity(s, low),
                quantity(s, high));
  return text;
}

std::string range_text(std::int64_t value, std::int64_t low, std::int64_t high) {
  return std::to_string(value) + " is outside " + std::to_string(low) + ".." + std::to_string(high);
}

std::string to_string(const CodecError& error) {
  return error.field.empty() ? error.what : error.field + ": " + error.what;
}

int message_id(const Frame& frame) {
  const std::size_t kind = frame.message.index();
  return kind < kinds.size() ? kinds[kind].id : std::get<OtherMessage>(frame.message).id;
}

std::string_view message_name_of(int id) {
  // Of the editions of 2016, 2020 and 2023.
  constexpr std::array<Kind, 17> others{{{21, "CSR"},
                                         {23, "ICA"},
                                         {24, "NMEA"},
                                         {25, "PDM"},
                                         {26, "PVD"},
                                         {33, "RSM"},
                                         {34, "RWM"},
                                         {35, "PDC"},
                                         {36, "PDR"},
                                         {37, "TAM"},
                                         {38, "TUM"},
                                         {39, "TUMack"},
                                         {40, "CCM"},
                                         {41, "SDSM"},
                                         {42, "MSCM"},
                                         {43, "RGA"},
                                         {44, "PSM2"}}};
  for (const Kind& kind : kinds) {
    if (kind.id == id) return kind.name;
  }
  for (const Kind& kind : others) {
    if (kind.id == id) return kind.name;
  }
  return id >= 240 && id <= 255 ? "test message" : "";
}

Node Node::offset(double x_m, double y_m) {
  Node node;
  node.x_m = x_m;
  node.y_m = y_m;
  const double most_cm = std::max(x_m < 0 ? -x_m * 100 - 1 : x_m * 100, y_m < 0 ? -y_m * 100 - 1 : y_m * 100);
  constexpr unsigned bits[] = {10, 11, 12, 13, 14, 16};
  for (unsigned form = 0; form < 6; ++form) {
    node.form = static_cast<NodeForm>(form);
    if (std::round(most_cm) < static_cast<double>(1 << (bits[form] - 1))) break;
  }
  return node;
}

namespace {

bool read_other(UperReader& in, std::uint64_t id, Frame& frame) {
  auto& other = frame.message.emplace<OtherMessage>();
  other.id = static_cast<int>(id);
  return in.value(Open{}, other.value) || in.in("value");
}

bool read_message(UperReader& in, std::uint64_t id, Frame& frame) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (static_cast<std::uint64_t>(kinds[kind].id) != id) continue;
    return with_kind(kind, frame, [&](auto& message) { return in.open(message) || in.in(kinds[kind].name); });
  }
  return read_other(in, id, frame);
}

bool write_message(UperWriter& out, const Frame& frame) {
  return std::visit(
      [&](const auto& message) {
        if constexpr (std::is_same_v<std::decay_t<decltype(message)>, OtherMessage>) {
          for (const auto octet : message.value) out.bits(8, octet);
          return true;
        } else {
          return describe(out, message) || out.in(kinds[frame.message.index()].name);
        }
      },
      frame.message);
}

constexpr std::size_t head_octets = 4;  // extension bit and id, then a length of one or two octets

/// Fills in the head before a message that was written behind room for it. False if the message is too long.
bool put_head(Bytes& octets, unsigned id) {
  const std::size_t length = octets.size() - head_octets;
  if (length >= 16384) return false;
  octets[0] = static_cast<std::uint8_t>(id >> 8);
  octets[1] = static_cast<std::uint8_t>(id);
  octets[2] = static_cast<std::uint8_t>(0x80 | length >> 8);
  octets[3] = static_cast<std::uint8_t>(length);
  if (length < 128) octets.erase(octets.begin() + 2);
  return true;
}

}  // namespace

namespace {

/// `read` the message of a frame, of which its number is known.
template <class Read>
Result<Frame, CodecError> read_frame(std::span<const std::uint8_t> octets, Read&& read) {
  std::array<std::uint8_t, 2048> small;
  Bytes large;
  const std::size_t size = octets.size() + BitReader::padding;
  if (size > small.size()) large.resize(size);
  std::uint8_t* const padded = size > small.size() ? large.data() : small.data();
  if (!octets.empty()) std::memcpy(padded, octets.data(), octets.size());
  std::memset(padded + octets.size(), 0, BitReader::padding);

  Result<Frame, CodecError> result{Frame{}};  // the one object returned, so that a frame is never moved
  UperReader in({padded, size});
  Frame& frame = *result;
  std::uint64_t head = 0;
  const bool ok = (in.bits(16, head) || in.in("messageId")) && read(in, head & 0x7fff, frame) &&
                  (head >> 15 == 0 || in.read_additions(frame.additions) || in.in("extensions"));
  if (!ok) result = fail(in.error());
  return result;
}

}  // namespace

Result<Frame, CodecError> decode(std::span<const std::uint8_t> octets) { return read_frame(octets, read_message); }

Result<Frame, CodecError> decode_closed(std::span<const std::uint8_t> octets) { return read_frame(octets, read_other); }

Result<Bytes, CodecError> encode(const Frame& frame) {
  const int id = message_id(frame);
  if (id < 0 || id > 32767) return fail(CodecError{"messageId", range_text(id, 0, 32767), 0});
  UperWriter out{Bytes(head_octets)};
  if (!write_message(out, frame)) return fail(out.error());
  Bytes octets = out.finish();
  const unsigned extended = frame.additions.empty() ? 0 : 0x8000;
  if (!put_head(octets, extended | static_cast<unsigned>(id))) {
    return fail(CodecError{"", "the message is longer than 16383 octets", 0});
  }
  if (extended == 0) return octets;
  UperWriter tail{std::move(octets)};
  if (!tail.write_additions(frame.additions)) return tail.in("extensions"), fail(tail.error());
  return tail.finish();
}

Result<Bytes, CodecError> from_hex(std::string_view text) {
  Bytes octets;
  int half = -1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return fail(CodecError{"", "character " + std::to_string(i + 1) + " is not a hexadecimal digit", 0});
    if (half >= 0) octets.push_back(static_cast<std::uint8_t>(half << 4 | digit));
    half = half >= 0 ? -1 : digit;
  }
  if (half >= 0) return fail(CodecError{"", "an odd number of hexadecimal digits", 0});
  return octets;
}

std::string to_hex(std::span<const std::uint8_t> octets) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string text;
  text.reserve(octets.size() * 2);
  for (const auto o : octets) {
    text += digits[o >> 4];
    text += digits[o & 15];
  }
  return text;
}

}  // namespace isochron::v2x
