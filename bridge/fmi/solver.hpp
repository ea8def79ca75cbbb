#pragma once
// Solvers of ordinary differential equations x' = f(t, x), for FMUs that bring equations and no solver (model
// exchange). Event indicators are functions of t and x whose sign changes at events.
//
//   cvode   SUNDIALS' CVODE, BDF with Newton's method: steps of variable size, events located; for stiff equations too
//   rk4     the classic Runge-Kutta rule, steps of fixed size; events are taken at the end of the step they fall in
//
// Promises: the same results for the same calls, on one machine.
// Requires: restart() first, and after everything that changed states from outside.
// Fails:    std::runtime_error when a solver cannot go on; what the equations throw.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace isochron::fmi {

enum class SolverKind : std::uint8_t { cvode, rk4 };

class Equations {
 public:
  virtual ~Equations() = default;
  [[nodiscard]] virtual std::size_t state_count() const = 0;
  [[nodiscard]] virtual std::size_t indicator_count() const = 0;
  virtual void derivatives(double t, const double* x, double* dx) = 0;
  virtual void indicators(double t, const double* x, double* z) = 0;
  /// How large each state is, as a rule: what is small beside it does not matter.
  virtual void nominals(std::span<double> x) { std::ranges::fill(x, 1.0); }
  /// Whether they know their own Jacobian; if not, a solver that needs it takes differences.
  [[nodiscard]] virtual bool has_jacobian() const { return false; }
  /// columns[j][i] is how x'[i] changes with x[j].
  virtual void jacobian(double /*t*/, const double* /*x*/, std::span<double* const> /*columns*/) {}
};

class Solver {
 public:
  struct Settings {
    SolverKind kind = SolverKind::cvode;
    double tolerance = 1e-6;  // relative; the absolute one is a hundredth of it for each state's nominal value
    double step = 1e-3;       // of rk4
  };
  static std::unique_ptr<Solver> make(Equations& equations, const Settings& settings);
  virtual ~Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  virtual void restart(double t, std::span<const double> x) = 0;
  /// One step of its own size, not beyond `to`. Whether an event indicator changed its sign on the way.
  virtual bool step(double to) = 0;
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::span<const double> states() const { return states_; }

 protected:
  Solver() = default;
  double time_ = 0;
  std::vector<double> states_;
};

}  // namespace isochron::fmi
