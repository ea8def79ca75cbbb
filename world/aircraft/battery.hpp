#pragma once
// A battery as a flier notices it: an open-circuit voltage that falls with the charge, and a resistance inside.
//
//     U = U₀(charge) − R I,   P = U I    ⇒    U = (U₀ + √(U₀² − 4 R P)) / 2
//
// Promises: what it gave and what it lost inside add up to what its charge held.
// Fails:    more power than it can give: the voltage falls to U₀/2, and that is all there is. Empty: no voltage.

#include <algorithm>
#include <cmath>

namespace isochron::world {

struct BatterySettings {
  double capacity = 3;       // A h
  double full = 12.6;        // V without load
  double empty = 9.9;        // V without load when the charge is used up
  double resistance = 0.03;  // Ω
  double efficiency = 0.75;  // of motors and their electronics
  double electronics = 5;    // W that everything else takes
  double charge = 1;         // at the start, of the capacity
};

struct Battery {
  double charge = 1;   // 0 … 1
  double voltage = 0;  // V at its terminals
  double current = 0;  // A
  double power = 0;    // W given
  double energy = 0;   // J given so far

  void begin(const BatterySettings& s) { charge = s.charge, voltage = open_circuit(s); }
  [[nodiscard]] double open_circuit(const BatterySettings& s) const {
    return charge > 0 ? s.empty + (s.full - s.empty) * charge : 0;
  }
  /// Gives `wanted` watts for dt.
  void give(const BatterySettings& s, double wanted, double dt) {
    const double open = open_circuit(s);
    power = s.resistance > 0 ? std::min(wanted, open * open / (4 * s.resistance)) : wanted;
    if (open <= 0) power = 0;
    voltage = 0.5 * (open + std::sqrt(std::max(0.0, open * open - 4 * s.resistance * power)));
    current = voltage > 0 ? power / voltage : 0;
    energy += power * dt;
    charge = std::max(0.0, charge - current * dt / (3600 * s.capacity));
  }
};

}  // namespace isochron::world
