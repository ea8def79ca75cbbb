#pragma once
// Copies a large block past the caches. The bytes of a big record are next read by another core, later: to pull their
// place in the ring into this core's cache first would cost more time than the copy, and would push out what the caller
// works with. For 64 kB into a ring of 32 MiB it takes about half the time of memcpy.
//
// Promises: once it returns, a release store publishes the bytes as it would those of memcpy. (Streaming stores are not
//           ordered by themselves: the fence at the end does it.)
// Requires: `to` is a multiple of 8.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace isochron {

/// From this size on it pays.
inline constexpr std::size_t stream_copy_from = 16'384;

inline void stream_copy(std::byte* to, const std::byte* from, std::size_t size) {
#if defined(__x86_64__)
  if (size >= stream_copy_from) {
    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0) {
      std::memcpy(to, from, 8);
      to += 8, from += 8, size -= 8;
    }
    for (; size >= 64; to += 64, from += 64, size -= 64) {
      const auto* source = reinterpret_cast<const __m128i*>(from);
      auto* target = reinterpret_cast<__m128i*>(to);
      const __m128i a = _mm_loadu_si128(source);
      const __m128i b = _mm_loadu_si128(source + 1);
      const __m128i c = _mm_loadu_si128(source + 2);
      const __m128i d = _mm_loadu_si128(source + 3);
      _mm_stream_si128(target, a);
      _mm_stream_si128(target + 1, b);
      _mm_stream_si128(target + 2, c);
      _mm_stream_si128(target + 3, d);
    }
    _mm_sfence();
  }
#endif
  if (size > 0) std::memcpy(to, from, size);
}

}  // namespace isochron
