// Whatever comes over a serial line, each end stays up, hands out no more than came, and what two ends say to each other
// over a line that loses what the fuzzer likes arrives in order or not at all.

#include <array>
#include <cstdint>
#include <cstdlib>

#include "link/serial.hpp"
#include "protocol/serial_line.h"

namespace {

struct End {
  End() { isochron_line_init(&line, out.data(), 64, in.data(), 64, 115'200, 0); }
  std::array<std::uint8_t, 64> out{}, in{};
  isochron_line line{};
};

void drain(isochron_line& line, std::uint32_t now) {
  std::array<std::uint8_t, ISOCHRON_LINE_WIRE_MAX> wire;
  for (int i = 0; i < 8; ++i) {
    if (isochron_line_next(&line, wire.data(), now) > wire.size()) std::abort();
  }
  std::array<std::uint8_t, 128> bytes;
  if (isochron_line_read(&line, bytes.data(), bytes.size()) > 64) std::abort();
  (void)isochron_line_wake(&line, now);
}

/// The fuzzer's bytes are both what is said and which bytes of it get lost.
void talk(const std::uint8_t* data, std::size_t size) {
  End board, host;
  isochron_line_open(&board.line, 1, 0);
  std::uint8_t next = 0, expected = 0;
  std::uint32_t now = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    now += 20'000;
    std::array<std::uint8_t, ISOCHRON_LINE_WIRE_MAX> wire;
    for (auto [from, to] : {std::pair{&board, &host}, std::pair{&host, &board}}) {
      const std::size_t n = isochron_line_next(&from->line, wire.data(), now);
      for (std::size_t at = 0; at < n; ++at) {
        const std::uint8_t luck = size == 0 ? 0 : data[(i * 31 + at) % size];
        if (luck >= 0xf8) continue;
        if (luck == 0xf7) wire[at] ^= luck;
        isochron_line_take(&to->line, &wire[at], 1, now);
      }
    }
    const std::uint8_t byte = next;
    next = static_cast<std::uint8_t>(next + isochron_line_write(&board.line, &byte, 1));
    std::array<std::uint8_t, 64> came;
    const std::size_t n = isochron_line_read(&host.line, came.data(), came.size());
    for (std::size_t at = 0; at < n; ++at) {
      if (came[at] != expected++) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4000) return 0;
  (void)isochron::link::parse_serial({reinterpret_cast<const char*>(data), size}).ok();
  for (const bool opens : {false, true}) {
    End end;
    if (opens) isochron_line_open(&end.line, 1, 0);
    isochron_line_take(&end.line, data, size, 1000);
    drain(end.line, 300'000);
    isochron_line_take(&end.line, data, size, 400'000);
    drain(end.line, 900'000);
  }
  talk(data, size);
  return 0;
}
