#pragma once
// memcpy for records of a few bytes: a call of the library's costs more than moving them.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace isochron {

[[gnu::always_inline]] inline void small_copy(std::byte* to, const std::byte* from, std::size_t size) {
  const auto ends = [&](auto word) {  // the first and the last so many bytes, which may overlap
    auto last = word;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &word, sizeof word);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  };
  struct Sixteen {
    std::uint64_t words[2];
  };
  if (size > 32) return void(std::memcpy(to, from, size));
  if (size >= 16) return ends(Sixteen{});
  if (size >= 8) return ends(std::uint64_t{});
  if (size >= 4) return ends(std::uint32_t{});
  for (; size > 0; --size) *to++ = *from++;
}

}  // namespace isochron
