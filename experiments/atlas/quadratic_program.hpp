#pragma once
// A small dense solver for strictly convex quadratic programs,
//
//     minimise  ½ x'Hx + g'x   such that   A_i x = b_i  for the first `equalities` rows,  A_i x ≥ b_i  for the others,
//
// by the dual method of Goldfarb and Idnani (1983): it begins at the unconstrained minimum and takes in one violated
// constraint after the other, dropping those whose multiplier would turn negative. The active constraints' normals are
// kept as a triangular factor R and an orthogonal basis J of the metric H, both updated by Givens rotations.
//
//     J' N = | R |     J J' = H⁻¹     N: normals of the active constraints
//            | 0 |
//
// Every dual step increases the objective, so no active set comes twice and it ends; `most_steps` bounds it all the
// same, because a controller must have an answer.
//
// Promises: on `solved` all constraints hold to 1e-9 of their size and x is the only minimiser.
// Requires: H symmetric and positive definite (its lower half is read).
// Threads:  owner. Cost: no allocation after the constructor; O(n³/6) once and O(n²) for each step.
// Fails:    `not_convex`, `infeasible` and `too_long` leave x where it got to.

#include <Eigen/Core>
#include <vector>

namespace atlas {

enum class QpResult { solved, infeasible, not_convex, too_long };
const char* to_string(QpResult result);

class QuadraticProgram {
 public:
  QuadraticProgram(int most_variables, int most_constraints);

  /// Sets the sizes and clears H, g, A and b.
  void resize(int variables, int equalities, int inequalities);

  // What the caller fills after resize(); parts beyond the sizes are not read.
  Eigen::MatrixXd H;
  Eigen::VectorXd g;
  Eigen::MatrixXd A;  // one constraint in each *column*, so that it is contiguous
  Eigen::VectorXd b;

  QpResult solve();
  [[nodiscard]] const Eigen::VectorXd& x() const { return x_; }
  /// Multipliers of the constraints that are active, by row; 0 elsewhere.
  [[nodiscard]] double multiplier(int row) const;
  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] int variables() const { return n_; }

 private:
  bool factorise();
  void unconstrained_minimum();
  [[nodiscard]] int most_violated() const;
  QpResult take_in(int row);
  void direction(int row);
  [[nodiscard]] double longest_dual_step(int& blocking) const;
  void activate(int row, double multiplier);
  void drop(int position);
  [[nodiscard]] double slack(int row) const;
  [[nodiscard]] double tolerance(int row) const;

  static constexpr int most_steps = 400;
  int n_ = 0, equalities_ = 0, constraints_ = 0;
  Eigen::MatrixXd L_, J_, R_;
  Eigen::VectorXd x_, d_, z_, r_, u_, scale_;
  std::vector<int> active_;      // rows, in the order of R's columns
  std::vector<char> is_active_;  // by row
  std::vector<double> sign_;     // −1 where an equality was approached from above
  int q_ = 0;                    // how many are active
  int steps_ = 0;
};

}  // namespace atlas
