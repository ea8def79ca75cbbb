#pragma once
// How much any reader of foreign bytes or files accepts, in one place: what is beyond is bad input, and is refused with
// a sentence where it is read. So nothing behind a reader has to fear that a sum of times overflows.

#include <cstdint>

namespace isochron::limits {

/// Of times and spans: fifty years, a fifth of what fits, so that sums of a few of them do.
inline constexpr std::int64_t longest_ns = 50 * 31'536'000LL * 1'000'000'000LL;

[[nodiscard]] constexpr bool is_span(std::int64_t ns) { return ns >= -longest_ns && ns <= longest_ns; }
/// A time of a run: not before its start.
[[nodiscard]] constexpr bool is_time(std::int64_t ns) { return ns >= 0 && ns <= longest_ns; }

}  // namespace isochron::limits
