#pragma once
// Forces that depend on where a body is and how it moves.

#include <string>
#include <vector>

#include "world/part.hpp"

namespace isochron::world {

/// A box of space, centred on the origin, that pushes bodies back near its walls:
///
///     force = −sign(x) · stiffness · (margin − d)   for d < margin, on each axis;   d = half − |x|
///
/// The ships of paper 000 live in half = 25 m, margin = 5 m, stiffness = 20 N/m.
class PenaltyWalls final : public Part {
 public:
  struct Settings {
    double half = 25;
    double margin = 5;
    double stiffness = 20;
  };
  PenaltyWalls(std::vector<std::uint32_t> bodies, Settings settings);
  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  void set(const Settings& settings) { settings_ = settings; }
  /// On a body at x, one axis.
  [[nodiscard]] static double force(double x, const Settings& settings);

 private:
  std::vector<std::uint32_t> bodies_;
  Settings settings_;
};

/// A steady wind: force = drag · |w − v| · (w − v), drag in N/(m/s)², at the centre of mass. Without wind it is drag.
class Wind final : public Part {
 public:
  Wind(std::vector<std::uint32_t> bodies, Vec3 velocity, double drag);
  void act(Engine& engine, SimSpan dt, Wrenches& wrenches) override;
  void set(const Vec3& velocity, double drag) { velocity_ = velocity, drag_ = drag; }

 private:
  std::vector<std::uint32_t> bodies_;
  Vec3 velocity_;
  double drag_;
};

}  // namespace isochron::world
