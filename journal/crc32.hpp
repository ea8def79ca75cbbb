#pragma once
// CRC-32 as zip, PNG and MCAP use it (polynomial 0xEDB88320, reflected), sixteen bytes a step by table.

#include <cstddef>
#include <cstdint>
#include <span>

namespace isochron {

/// The checksum of all bytes so far, given that of those before: crc32(b, crc32(a)) == crc32(a followed by b).
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace isochron
