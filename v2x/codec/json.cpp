#include <algorithm>
#include <cmath>

#include "core/foreign_text.hpp"
#include "v2x/codec/json_reader.hpp"
#include "v2x/codec/json_writer.hpp"
#include "v2x/codec/kinds.hpp"

namespace isochron::v2x {
namespace {

constexpr const char* part_names[] = {"VehicleSafetyExtensions", "SpecialVehicleExtensions",
                                      "SupplementalVehicleExtensions"};

Bytes four_octets(std::uint32_t v) {
  return {static_cast<std::uint8_t>(v >> 24), static_cast<std::uint8_t>(v >> 16), static_cast<std::uint8_t>(v >> 8),
          static_cast<std::uint8_t>(v)};
}

}  // namespace

bool JsonWriter::value(Id32, std::uint32_t v) { return here_ = to_hex(four_octets(v)), true; }

JsonWriter::Json JsonWriter::additions_json(const Additions& additions) {
  Json list = Json::array();
  for (const auto& addition : additions) list.push_back(addition ? Json(to_hex(*addition)) : Json(nullptr));
  return list;
}

bool JsonWriter::value(Part, const PartII& v) {
  Json object = Json::object();
  if (const auto* opaque = std::get_if<OpaquePart>(&v)) {
    object["partII-Id"] = opaque->id;
    object["partII-Value"] = to_hex(opaque->value);
    if (!opaque->reason.empty()) object["reason"] = opaque->reason;
  } else {
    object["partII-Id"] = v.index();
    std::visit(
        [&](const auto& part) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(part)>, OpaquePart>) describe(*this, part);
        },
        v);
    object[part_names[v.index()]] = std::move(here_);
  }
  here_ = std::move(object);
  return true;
}

bool JsonReader::integer(std::int64_t& v) {
  if (!here_->is_number_integer()) return fail("must be a whole number");
  if (here_->is_number_unsigned() && here_->get<std::uint64_t>() > std::uint64_t{1} << 62) return fail("is too large");
  return v = here_->get<std::int64_t>(), true;
}

bool JsonReader::value(const Scale& s, Known& v) {
  v.reset();
  if (si_ && here_->is_null()) return true;
  if (!si_ && here_->is_number_integer() && *here_ == s.unavailable) return true;
  return value(s, v.emplace());
}

bool JsonReader::value(const Scale& s, double& v) {
  std::int64_t number = 0;
  if (!si_) {
    if (!value(Integer{s.low, s.high}, number)) return false;
    return v = quantity(s, number), true;
  }
  if (!here_->is_number())
    return fail(s.unavailable == Scale::no_code ? "must be a number" : "must be a number or null");
  v = here_->get<double>();
  return quantise(s, v, number) || fail(range_text(s, v));
}

bool JsonReader::enumerated(const EnumNames& names, unsigned& index) {
  if (here_->is_string()) {
    const auto& text = here_->get_ref<const std::string&>();
    for (index = 0; index < names.count; ++index) {
      if (text == names.names[index]) return true;
    }
    return fail("unknown value `" + text + "`");
  }
  return value(Integer{0, names.extensible ? 255 : names.count - 1}, index);
}

bool JsonReader::value(FlagBits s, Flags& v) {
  if (!here_->is_string()) return fail("must be a text of 0 and 1");
  const auto& text = here_->get_ref<const std::string&>();
  if (text.size() > 64 || (text.size() != s.size && !s.extensible)) {
    return fail("has " + std::to_string(text.size()) + " flags, must have " + std::to_string(s.size));
  }
  v = Flags(static_cast<unsigned>(text.size()));
  for (unsigned i = 0; i < text.size(); ++i) {
    if (text[i] != '0' && text[i] != '1') return fail("must be a text of 0 and 1");
    if (text[i] == '1') v.set(i);
  }
  return true;
}

bool JsonReader::value(Text, std::string& v) {
  if (!here_->is_string()) return fail("must be a text");
  return v = here_->get<std::string>(), true;
}

bool JsonReader::hex(Bytes& v) {
  if (!here_->is_string()) return fail("must be a text of hexadecimal digits");
  auto octets = from_hex(here_->get_ref<const std::string&>());
  if (!octets) return fail(octets.error().what);
  return v = std::move(*octets), true;
}

bool JsonReader::value(Id32, std::uint32_t& v) {
  Bytes octets;
  if (!hex(octets)) return false;
  if (octets.size() != 4) return fail("must be four octets");
  v = std::uint32_t{octets[0]} << 24 | std::uint32_t{octets[1]} << 16 | std::uint32_t{octets[2]} << 8 | octets[3];
  return true;
}

bool JsonReader::extension_index(const std::string& name, unsigned& index) {
  constexpr std::string_view prefix = "extension-";
  if (name.rfind(prefix, 0) != 0 || name.size() == prefix.size() || name.size() > prefix.size() + 3) return false;
  index = 0;
  for (const char c : name.substr(prefix.size())) {
    if (c < '0' || c > '9') return false;
    index = index * 10 + static_cast<unsigned>(c - '0');
  }
  return index <= 255;
}

bool JsonReader::read_additions(const Json& list, Additions& additions) {
  if (!list.is_array()) return fail("must be a list");
  additions.resize(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    here_ = &list[i];
    if (!list[i].is_null() && !hex(additions[i].emplace())) return path_.in(i);
  }
  return true;
}

bool JsonReader::value(Part, PartII& v) {
  const Json& object = *here_;
  if (!object.is_object()) return fail("must be an object");
  for (unsigned i = 0; i < 3; ++i) {
    const auto at = object.find(part_names[i]);
    if (at == object.end()) continue;
    here_ = &at.value();
    if (i == 0) v.emplace<VehicleSafetyExtensions>();
    if (i == 1) v.emplace<SpecialVehicleExtensions>();
    if (i == 2) v.emplace<SupplementalVehicleExtensions>();
    return std::visit(
        [&](auto& part) {
          if constexpr (std::is_same_v<std::decay_t<decltype(part)>, OpaquePart>) {
            return true;
          } else {
            return describe(*this, part) || path_.in(part_names[i]);
          }
        },
        v);
  }
  OpaquePart opaque;
  const auto id = object.find("partII-Id");
  const auto octets = object.find("partII-Value");
  if (id == object.end() || octets == object.end())
    return fail("needs partII-Id and partII-Value, or a known container");
  here_ = &id.value();
  if (!value(Integer{0, 63}, opaque.id)) return path_.in("partII-Id");
  here_ = &octets.value();
  if (!hex(opaque.value)) return path_.in("partII-Value");
  v = std::move(opaque);
  return true;
}

namespace {

std::string names_of_kinds() {
  std::string names;
  for (const Kind& kind : kinds) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

bool read_frame(const nlohmann::json& root, bool si, Frame& frame, CodecError& error) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto at = root.find(kinds[kind].name);
    if (at == root.end()) continue;
    JsonReader in(*at, si);
    const bool ok =
        with_kind(kind, frame, [&](auto& message) { return in.value(Struct{}, message) || in.in(kinds[kind].name); });
    return ok || (error = in.error(), false);
  }
  auto& other = frame.message.emplace<OtherMessage>();
  const auto id = root.find("messageId");
  const auto octets = root.find("value");
  if (id == root.end() || octets == root.end()) {
    return error.what = "needs a message (" + names_of_kinds() + "), or messageId and value", false;
  }
  JsonReader number(*id, si);
  if (!number.value(Integer{0, 32767}, other.id)) return number.in("messageId"), error = number.error(), false;
  JsonReader text(*octets, si);
  return text.value(Open{}, other.value) || (text.in("value"), error = text.error(), false);
}

bool known_key(const std::string& key) {
  return key == "messageId" || key == "units" || key == "value" || key == "type" || key == "extensions" ||
         std::ranges::any_of(kinds, [&](const Kind& kind) { return key == kind.name; });
}

bool read_root(const nlohmann::json& root, Frame& frame, CodecError& error) {
  if (!root.is_object()) return error.what = "must be an object", false;
  for (const auto& [key, unused] : root.items()) {
    if (!known_key(key)) return error = {key, "unknown key", 0}, false;
  }
  const auto units = root.find("units");
  const bool si = units == root.end() || *units == "si";
  if (!si && *units != "j2735") return error = {"units", "must be \"si\" or \"j2735\"", 0}, false;
  if (!read_frame(root, si, frame, error)) return false;
  const auto id = root.find("messageId");
  if (id != root.end() && *id != message_id(frame)) {
    return error = {"messageId", "is not that of the message", 0}, false;
  }
  const auto additions = root.find("extensions");
  if (additions == root.end()) return true;
  JsonReader in(*additions, si);
  return in.read_additions(*additions, frame.additions) || (in.in("extensions"), error = in.error(), false);
}

}  // namespace

std::string to_json(const Frame& frame, JsonForm form, int indent) {
  const bool si = form == JsonForm::si;
  JsonWriter out(si);
  JsonWriter::Json root;
  root["messageId"] = message_id(frame);
  root["units"] = si ? "si" : "j2735";
  if (const auto* other = std::get_if<OtherMessage>(&frame.message)) {
    if (const auto type = message_name_of(other->id); !type.empty()) root["type"] = type;
    root["value"] = to_hex(other->value);
  } else {
    std::visit(
        [&](const auto& message) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(message)>, OtherMessage>) describe(out, message);
        },
        frame.message);
    root[kinds[frame.message.index()].name] = out.take();
  }
  if (!frame.additions.empty()) root["extensions"] = JsonWriter::additions_json(frame.additions);
  return json_text(root, indent);
}

Result<Frame, CodecError> from_json(std::string_view text) {
  nlohmann::json root;
  try {
    root = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    return fail(CodecError{"", std::string("not JSON: ") + e.what(), e.byte * 8});
  } catch (const nlohmann::json::out_of_range& e) {
    return fail(CodecError{"", std::string("a number too large: ") + e.what(), 0});
  }
  Frame frame;
  CodecError error;
  if (!read_root(root, frame, error)) return fail(std::move(error));
  return frame;
}

}  // namespace isochron::v2x
