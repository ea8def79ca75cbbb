#pragma once
// The stamps at which a flow speaks: first, first + step, first + 2 step, … Those common to two such flows are of the
// same form, or there are none (Chinese remainder).
//
// Cost: O(log step); never allocates.

#include <algorithm>
#include <optional>
#include <tuple>

namespace isochron::flow {

/// Products of two steps fit.
using WideTime = __int128;

/// step 0 = every stamp from `first` on; a step beyond all time = `first` alone.
struct Stamps {
  WideTime first = 0;
  WideTime step = 0;
  friend bool operator==(const Stamps&, const Stamps&) = default;
};

namespace stamps {

inline constexpr WideTime beyond_all_time = WideTime{1} << 63;

inline WideTime floor_mod(WideTime a, WideTime m) { return (a % m + m) % m; }

inline WideTime gcd(WideTime a, WideTime b) {
  while (b != 0) std::tie(a, b) = std::pair(b, a % b);
  return a;
}

inline WideTime inverse(WideTime a, WideTime modulus) {
  WideTime r0 = modulus, r1 = a % modulus, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const WideTime q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::pair(t1, t0 - q * t1);
  }
  return t0 < 0 ? t0 + modulus : t0;
}

/// Those of `all` that are not before `from`.
inline Stamps since(Stamps all, WideTime from) {
  if (all.first >= from) return all;
  all.first = all.step == 0 ? from : all.first + (from - all.first + all.step - 1) / all.step * all.step;
  return all;
}

inline bool contains(const Stamps& all, WideTime stamp) {
  return stamp >= all.first && (all.step == 0 || floor_mod(stamp - all.first, all.step) == 0);
}

}  // namespace stamps

/// The stamps common to both.
inline std::optional<Stamps> common(const Stamps& a, const Stamps& b) {
  using namespace stamps;
  if (a.step == 0) return since(b, a.first);
  if (b.step == 0) return since(a, b.first);
  if (a.step >= beyond_all_time) return contains(b, a.first) ? std::optional(a) : std::nullopt;
  if (b.step >= beyond_all_time) return contains(a, b.first) ? std::optional(b) : std::nullopt;
  const WideTime divisor = gcd(a.step, b.step);
  if (floor_mod(b.first - a.first, divisor) != 0) return std::nullopt;
  const WideTime modulus = b.step / divisor;
  const WideTime apart = floor_mod((b.first - a.first) / divisor, modulus);
  const WideTime steps = modulus == 1 ? 0 : apart * inverse(a.step / divisor, modulus) % modulus;
  const Stamps both = since({a.first + steps * a.step, a.step / divisor * b.step}, b.first);
  return Stamps{both.first, std::min(both.step, beyond_all_time)};
}

}  // namespace isochron::flow
