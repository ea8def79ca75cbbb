#pragma once
// How much of a transmitter's power arrives. Path loss by distance with one slope near and another far, different with
// and without line of sight; slow shadowing that belongs to the pair and its place; fast fading that belongs to the
// message. Defaults are the published urban fit at 5.9 GHz (see docs/v2x.md).
//
// Promises: gain(a, b) = gain(b, a), a pure function of places, pair and seed: nothing depends on who asked before.

#include <array>
#include <cstdint>

#include "v2x/radio/geometry.hpp"

namespace isochron::v2x {

/// loss(d) = at_10_m + 10 near log10(d / 10), from break_m on with the slope `far`, plus shadowing of deviation sigma.
struct PathLoss {
  double at_10_m_db = 63.9;
  double near = 1.81;
  double far = 2.85;
  double break_m = 104;
  double sigma_db = 4.15;
};
inline constexpr PathLoss urban_line_of_sight{};
inline constexpr PathLoss urban_obstructed{72.3, 1.93, 2.74, 104, 6.67};
/// 46.68 dB at 1 m and 20 dB for each ten-fold distance, no shadowing: ns-3's log-distance model with exponent 2.
inline constexpr PathLoss free_space_slope{66.6777, 2, 2, 104, 0};

/// Mean loss in dB at a distance; below 1 m as at 1 m.
double path_loss_db(const PathLoss& model, double distance_m);
/// The distance at which the mean loss is this large.
double distance_of_loss(const PathLoss& model, double loss_db);

struct Propagation {
  PathLoss line_of_sight = urban_line_of_sight;
  PathLoss obstructed = urban_obstructed;
  double shadowing_distance_m = 25;  // over which shadowing changes
  double fading_m = 1.5;             // Nakagami; 0 = none, 1 = Rayleigh, higher = steadier
};

/// Shadowing of a pair in units of its deviation.
double shadowing(std::uint64_t seed, std::uint32_t a, std::uint32_t b, const Vec3& at_a, const Vec3& at_b,
                 double decorrelation_m);

/// Power factors of Nakagami-m fading, mean 1, by equally likely cases.
class Fading {
 public:
  explicit Fading(double m);
  [[nodiscard]] double factor(std::uint64_t bits) const { return table_[bits >> (64 - bits_)]; }

 private:
  static constexpr unsigned bits_ = 10;
  std::array<double, 1u << bits_> table_;
};

}  // namespace isochron::v2x
