// Whatever an autopilot sends is read, or refused with a sentence; what was read can be written and read again.

#include <cstdlib>

#include "bridge/autopilot/ardupilot.hpp"
#include "bridge/autopilot/betaflight.hpp"
#include "bridge/autopilot/mavlink.hpp"

using namespace isochron::autopilot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto packet = read_servos(bytes); packet.ok()) {
    Bytes again;
    write_servos(*packet, again);
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
    if (not_finite(controls_of(*packet))) std::abort();
  }
  if (const auto controls = read_motors(bytes); controls.ok() && controls->count > channels_most) std::abort();
  mavlink::Parser parser, in_pieces, with_key(mavlink::SigningKey{});
  parser.push(bytes);
  with_key.push(bytes);
  std::uint64_t frames = 0;
  while (const auto frame = parser.next()) {
    ++frames;
    if (const auto controls = mavlink::as<mavlink::HilActuatorControls>(*frame)) (void)mavlink::controls_of(*controls);
    (void)mavlink::as<mavlink::MissionItemInt>(*frame);
    (void)mavlink::as<mavlink::CommandLong>(*frame);
  }
  for (std::size_t at = 0; at < size; at += 7) {
    in_pieces.push(bytes.subspan(at, std::min<std::size_t>(7, size - at)));
    while (in_pieces.next()) --frames;
  }
  if (frames != 0) std::abort();  // how the bytes came makes no difference
  while (with_key.next()) {
  }
  return 0;
}
