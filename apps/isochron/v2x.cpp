#include "v2x/codec/codec.hpp"

#include <fstream>
#include <sstream>

#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"

namespace isochron::app {
namespace {

template <class T>
T demand(Result<T, v2x::CodecError> result, const std::string& origin) {
  if (!result.ok()) throw InputError({origin, 0, 0}, v2x::to_string(result.error()));
  return std::move(result).value();
}

int decode(const std::string& hex, bool raw) {
  const v2x::Bytes octets = demand(v2x::from_hex(hex), "HEX");
  const v2x::Frame frame = demand(v2x::decode(octets), "HEX");
  print(v2x::to_json(frame, raw ? v2x::JsonForm::j2735 : v2x::JsonForm::si) + "\n");
  return exit_fine;
}

int encode(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError({file, 0, 0}, "cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  const v2x::Frame frame = demand(v2x::from_json(text.str()), file);
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
  CLI::App* in = verb->add_subcommand("decode", "a UPER MessageFrame in hexadecimal to JSON in SI units");
  in->add_option("HEX", *text, "the message")->required();
  in->add_flag("--j2735", *raw, "the standard's own units instead");
  in->callback([&action, text, raw] { action = [=] { return decode(*text, *raw); }; });
  CLI::App* out = verb->add_subcommand("encode", "JSON to hexadecimal; values out of range are refused by name");
  out->add_option("FILE", *text, "JSON file as decode prints it")->required();
  out->callback([&action, text] { action = [=] { return encode(*text); }; });
}

}  // namespace isochron::app
