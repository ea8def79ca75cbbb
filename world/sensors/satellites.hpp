#pragma once
// What a GPS receiver's precision depends on: how many satellites it sees, and how they stand to each other. Satellites
// stand in fixed places, spread evenly over the sky above the mask; a ray to each says whether it is seen. From the
// directions that are left follows the dilution of precision, as in a receiver: with H the rows (east, north, up, 1),
// Q = (HᵀH)⁻¹, horizontal √(Q11 + Q22), vertical √Q33.
//
// Cost: no allocation after construction.

#include <cstdint>
#include <vector>

#include "world/geometry.hpp"

namespace isochron::world {

struct Dilution {
  double horizontal = 0;
  double vertical = 0;
};

/// `count` directions (east, north, up) above an elevation.
std::vector<Vec3> satellites_over(std::uint32_t count, double mask);

/// Adds up the satellites that are seen, then solves.
class DilutionSum {
 public:
  void see(const Vec3& direction);
  [[nodiscard]] std::uint32_t seen() const { return seen_; }
  /// False if they are too few (less than 4) or all stand in one line of sight.
  [[nodiscard]] bool solve(Dilution& dilution) const;

 private:
  std::uint32_t seen_ = 0;
  std::array<std::array<double, 4>, 4> normal_{};  // HᵀH
};

}  // namespace isochron::world
