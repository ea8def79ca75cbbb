#include <charconv>

#include "v2x/codec/kinds.hpp"
#include "v2x/codec/xer_reader.hpp"

namespace isochron::v2x {
namespace {

constexpr int deepest = 64;  // elements in each other

/// Names of messages as elements, in the order of Frame::message.
constexpr std::array elements{"BasicSafetyMessage",
                              "MapData",
                              "SPAT",
                              "PersonalSafetyMessage",
                              "TravelerInformation",
                              "SignalRequestMessage",
                              "SignalStatusMessage",
                              "RoadSideAlert",
                              "EmergencyVehicleAlert",
                              "RTCMcorrections"};
static_assert(elements.size() == kinds.size());

/// The first element that is a message, wherever it stands.
pugi::xml_node find_message(pugi::xml_node from, std::size_t& kind, int depth = 0) {
  for (const pugi::xml_node child : from.children()) {
    if (child.type() != pugi::node_element || depth > deepest) continue;
    const auto at = std::ranges::find(elements, std::string_view(child.name()));
    if (at != elements.end()) return kind = static_cast<std::size_t>(at - elements.begin()), child;
    if (const pugi::xml_node found = find_message(child, kind, depth + 1)) return found;
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

bool XerReader::integer(std::int64_t& v) {
  const std::string_view text = trimmed(here_.child_value());
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (code != std::errc{} || end != text.data() + text.size()) return fail("must be a whole number");
  return true;
}

bool XerReader::enumerated(const EnumNames& names, unsigned& index) {
  const pugi::xml_node inside = first_of(here_);
  const std::string_view text = trimmed(here_.child_value());
  const std::string_view name = inside ? inside.name() : !text.empty() || !item_ ? text : here_.name();
  for (index = 0; index < names.count; ++index) {
    if (name == names.names[index]) return true;
  }
  return fail("unknown value `" + std::string(name) + "`");
}

bool XerReader::value(FlagBits s, Flags& v) {
  const std::string_view text = trimmed(here_.child_value());
  if (text.size() > 64 || (text.size() != s.size && !(s.extensible && text.size() > s.size))) {
    return fail("has " + std::to_string(text.size()) + " flags, must have " + std::to_string(s.size));
  }
  v = Flags(static_cast<unsigned>(text.size()));
  for (unsigned i = 0; i < text.size(); ++i) {
    if (text[i] != '0' && text[i] != '1') return fail("must be a text of 0 and 1");
    if (text[i] == '1') v.set(i);
  }
  return true;
}

bool XerReader::value(Bool, bool& v) {
  const pugi::xml_node inside = first_of(here_);
  const std::string_view name = inside ? inside.name() : trimmed(here_.child_value());
  if (name != "true" && name != "false") return fail("must be true or false");
  return v = name == "true", true;
}

bool XerReader::hex(Bytes& v) {
  if (first_of(here_)) return fail("is not read: what it is made of is known to its region only");
  auto octets = from_hex(here_.child_value());
  if (!octets.ok()) return fail(octets.error().what);
  return v = std::move(*octets), true;
}

bool XerReader::value(Id32, std::uint32_t& v) {
  Bytes octets;
  if (!hex(octets)) return false;
  if (octets.size() != 4) return fail("must be four octets");
  v = std::uint32_t{octets[0]} << 24 | std::uint32_t{octets[1]} << 16 | std::uint32_t{octets[2]} << 8 | octets[3];
  return true;
}

Result<Frame, CodecError> from_xer(std::string_view text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    return fail(
        CodecError{"", std::string("not XML: ") + parsed.description(), 8 * static_cast<std::size_t>(parsed.offset)});
  }
  std::size_t kind = 0;
  const pugi::xml_node message = find_message(document, kind);
  if (!message) return fail(CodecError{"", "has no element that is a message, as MapData or SPAT", 0});
  Frame frame;
  XerReader in(message);
  const bool read =
      with_kind(kind, frame, [&](auto& made) { return in.value(Struct{}, made) || in.in(kinds[kind].name); });
  if (!read) return fail(in.error());
  return frame;
}

Result<Frame, CodecError> from_any_text(std::string_view text) {
  const std::string_view begun = trimmed(text);
  if (begun.starts_with('{')) return from_json(text);
  if (begun.starts_with('<')) return from_xer(text);
  const auto octets = from_hex(begun);
  if (!octets.ok())
    return fail(CodecError{"", "is neither JSON nor XML, and not hexadecimal: " + octets.error().what, 0});
  return decode(*octets);
}

}  // namespace isochron::v2x
