#pragma once
// An Epoch is the date and time, in UTC, at simulated zero. Programs see it in CLOCK_REALTIME: it belongs to the
// scenario, not to the moment at which a run was started, so that a program seeded with the time of day repeats.

#include <cstdint>
#include <string>

#include "core/result.hpp"

namespace isochron {

struct Epoch {
  std::int64_t unix_ns = 1'893'456'000'000'000'000;  // 2030-01-01T00:00:00Z

  static Epoch of_wall_clock();
  /// "2030-01-01", "2030-01-01T12:30:00Z", "2030-01-01T12:30:00.5Z"; always UTC, from 1970 to 2199.
  /// Fails: a sentence that says what is wrong and what would be right.
  static Result<Epoch, std::string> parse(const std::string& text);
  friend bool operator==(const Epoch&, const Epoch&) = default;
};
/// Reads back to the same value.
std::string to_string(const Epoch& epoch);

}  // namespace isochron
