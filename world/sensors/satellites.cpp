#include "world/sensors/satellites.hpp"

#include <cmath>
#include <utility>

#include "world/sensors/repeatable.hpp"

namespace isochron::world {

std::vector<Vec3> satellites_over(std::uint32_t count, double mask) {
  // A sunflower's pattern: equal steps in height (equal areas of the sky), turning by the golden angle.
  constexpr double golden_angle = 2.399963229728653;
  const double lowest = repeatable_sincos(mask).sin;
  std::vector<Vec3> directions;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double up = lowest + (1 - lowest) * (i + 0.5) / count;
    const double flat = std::sqrt(1 - up * up);
    const SinCos turn = repeatable_sincos(golden_angle * i);
    directions.push_back({flat * turn.sin, flat * turn.cos, up});
  }
  return directions;
}

void DilutionSum::see(const Vec3& direction) {
  const std::array<double, 4> row{direction[0], direction[1], direction[2], 1};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) normal_[i][j] += row[i] * row[j];
  }
  ++seen_;
}

bool DilutionSum::solve(Dilution& dilution) const {
  if (seen_ < 4) return false;
  auto left = normal_;
  std::array<std::array<double, 4>, 4> inverse{};
  for (int i = 0; i < 4; ++i) inverse[i][i] = 1;
  for (int pivot = 0; pivot < 4; ++pivot) {
    int best = pivot;
    for (int row = pivot + 1; row < 4; ++row) {
      if (std::abs(left[row][pivot]) > std::abs(left[best][pivot])) best = row;
    }
    if (std::abs(left[best][pivot]) < 1e-9) return false;
    std::swap(left[pivot], left[best]);
    std::swap(inverse[pivot], inverse[best]);
    for (int row = 0; row < 4; ++row) {
      if (row == pivot) continue;
      const double factor = left[row][pivot] / left[pivot][pivot];
      for (int k = 0; k < 4; ++k)
        left[row][k] -= factor * left[pivot][k], inverse[row][k] -= factor * inverse[pivot][k];
    }
  }
  for (int i = 0; i < 4; ++i) inverse[i][i] /= left[i][i];
  dilution = {std::sqrt(inverse[0][0] + inverse[1][1]), std::sqrt(inverse[2][2])};
  return dilution.horizontal > 0 && dilution.vertical > 0;
}

}  // namespace isochron::world
