#include "journal/crc32.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

#if defined(__x86_64__)
/// Sixty-four bytes at a time by multiplication without carries: each 128 bits are folded onto those 512 (then 128)
/// bits further on, and what is left is reduced modulo the polynomial (Barrett). The constants are powers of x modulo
/// it. Requires: a multiple of 16 bytes, at least 64; `crc` inverted, as inside the loop below.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t fold(const std::byte* at, std::size_t size, std::uint32_t crc) {
  const auto load = [](const std::byte* from) __attribute__((target("sse4.1"))) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  const auto onto = [](__m128i x, __m128i powers, __m128i next) __attribute__((target("pclmul,sse4.1"))) {
    const __m128i low = _mm_clmulepi64_si128(x, powers, 0x00), high = _mm_clmulepi64_si128(x, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
  };
  const __m128i by_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i a = _mm_xor_si128(load(at), _mm_cvtsi32_si128(static_cast<int>(crc)));
  __m128i b = load(at + 16), c = load(at + 32), d = load(at + 48);
  for (at += 64, size -= 64; size >= 64; at += 64, size -= 64) {
    a = onto(a, by_512, load(at));
    b = onto(b, by_512, load(at + 16));
    c = onto(c, by_512, load(at + 32));
    d = onto(d, by_512, load(at + 48));
  }
  a = onto(onto(onto(a, by_128, b), by_128, c), by_128, d);
  for (; size >= 16; at += 16, size -= 16) a = onto(a, by_128, load(at));
  const __m128i halves = _mm_setr_epi32(-1, 0, -1, 0);
  a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, by_128, 0x10));
  const __m128i by_64 = _mm_set_epi64x(0, 0x0163cd6124);
  a = _mm_xor_si128(_mm_srli_si128(a, 4), _mm_clmulepi64_si128(_mm_and_si128(a, halves), by_64, 0x00));
  const __m128i polynomial = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(a, halves), polynomial, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, halves), polynomial, 0x00);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(a, quotient), 1));
}

bool can_fold() {
  static const bool can = __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  return can;
}
#endif

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
#if defined(__x86_64__)
  if (left >= 64 && can_fold()) {
    const std::size_t folded = left / 16 * 16;
    crc = fold(at, folded, crc);
    at += folded;
    left -= folded;
  }
#endif
  for (; left >= step; left -= step, at += step) {
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), at, step);
    crc = four(words[0] ^ crc, 12) ^ four(words[1], 8) ^ four(words[2], 4) ^ four(words[3], 0);
  }
  for (; left > 0; --left, ++at) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint8_t>(*at)) & 0xFF];
  return ~crc;
}

}  // namespace isochron
