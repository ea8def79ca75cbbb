#pragma once
// What a tyre does to the road: forces in the contact patch from load and slip, by closed formulas. Two of the classics
// are here, the magic formula of Pacejka and Fiala's brush, both extended to combined slip by the similarity method:
// with the theoretical slips s_x = v_slip_x / |v_roll|, s_y = v_slip_y / |v_roll| and s = |(s_x, s_y)| the force has
// the size that the pure-slip curve gives for s and points against the slip.
//
//   magic:  F(s) = D sin(C atan(B s − E (B s − atan(B s)))),      D = friction · load
//   fiala:  F(s) = D (1 − (1 − ζ)³) for ζ < 1, else D;            ζ = stiffness · load · s / (3 D)
//
// Promises: |force| ≤ D in any direction; odd in the slip; zero without load.

#include <cstdint>

namespace isochron::world {

enum class TyreModel : std::uint8_t { magic, fiala };

/// One direction's curve. Slope at zero slip: magic B·C·D, fiala stiffness·load.
struct SlipCurve {
  double b = 10;
  double c = 1.65;
  double e = 0.5;
  double stiffness = 18;  // fiala: force per slip and load
};

struct TyreSettings {
  TyreModel model = TyreModel::magic;
  double friction = 1.0;  // on a surface of friction 1
  SlipCurve along{12, 1.65, 0.4, 20};
  SlipCurve across{10, 1.4, 0.3, 14};
  double radius = 0.31;        // m, unloaded
  double stiffness = 200'000;  // N/m, vertical
  double damping = 500;        // N s/m, vertical
  double relaxation = 0.3;     // m of rolling until a force has built up to 63 %
  double rolling_resistance = 0.012;
};

struct TyreForce {
  double along = 0;   // drives the car forward when the wheel turns faster than it rolls
  double across = 0;  // to the left
};

/// Slips are positive when the tyre pushes the road backwards (along) and when the patch moves to the right (across),
/// so that forces have the slips' signs.
TyreForce tyre_force(const TyreSettings& tyre, double load, double slip_along, double slip_across, double surface);

/// The pure-slip curve of one direction, as the formula has it.
double magic_formula(const SlipCurve& curve, double peak, double slip);
double fiala_formula(const SlipCurve& curve, double peak, double load, double slip);

}  // namespace isochron::world
