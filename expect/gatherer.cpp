#include "expect/gatherer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isochron::expect {

void Gatherer::add(double value) {
  // What is no number stays, so that no bound on it holds.
  if (count_ == 0 || value > most_ || std::isnan(value)) most_ = value;
  if (count_ == 0 || value < least_ || std::isnan(value)) least_ = value;
  sum_ += value;
  last_ = value;
  ++count_;
  if (value != 0) ++true_count_;
  if (what_.what == Gathered::What::quantile) keep(value);
}

void Gatherer::keep(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::infinity();  // no number has an order
  if (kept_.size() < most_kept) return kept_.push_back(value);
  if (const std::uint64_t place = chance_.below(count_); place < most_kept) kept_[place] = value;
}

std::optional<double> Gatherer::value() {
  using What = Gathered::What;
  if (count_ == 0) return std::nullopt;
  switch (what_.what) {
    case What::count:
      return static_cast<double>(what_.truth ? true_count_ : count_);
    case What::most:
      return most_;
    case What::least:
      return least_;
    case What::mean:
      return sum_ / static_cast<double>(count_);
    case What::last:
      return last_;
    case What::quantile:
      break;
  }
  const auto rank = static_cast<std::size_t>(std::ceil(what_.share * static_cast<double>(kept_.size())));
  const auto nth = kept_.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, kept_.size()) - 1);
  std::nth_element(kept_.begin(), nth, kept_.end());
  return *nth;
}

}  // namespace isochron::expect
