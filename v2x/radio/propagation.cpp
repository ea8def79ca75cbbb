#include "v2x/radio/propagation.hpp"

#include <algorithm>

#include "v2x/radio/repeatable_math.hpp"

namespace isochron::v2x {

double path_loss_db(const PathLoss& model, double distance_m) {
  const double d = std::max(distance_m, 1.0);
  if (d <= model.break_m) return model.at_10_m_db + model.near * db_of(d / 10);
  return model.at_10_m_db + model.near * db_of(model.break_m / 10) + model.far * db_of(d / model.break_m);
}

double distance_of_loss(const PathLoss& model, double loss_db) {
  const double at_break = path_loss_db(model, model.break_m);
  if (loss_db <= at_break) return 10 * ratio_of_db((loss_db - model.at_10_m_db) / model.near);
  return model.break_m * ratio_of_db((loss_db - at_break) / model.far);
}

namespace {

/// Nearly normal, belonging to a key: the sum of four uniform parts. Cheap, right within three deviations, none beyond
/// 3.5: a tail that a fit of shadowing knows nothing of anyway.
double normal_of(std::uint64_t key) {
  const std::uint64_t bits = mixed(key * 0x9e3779b97f4a7c15);
  const std::uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) * (1.0 / 65536) - 2) * 1.7320508075688772;
}

}  // namespace

double shadowing(std::uint64_t seed, std::uint32_t a, std::uint32_t b, const Vec3& at_a, const Vec3& at_b,
                 double decorrelation_m) {
  // Independent values at whole steps along a coordinate that grows as either end moves, blended so that the deviation
  // stays one in between.
  const std::uint64_t pair = mixed(seed ^ (std::uint64_t{std::min(a, b)} << 32 | std::max(a, b)));
  const double along = (distance(at_a, at_b) + 0.5 * (at_a.x + at_b.x) + 0.5 * (at_a.y + at_b.y)) / decorrelation_m;
  const double step = std::floor(along);
  const double part = along - step;
  const auto k = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  const double blended = (1 - part) * normal_of(pair + k) + part * normal_of(pair + k + 1);
  return blended / std::sqrt((1 - part) * (1 - part) + part * part);
}

namespace {

/// ln Γ(a) by Stirling's series, shifted up to where it is exact enough.
double log_gamma(double a) {
  double shift = 0;
  for (; a < 10; ++a) shift += quick_log(a);
  const double inverse = 1 / a;
  const double series = inverse * (1.0 / 12 - inverse * inverse * (1.0 / 360 - inverse * inverse / 1260));
  return (a - 0.5) * quick_log(a) - a + 0.91893853320467274 + series - shift;
}

/// The share of a gamma variable of shape a below x, by its power series.
double gamma_below(double a, double x, double log_gamma_a) {
  if (x <= 0) return 0;
  double term = 1 / a;
  double sum = term;
  for (int n = 1; n < 500 && term > sum * 1e-15; ++n) sum += term *= x / (a + n);
  return sum * repeatable_exp(a * quick_log(x) - x - log_gamma_a);
}

}  // namespace

Fading::Fading(double m) {
  if (m <= 0) {
    table_.fill(1);
    return;
  }
  // The power of Nakagami-m fading is a gamma variable of shape m and mean 1. Each entry is a quantile, found upwards
  // from the one before.
  const double log_gamma_m = log_gamma(m);
  double low = 0;
  double sum = 0;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(table_.size());
    double high = low > 0 ? 2 * low : 1e-9;
    while (gamma_below(m, m * high, log_gamma_m) < share) high *= 2;
    for (int step = 0; step < 24; ++step) {
      const double middle = 0.5 * (low + high);
      (gamma_below(m, m * middle, log_gamma_m) < share ? low : high) = middle;
    }
    sum += table_[i] = 0.5 * (low + high);
  }
  for (double& factor : table_) factor *= static_cast<double>(table_.size()) / sum;
}

}  // namespace isochron::v2x
