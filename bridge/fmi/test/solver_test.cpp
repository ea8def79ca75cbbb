// The solvers of model exchange on equations that are known to be hard.

#include "bridge/fmi/solver.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/build_parts.hpp"

namespace isochron::fmi {
namespace {

/// Robertson's reaction: rates from 0.04 to 3e7, and a state that never gets larger than 4e-5.
class Robertson final : public Equations {
 public:
  explicit Robertson(double small) : small_(small) {}
  [[nodiscard]] std::size_t state_count() const override { return 3; }
  [[nodiscard]] std::size_t indicator_count() const override { return 0; }
  void derivatives(double, const double* x, double* dx) override {
    dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
    dx[2] = 3e7 * x[1] * x[1];
    dx[1] = -dx[0] - dx[2];
  }
  void indicators(double, const double*, double*) override {}
  void nominals(std::span<double> x) override {
    x[0] = 1;
    x[1] = small_;
    x[2] = 1;
  }

 private:
  double small_;
};

std::array<double, 3> after(double seconds, double small) {
  Robertson equations(small);
  const auto solver = Solver::make(equations, {SolverKind::cvode, 1e-6, 1e-3});
  const std::array<double, 3> start{1, 0, 0};
  solver->restart(0, start);
  while (solver->time() < seconds) solver->step(seconds);
  return {solver->states()[0], solver->states()[1], solver->states()[2]};
}

TEST(Solver, CvodeFollowsStatesThatAreSmallAsARule) {
  if (!has_part("CVODE")) GTEST_SKIP() << "this build has no CVODE";
  for (const double small : {1.0, 1e-5}) {  // published values; without nominal values the tolerance must do as well
    const auto x = after(40, small);
    EXPECT_NEAR(x[0], 0.7158, 2e-4) << small;
    EXPECT_NEAR(x[1], 9.185e-6, 2e-8) << small;
    EXPECT_NEAR(x[2], 0.2842, 2e-4) << small;
    const auto later = after(4000, small);
    EXPECT_NEAR(later[0], 0.1832, 2e-4) << small;
    EXPECT_NEAR(later[1], 8.942e-7, 5e-9) << small;
  }
}

TEST(Solver, NominalValuesThatAreNoneAreTakenAsOne) {
  if (!has_part("CVODE")) GTEST_SKIP() << "this build has no CVODE";
  const auto x = after(40, 0);
  EXPECT_NEAR(x[0], 0.7158, 2e-4);
}

/// The same, and it knows its Jacobian.
class Differentiable final : public Equations {
 public:
  explicit Differentiable(bool knows) : knows_(knows) {}
  [[nodiscard]] std::size_t state_count() const override { return 3; }
  [[nodiscard]] std::size_t indicator_count() const override { return 0; }
  void derivatives(double t, const double* x, double* dx) override { reaction_.derivatives(t, x, dx); }
  void indicators(double, const double*, double*) override {}
  [[nodiscard]] bool has_jacobian() const override { return knows_; }
  void jacobian(double, const double* x, std::span<double* const> columns) override {
    ++jacobians;
    const double to_first[] = {-0.04, 1e4 * x[2], 1e4 * x[1]}, to_last[] = {0, 6e7 * x[1], 0};
    for (std::size_t j = 0; j < columns.size(); ++j) {
      columns[j][0] = to_first[j];
      columns[j][1] = -to_first[j] - to_last[j];
      columns[j][2] = to_last[j];
    }
  }
  int jacobians = 0;

 private:
  bool knows_;
  Robertson reaction_{1e-5};
};

TEST(Solver, CvodeUsesTheJacobianThatIsGiven) {
  if (!has_part("CVODE")) GTEST_SKIP() << "this build has no CVODE";
  for (const bool knows : {false, true}) {
    Differentiable equations(knows);
    const auto solver = Solver::make(equations, {SolverKind::cvode, 1e-6, 1e-3});
    solver->restart(0, std::array<double, 3>{1, 0, 0});
    while (solver->time() < 40) solver->step(40);
    EXPECT_NEAR(solver->states()[0], 0.7158, 2e-4);
    EXPECT_EQ(equations.jacobians > 0, knows);
  }
}

}  // namespace
}  // namespace isochron::fmi
