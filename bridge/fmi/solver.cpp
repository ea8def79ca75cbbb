#include "bridge/fmi/solver.hpp"

#include <algorithm>
#include <cmath>

#include "bridge/fmi/cvode.hpp"

namespace isochron::fmi {
namespace {

class RungeKutta final : public Solver {
 public:
  RungeKutta(Equations& equations, double step) : equations_(equations), step_(step) {
    const std::size_t n = equations.state_count();
    for (auto* slopes : {&k1_, &k2_, &k3_, &k4_, &x_}) slopes->resize(n);
    before_.resize(equations.indicator_count());
    after_.resize(equations.indicator_count());
  }

  void restart(double t, std::span<const double> x) override {
    time_ = t;
    states_.assign(x.begin(), x.end());
    equations_.indicators(time_, states_.data(), before_.data());
  }

  bool step(double to) override {
    // What is left is cut into steps of equal size, so that no step is a hair's breadth.
    const double h = (to - time_) / std::max(1.0, std::ceil((to - time_) / step_ - 1e-9));
    const bool last = h >= to - time_ - 1e-12 * std::abs(to);
    const double half = time_ + h / 2, next = last ? to : time_ + h;
    equations_.derivatives(time_, states_.data(), k1_.data());
    slope(k1_, h / 2, half, k2_);
    slope(k2_, h / 2, half, k3_);
    slope(k3_, h, next, k4_);
    for (std::size_t i = 0; i < states_.size(); ++i) states_[i] += h / 6 * (k1_[i] + 2 * k2_[i] + 2 * k3_[i] + k4_[i]);
    time_ = next;
    equations_.indicators(time_, states_.data(), after_.data());
    bool crossed = false;
    for (std::size_t i = 0; i < after_.size(); ++i) crossed = crossed || (before_[i] > 0) != (after_[i] > 0);
    before_.swap(after_);
    return crossed;
  }

 private:
  void slope(const std::vector<double>& from, double h, double t, std::vector<double>& to) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = states_[i] + h * from[i];
    equations_.derivatives(t, x_.data(), to.data());
  }

  Equations& equations_;
  double step_;
  std::vector<double> k1_, k2_, k3_, k4_, x_, before_, after_;
};

}  // namespace

std::unique_ptr<Solver> Solver::make(Equations& equations, const Settings& settings) {
  if (settings.kind == SolverKind::cvode && equations.state_count() > 0) {
    return make_cvode(equations, settings.tolerance);
  }
  return std::make_unique<RungeKutta>(equations, settings.step);
}

}  // namespace isochron::fmi
