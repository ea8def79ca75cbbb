#include "bench/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace isochron::bench {
namespace {

double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::string bound_text(const char* relation, double bound, const std::string& unit) {
  if (std::isnan(bound)) return "";
  char text[64];
  std::snprintf(text, sizeof text, "%s %g %s", relation, bound, unit.c_str());
  return text;
}

}  // namespace

Report::Report(bool long_run, std::function<void(const Figure&)> on_figure)
    : long_run_(long_run), on_figure_(std::move(on_figure)) {}

void Report::add(Figure figure) {
  figures_.push_back(std::move(figure));
  if (on_figure_) on_figure_(figures_.back());
}

void Report::at_most(std::string name, double value, std::string unit, double bound) {
  const bool ok = std::isnan(bound) || value <= bound;
  add({std::move(name), value, unit, "", {}, bound_text("<=", bound, unit), ok});
}

void Report::at_least(std::string name, double value, std::string unit, double bound) {
  const bool ok = std::isnan(bound) || value >= bound;
  add({std::move(name), value, unit, "", {}, bound_text(">=", bound, unit), ok});
}

void Report::ratio_at_most(std::string name, double value, std::string unit, std::string versus, double other,
                           double bound) {
  const double ratio = value / other;
  const bool ok = std::isnan(bound) || ratio <= bound;
  add({std::move(name), value, std::move(unit), std::move(versus), ratio, bound_text("<=", bound, "x"), ok});
}

void Report::ratio_at_least(std::string name, double value, std::string unit, std::string versus, double other,
                            double bound) {
  const double ratio = value / other;
  const bool ok = std::isnan(bound) || ratio >= bound;
  add({std::move(name), value, std::move(unit), std::move(versus), ratio, bound_text(">=", bound, "x"), ok});
}

void Report::found(std::string name, double value, std::string unit, std::string versus) {
  add({std::move(name), value, std::move(unit), std::move(versus), {}, "", true});
}

double ns_per_call(std::uint64_t calls, const std::function<void()>& round, int rounds) {
  double least = INFINITY;
  for (int i = 0; i < rounds; ++i) {
    const double start = now_ns();
    round();
    least = std::min(least, now_ns() - start);
  }
  return least / static_cast<double>(calls);
}

std::pair<double, double> side_by_side(int n, const std::function<double()>& a, const std::function<double()>& b) {
  std::vector<double> as, bs;
  for (int i = 0; i < n; ++i) {
    as.push_back(a());
    bs.push_back(b());
  }
  return {median(as), median(bs)};
}

}  // namespace isochron::bench
