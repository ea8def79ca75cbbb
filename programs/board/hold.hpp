#pragma once
// A board was held for longer than the simulated time that passed for it: for whom, and how long.

#include <cstdint>

#include "core/time.hpp"

namespace isochron::programs {

struct Hold {
  static constexpr std::uint32_t nobody = UINT32_MAX;
  std::uint32_t target = 0;
  std::uint32_t link = 0;  // of the target
  SimTime asked, answered;
  WallSpan held;  // beyond answered − asked
  enum class Cause : std::uint8_t { world, target, programs, pace, host } cause = Cause::world;
  std::uint32_t by = nobody;  // the other target, if it was one
};

}  // namespace isochron::programs
