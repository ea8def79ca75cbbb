// No bytes but those that were sealed open, and no bytes crash the opener.

#include <cstdlib>
#include <vector>

#include "link/auth.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron::link;
  const std::array<std::byte, 16> key{std::byte{42}};
  const auto input = std::as_bytes(std::span(data, size));
  Opener opener(key);
  if (opener.open(input).ok()) std::abort();  // 2^-64 by chance
  std::vector<std::byte> message(size + seal_bytes);
  std::copy(input.begin(), input.end(), message.begin() + seal_head_bytes);
  Sealer(key).seal(message);
  if (!opener.open(message).ok() || opener.open(message).ok()) std::abort();
  return 0;
}
