#pragma once
// A line with more points than a screen has columns, made smaller without lying: of each bucket of time the least and
// the greatest value are kept, each at its own time, so that no peak is lost.
//
// Promises: a series of at most 2 × buckets points is given as it is.

#include <cmath>
#include <utility>
#include <vector>

namespace isochron::view {

struct PlotLine {
  std::vector<double> times, values;
};

class Decimator {
 public:
  Decimator(double from, double to, std::size_t buckets)
      : from_(from), width_(buckets > 0 && to > from ? (to - from) / static_cast<double>(buckets) : 0) {}

  void add(double time, double value) {
    if (!std::isfinite(value)) return;
    const double bucket = width_ > 0 ? std::floor((time - from_) / width_) : time;
    if (has_ && bucket != bucket_) flush();
    bucket_ = bucket;
    if (!has_) {
      low_ = high_ = {time, value};
      has_ = true;
    }
    if (value < low_.second) low_ = {time, value};
    if (value > high_.second) high_ = {time, value};
  }
  PlotLine finish() {
    if (has_) flush();
    return std::move(line_);
  }

 private:
  void flush() {
    const bool low_first = low_.first <= high_.first;
    put(low_first ? low_ : high_);
    if (low_ != high_) put(low_first ? high_ : low_);
    has_ = false;
  }
  void put(const std::pair<double, double>& point) {
    line_.times.push_back(point.first);
    line_.values.push_back(point.second);
  }

  double from_, width_;
  double bucket_ = 0;
  bool has_ = false;
  std::pair<double, double> low_, high_;
  PlotLine line_;
};

}  // namespace isochron::view
