#include "v2x/codec/codec.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/build_parts.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "v2x/security/trust.hpp"

namespace isochron::app {
namespace {

template <class T>
T demand(Result<T, v2x::CodecError> result, const std::string& origin) {
  if (!result.ok()) throw InputError({origin, 0, 0}, v2x::to_string(result.error()));
  return std::move(result).value();
}

std::string read_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError({file, 0, 0}, "cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

using Json = nlohmann::ordered_json;

/// What is read of a safety message whose end cannot be read: where its sender is.
std::optional<Json> core_of(const v2x::OtherMessage& message, v2x::JsonForm form) {
  constexpr std::size_t core_octets = 37;
  if (message.id != v2x::id_bsm || message.value.size() < core_octets) return std::nullopt;
  v2x::OtherMessage alone{message.id, {message.value.begin(), message.value.begin() + core_octets}};
  alone.value[0] &= 0x1f;  // nothing follows
  const auto frame = v2x::decode(demand(v2x::encode({alone, {}}), "HEX"));
  if (!frame.ok()) return std::nullopt;
  return Json::parse(v2x::to_json(*frame, form)).at("BSM");
}

/// A message as JSON. What cannot be read of it is said, and shown as octets. False: something was not.
bool describe_message(v2x::OctetView octets, v2x::JsonForm form, Json& json) {
  const auto frame = v2x::decode(octets);
  if (frame.ok()) return json = Json::parse(v2x::to_json(*frame, form)), true;
  const auto closed = v2x::decode_closed(octets);
  if (!closed.ok()) demand(frame, "HEX");
  const auto& message = std::get<v2x::OtherMessage>(closed->message);
  json = Json::parse(v2x::to_json(*closed, form));
  if (auto core = core_of(message, form)) json["BSM"] = std::move(*core);
  json["unreadable"] = v2x::to_string(frame.error());
  return false;
}

/// Certificates in hexadecimal, one a line; lines that begin with # are remarks.
v2x::Trust trust_of(const std::vector<std::string>& files) {
  v2x::Trust trust;
  if (!files.empty()) need_part("OpenSSL", {"--trust", 0, 0}, "leave --trust out");
  for (const std::string& file : files) {
    std::istringstream lines(read_file(file));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      const Place place{file, ++number, 0};
      if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
      const auto octets = v2x::from_hex(line);
      if (!octets.ok()) throw InputError(place, octets.error().what, "write each certificate in hexadecimal on a line");
      const auto certificate = v2x::decode_certificate(*octets);
      if (!certificate.ok()) throw InputError(place, v2x::to_string(certificate.error()));
      trust.vouch_for(*certificate);
    }
    if (trust.empty()) throw InputError({file, 0, 0}, "has no certificate", "write each in hexadecimal on a line");
  }
  return trust;
}

int decode(const std::string& hex, bool raw, const std::vector<std::string>& trusted) {
  const v2x::JsonForm form = raw ? v2x::JsonForm::j2735 : v2x::JsonForm::si;
  const v2x::Bytes octets = demand(v2x::from_hex(hex), "HEX");
  v2x::Trust trust = trust_of(trusted);
  Json json;
  bool read = true;
  if (!v2x::is_envelope(octets)) {
    read = describe_message(octets, form, json);
    if (!trust.empty()) json["doubts"] = "is in no envelope, and so not signed";
  } else {
    const v2x::Envelope envelope = demand(v2x::open_envelope(octets), "HEX");
    json["envelope"] = Json::parse(v2x::to_json(envelope));
    if (!trust.empty()) {
      const std::string why = trust.doubts(envelope);
      json["envelope"]["verified"] = why.empty();
      if (!why.empty()) json["envelope"]["doubts"] = why;
    } else if (envelope.signed_part) {
      json["envelope"]["verified"] = nullptr;  // nobody asked for it
    }
    const bool closed = envelope.content != v2x::Envelope::Content::unsecured && !envelope.signed_part;
    if (!closed && !envelope.message.empty()) {
      Json inside;
      read = describe_message(envelope.message, form, inside);
      json.update(inside);
    }
  }
  print(json_text(json, 2) + "\n");
  return read ? exit_fine : exit_no;
}

int encode(const std::string& file) {
  const v2x::Frame frame = demand(v2x::from_json(read_file(file)), file);
  print(v2x::to_hex(demand(v2x::encode(frame), file)) + "\n");
  return exit_fine;
}

}  // namespace

void add_v2x(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "v2x", "SAE J2735 messages (BSM, MAP, SPaT, PSM, TIM, SRM, SSM, RSA, EVA, RTCM) to JSON and back");
  verb->require_subcommand(1);
  auto text = std::make_shared<std::string>();
  auto raw = std::make_shared<bool>(false);
  auto trusted = std::make_shared<std::vector<std::string>>();
  CLI::App* in = verb->add_subcommand(
      "decode", "a UPER MessageFrame, alone or in an envelope of IEEE 1609.2, to JSON in SI units");
  in->add_option("HEX", *text, "the message in hexadecimal")->required();
  in->add_flag("--j2735", *raw, "the standard's own units instead");
  in->add_option("--trust", *trusted, "files of certificates in hexadecimal: verifies the envelope against them");
  in->callback([&action, text, raw, trusted] { action = [=] { return decode(*text, *raw, *trusted); }; });
  CLI::App* out = verb->add_subcommand("encode", "JSON to hexadecimal; values out of range are refused by name");
  out->add_option("FILE", *text, "JSON file as decode prints it")->required();
  out->callback([&action, text] { action = [=] { return encode(*text); }; });
}

}  // namespace isochron::app
