#pragma once
// Sine, cosine and exponential that have the same bits on every machine. libm's differ with the CPU (it has variants
// with fused multiply-add), and a beam that leaves a LiDAR in a direction one bit off is another run. Sums, products
// and quotients only.
//
// Promises: within 4e-16 (relative to 1) of the true value for |x| ≤ 1e4.
// Cost:     about 20 ns.

namespace isochron::world {

struct SinCos {
  double sin = 0;
  double cos = 1;
};
SinCos repeatable_sincos(double x);
/// For |x| ≤ 700; smaller gives 0.
double repeatable_exp(double x);

}  // namespace isochron::world
