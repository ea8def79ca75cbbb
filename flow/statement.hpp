#pragma once
// What a node says of itself, so that others know how far nothing can happen (floor.hpp). Links are named by their
// place in Assembly::links().

#include <cstdint>
#include <vector>

#include "core/time.hpp"

namespace isochron::flow {

/// Of `known`: nothing more comes on that link before the end, so that it does not matter who is behind it.
inline constexpr std::uint64_t nothing_more = UINT64_MAX;

struct Statement {
  struct Count {
    std::uint32_t link = 0;
    std::uint64_t messages = 0;
    friend bool operator==(const Count&, const Count&) = default;
  };
  std::uint32_t node = 0;
  SimTime first;
  std::vector<Count> known;
  std::vector<Count> sent;
  friend bool operator==(const Statement&, const Statement&) = default;
};

}  // namespace isochron::flow
