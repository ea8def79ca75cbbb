#pragma once
// The air that aircraft fly in: a mean wind, the same everywhere, and Dryden's gusts, which each aircraft meets on its
// own way. Gusts are a frozen pattern that is flown through at airspeed V:
//
//     along    Φ(s) = σ √(2L/πV) · 1 / (1 + s L/V)                       one real pole
//     across   Φ(s) = σ √(L/πV) · (1 + √3 s L/V) / (1 + s L/V)²         two, for the lateral and the vertical gust
//
// Both are solved exactly over a step, so that the variance is σ² whatever the step.
//
// Threads: the world's owner thread. Cost: five normal draws a step; never allocates.

#include <optional>
#include <string_view>

#include "core/random.hpp"
#include "world/saved.hpp"
#include "world/vectors.hpp"

namespace isochron::world {

/// How strong gusts are and how long: along the mean wind, across it, vertical.
struct GustSize {
  Vec3 deviation{};  // σ, m/s
  Vec3 length{};     // L, m
};
/// MIL-F-8785C below 300 m: by the mean wind at 6 m height, and the height above ground.
GustSize low_altitude_gusts(double wind_at_6m, double height);

struct Air {
  Vec3 wind{};
  double gusts = 0;                     // m/s: the wind at 6 m that makes them, 0 = none
  std::optional<GustSize> gusts_given;  // instead
};

class Gusts {
 public:
  Gusts(std::uint64_t seed, std::string_view name) : random_(seed, name) {}
  /// The gust after another dt: along, across, up.
  Vec3 step(const GustSize& size, double airspeed, double dt);
  void carry(Carrier& c) { c(random_), c(along_), c(across_), c(up_); }

 private:
  /// Of unit variance; scaled on its way out, so that the size may change with height.
  struct TwoPoles {
    double first = 0, second = 0;
    double step(double x, RandomStream& random);
  };
  RandomStream random_;
  double along_ = 0;
  TwoPoles across_, up_;
};

}  // namespace isochron::world
