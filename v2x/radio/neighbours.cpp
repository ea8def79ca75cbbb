#include "v2x/radio/neighbours.hpp"

#include <algorithm>

namespace isochron::v2x {

Neighbours::Cell Neighbours::cell_of(const Vec3& at, int dx, int dy) const {
  const auto x = static_cast<std::int32_t>(std::floor(at.x / reach_m_)) + dx;
  const auto y = static_cast<std::int32_t>(std::floor(at.y / reach_m_)) + dy;
  return std::uint64_t{static_cast<std::uint32_t>(x)} << 32 | static_cast<std::uint32_t>(y);
}

void Neighbours::remove(std::uint32_t station, const Vec3& at) {
  auto& cell = cells_[cell_of(at)];
  cell.erase(std::remove(cell.begin(), cell.end(), station), cell.end());
}

void Neighbours::move(std::uint32_t station, const Vec3& from, const Vec3& to) {
  if (cell_of(from) == cell_of(to)) return;
  remove(station, from);
  add(station, to);
}

void Neighbours::around(const Vec3& at, std::vector<std::uint32_t>& out) const {
  out.clear();
  for (int dx = -1; dx <= 1; ++dx) {
    for (int dy = -1; dy <= 1; ++dy) {
      const auto cell = cells_.find(cell_of(at, dx, dy));
      if (cell != cells_.end()) out.insert(out.end(), cell->second.begin(), cell->second.end());
    }
  }
  std::sort(out.begin(), out.end());  // a cell's own order depends on who came first
}

}  // namespace isochron::v2x
