#pragma once
// One turn of a program on its robot's core, as a timeline shows it.
//
//      asked        from                to
//      |............|###################|      dots: it was ready, and somebody else had the core
//
// It ends where the program waits, or where another one takes the core from it; then the rest is another turn.

#include <cstdint>

#include "core/time.hpp"

namespace isochron::programs {

struct Turn {
  static constexpr std::uint32_t nobody = UINT32_MAX;
  std::uint32_t program = nobody;
  SimTime asked, from, to;
  std::uint32_t preempted_by = nobody;
  friend bool operator==(const Turn&, const Turn&) = default;
};

}  // namespace isochron::programs
