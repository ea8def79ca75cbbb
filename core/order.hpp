#pragma once
// The order of everything that happens at one participant. At equal times: emissions computed from the past, then
// consumption, then observations of now; among equals, the index that the scenario declared. Never arrival order, heap
// history or a hash. That is what makes two runs the same.
//
//     emit (predictive) at S           (S,     0, i)
//     consume t from input j           (t,     1, j)
//     emit (observation) at S          (S,     2, i)
//     emit event e with lookahead L    (e − L, 2, i)

#include <compare>
#include <cstdint>

#include "core/time.hpp"

namespace isochron {

enum class Phase : std::uint8_t { emit = 0, consume = 1, observe = 2 };

struct OrderKey {
  SimTime time;
  Phase phase = Phase::emit;
  std::uint32_t index = 0;

  friend constexpr auto operator<=>(const OrderKey&, const OrderKey&) = default;
  [[nodiscard]] static constexpr OrderKey last() { return {SimTime::never(), Phase::observe, UINT32_MAX}; }
};

}  // namespace isochron
