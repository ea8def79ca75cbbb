#pragma once
// How figures are measured. A benchmark is a function that adds figures to a Report; each figure says what it is
// compared with, measured in the same run, because the machines are shared and only ratios can be trusted. The group's
// function stands next to the code (flow/bench/…), the table of groups in apps/isochron/bench.cpp.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace isochron::bench {

struct Figure {
  std::string name;  // topology and quantity: ring_8_steps_per_s
  double value = 0;
  std::string unit;             // ns, 1/s, MB/s, x
  std::string versus;           // what it is compared with; "" = nothing
  std::optional<double> ratio;  // value to that of `versus`
  std::string target;           // as people write it: "<= 50 ns", ">= 0.7 x"; "" = reported only
  bool ok = true;               // the target was met
};

class Report {
 public:
  explicit Report(bool long_run, std::function<void(const Figure&)> on_figure = {});

  /// Whether more than a minute may be spent.
  [[nodiscard]] bool long_run() const { return long_run_; }

  /// A value with an upper or a lower bound; NaN = none.
  void at_most(std::string name, double value, std::string unit, double bound);
  void at_least(std::string name, double value, std::string unit, double bound);
  /// A value whose ratio to another, measured in the same run, has a bound.
  void ratio_at_most(std::string name, double value, std::string unit, std::string versus, double other, double bound);
  void ratio_at_least(std::string name, double value, std::string unit, std::string versus, double other, double bound);
  /// A value without a target, as found.
  void found(std::string name, double value, std::string unit, std::string versus = "");

  [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }

 private:
  void add(Figure figure);
  bool long_run_;
  std::function<void(const Figure&)> on_figure_;
  std::vector<Figure> figures_;
};

/// Nanoseconds for one call of f, the least of several rounds (noise only adds). f is called `calls` times a round.
double ns_per_call(std::uint64_t calls, const std::function<void()>& round, int rounds = 5);

/// The median of n measurements of two things taken in turn, so that noise meets both alike: {a, b}.
std::pair<double, double> side_by_side(int n, const std::function<double()>& a, const std::function<double()>& b);

/// Keeps the compiler from removing a computation whose result nobody uses.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace isochron::bench
