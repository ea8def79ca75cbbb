#pragma once
// Who is within reach of whom. Stations stand in square cells of the size of the reach, so that only nine cells are
// looked at, and far streets cost nothing.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "v2x/radio/geometry.hpp"

namespace isochron::v2x {

class Neighbours {
 public:
  explicit Neighbours(double reach_m) : reach_m_(reach_m) {}

  void add(std::uint32_t station, const Vec3& at) { cells_[cell_of(at)].push_back(station); }
  void remove(std::uint32_t station, const Vec3& at);
  void move(std::uint32_t station, const Vec3& from, const Vec3& to);
  /// Those in the nine cells around, in ascending order: everybody within reach, and some more.
  void around(const Vec3& at, std::vector<std::uint32_t>& out) const;

 private:
  using Cell = std::uint64_t;
  [[nodiscard]] Cell cell_of(const Vec3& at, int dx = 0, int dy = 0) const;

  double reach_m_;
  std::unordered_map<Cell, std::vector<std::uint32_t>> cells_;
};

}  // namespace isochron::v2x
