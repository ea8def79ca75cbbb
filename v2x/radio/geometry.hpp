#pragma once
// Places of antennas, and who stands between them. The radio knows no buildings: the scenario gives it the world's.

#include <cmath>

namespace isochron::v2x {

struct Vec3 {
  double x = 0;
  double y = 0;
  double z = 0;
  friend bool operator==(const Vec3&, const Vec3&) = default;
};
inline double distance(const Vec3& a, const Vec3& b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/// Whether two antennas see each other. Must be symmetric, and the same for the same places within a run's step.
class Obstruction {
 public:
  virtual ~Obstruction() = default;
  [[nodiscard]] virtual bool line_of_sight(const Vec3& a, const Vec3& b) const = 0;
};

}  // namespace isochron::v2x
