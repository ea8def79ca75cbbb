#include "journal/crc32.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace isochron {
namespace {

constexpr std::size_t step = 16;
using Tables = std::array<std::array<std::uint32_t, 256>, step>;

/// tables[k][b]: what byte b contributes when k more bytes follow it in the same step.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < step; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = (shorter >> 8) ^ tables[0][shorter & 0xFF];
    }
  }
  return tables;
}
constexpr Tables tables = make_tables();
static_assert(std::endian::native == std::endian::little);

std::uint32_t four(std::uint32_t word, std::size_t following) {
  return tables[following + 3][word & 0xFF] ^ tables[following + 2][(word >> 8) & 0xFF] ^
         tables[following + 1][(word >> 16) & 0xFF] ^ tables[following][word >> 24];
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= step; left -= step, at += step) {
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), at, step);
    crc = four(words[0] ^ crc, 12) ^ four(words[1], 8) ^ four(words[2], 4) ^ four(words[3], 0);
  }
  for (; left > 0; --left, ++at) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint8_t>(*at)) & 0xFF];
  return ~crc;
}

}  // namespace isochron
