#include "core/random.hpp"

#include <bit>
#include <cmath>

#include "core/ensure.hpp"

namespace isochron {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

/// The finaliser of SplitMix64: every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::uint64_t key_of(std::uint64_t seed, std::string_view name) {
  std::uint64_t key = mix(seed + golden);
  for (const char c : name) key = mix(key ^ static_cast<unsigned char>(c)) + golden;
  return mix(key ^ name.size());
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : key_(key_of(seed, name)) {}

std::uint64_t RandomStream::bits() {
  ++counter_;
  return mix(key_ + golden * counter_) ^ mix(key_ ^ counter_);
}

double RandomStream::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

std::uint64_t RandomStream::below(std::uint64_t n) {
  ENSURE(n > 0, "a choice among nothing");
  // Multiply-shift; the few low products that would favour some values are drawn again.
  const std::uint64_t unfair = (0 - n) % n;
  while (true) {
    const unsigned __int128 product = static_cast<unsigned __int128>(bits()) * n;
    if (static_cast<std::uint64_t>(product) >= unfair) return static_cast<std::uint64_t>(product >> 64);
  }
}

double RandomStream::normal() {
  // Marsaglia's polar method; the second value is not kept, so that a draw depends on nothing but the position.
  while (true) {
    const double x = 2 * uniform() - 1;
    const double y = 2 * uniform() - 1;
    const double s = x * x + y * y;
    if (s > 0 && s < 1) return x * std::sqrt(-2 * repeatable_log(s) / s);
  }
}

double repeatable_log(double x) {
  ENSURE(x > 0, "the logarithm of a number that is not positive");
  // x = m · 2^e with m in [√½, √2); ln m = 2 artanh(z), z = (m − 1)/(m + 1), |z| < 0.1716.
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) m *= 2, --exponent;
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * z2 + 1.0 / n;
  return 2 * z * sum + exponent * 0.69314718055994531;
}

}  // namespace isochron
