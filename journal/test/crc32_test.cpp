#include "journal/crc32.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace isochron {
namespace {

/// Bit by bit, as the definition says.
std::uint32_t by_definition(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

TEST(Crc32, IsTheOneOfTheDefinitionForAllLengths) {
  std::vector<std::byte> bytes(1500);
  std::uint32_t seed = 1;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((seed = seed * 1664525 + 1013904223) >> 24);
  for (std::size_t size = 0; size < bytes.size(); size += size < 300 ? 1 : 97) {
    EXPECT_EQ(crc32(std::span(bytes).first(size)), by_definition(std::span(bytes).first(size))) << size;
  }
}

TEST(Crc32, GoesOnWhereItStopped) {
  const std::vector<std::byte> bytes(1000, std::byte{7});
  const std::span all(bytes);
  for (const std::size_t cut : {0U, 3U, 64U, 500U, 1000U}) {
    EXPECT_EQ(crc32(all.subspan(cut), crc32(all.first(cut))), crc32(all)) << cut;
  }
}

}  // namespace
}  // namespace isochron
