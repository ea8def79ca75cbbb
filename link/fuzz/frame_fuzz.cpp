// However a stream of bytes is cut, a FrameReader must give the same frames and the same refusal as in one piece.

#include <cstdlib>

#include "link/frame.hpp"

namespace {

struct Parsed {
  std::vector<std::vector<std::byte>> frames;
  bool refused = false;
  friend bool operator==(const Parsed&, const Parsed&) = default;
};

Parsed read(std::span<const std::byte> bytes, std::span<const std::byte> cuts) {
  isochron::link::FrameReader reader(64);
  Parsed outcome;
  std::size_t turn = 0;
  while (!bytes.empty() && !outcome.refused) {
    const std::size_t wanted = cuts.empty() ? bytes.size() : std::to_integer<std::size_t>(cuts[turn++ % cuts.size()]);
    const std::size_t n = std::min(bytes.size(), std::max<std::size_t>(wanted, 1));
    outcome.refused = !reader
                           .take(bytes.first(n),
                                 [&](std::span<const std::byte> frame) {
                                   outcome.frames.emplace_back(frame.begin(), frame.end());
                                   return true;
                                 })
                           .ok();
    bytes = bytes.subspan(n);
  }
  if (reader.partial() > 64 + isochron::link::frame_header_bytes) std::abort();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const std::size_t cuts = size == 0 ? 0 : std::min<std::size_t>(std::to_integer<std::size_t>(input[0]) % 8, size - 1);
  const auto stream = input.subspan(std::min(size, 1 + cuts));
  if (read(stream, {}) != read(stream, input.subspan(std::min<std::size_t>(size, 1), cuts))) std::abort();
  return 0;
}
