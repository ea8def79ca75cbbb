#include "coordinator/outcome.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace isochron::coordinator {

std::size_t SpanHistogram::bucket(std::uint64_t ns) {
  if (ns < (1u << sub_bits)) return ns;
  const int shift = static_cast<int>(std::bit_width(ns)) - 1 - sub_bits;
  return (static_cast<std::size_t>(shift + 1) << sub_bits) + ((ns >> shift) & ((1u << sub_bits) - 1));
}

std::uint64_t SpanHistogram::upper(std::size_t bucket) {
  if (bucket < (1u << sub_bits)) return bucket;
  const auto shift = (bucket >> sub_bits) - 1;
  const std::uint64_t mantissa = (bucket & ((1u << sub_bits) - 1)) | (1u << sub_bits);
  return ((mantissa + 1) << shift) - 1;
}

void SpanHistogram::add(SimSpan span) {
  ++counts_[std::min(bucket(static_cast<std::uint64_t>(std::max<std::int64_t>(span.ns(), 0))), counts_.size() - 1)];
  ++count_;
}

SimSpan SpanHistogram::quantile(double q) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted && seen > 0) return SimSpan::from_ns(static_cast<std::int64_t>(upper(i)));
  }
  return {};
}

}  // namespace isochron::coordinator
