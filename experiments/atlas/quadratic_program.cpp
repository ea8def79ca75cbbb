#include "experiments/atlas/quadratic_program.hpp"

#include <cmath>
#include <limits>

namespace atlas {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Givens {
  double c = 1, s = 0;
  /// Turns (a, b) into (length, 0).
  static Givens zeroing(double& a, double& b) {
    const double length = std::hypot(a, b);
    if (length == 0) return {};
    const Givens rotation{a / length, b / length};
    a = length;
    b = 0;
    return rotation;
  }
  void apply(double& a, double& b) const {
    const double first = c * a + s * b;
    b = -s * a + c * b;
    a = first;
  }
  void apply_to_columns(Eigen::MatrixXd& m, int i, int j, int rows) const {
    double* a = m.col(i).data();
    double* b = m.col(j).data();
    for (int k = 0; k < rows; ++k) apply(a[k], b[k]);
  }
};

}  // namespace

const char* to_string(QpResult result) {
  switch (result) {
    case QpResult::solved:
      return "solved";
    case QpResult::infeasible:
      return "infeasible";
    case QpResult::not_convex:
      return "not convex";
    case QpResult::too_long:
      return "too long";
  }
  return "";
}

QuadraticProgram::QuadraticProgram(int most_variables, int most_constraints) {
  const int n = most_variables, m = most_constraints;
  H.setZero(n, n);
  g.setZero(n);
  A.setZero(n, m);
  b.setZero(m);
  L_.setZero(n, n);
  J_.setZero(n, n);
  R_.setZero(n, n);
  for (Eigen::VectorXd* vector : {&x_, &d_, &z_, &r_, &u_}) vector->setZero(n + 1);
  scale_.setZero(m);
  active_.assign(static_cast<std::size_t>(n), 0);
  is_active_.assign(static_cast<std::size_t>(m), 0);
  sign_.assign(static_cast<std::size_t>(m), 1);
}

void QuadraticProgram::resize(int variables, int equalities, int inequalities) {
  n_ = variables;
  equalities_ = equalities;
  constraints_ = equalities + inequalities;
  H.topLeftCorner(n_, n_).setZero();
  g.head(n_).setZero();
  A.topLeftCorner(n_, constraints_).setZero();
  b.head(constraints_).setZero();
}

double QuadraticProgram::multiplier(int row) const {
  for (int i = 0; i < q_; ++i) {
    if (active_[static_cast<std::size_t>(i)] == row) return sign_[static_cast<std::size_t>(row)] * u_[i];
  }
  return 0;
}

/// H = L L', column by column.
bool QuadraticProgram::factorise() {
  for (int j = 0; j < n_; ++j) L_.col(j).segment(j, n_ - j) = H.col(j).segment(j, n_ - j);
  for (int j = 0; j < n_; ++j) {
    const double pivot = L_(j, j);
    if (!(pivot > 1e-14 * (1 + std::abs(H(j, j))))) return false;
    L_.col(j).segment(j, n_ - j) /= std::sqrt(pivot);
    for (int k = j + 1; k < n_; ++k) L_.col(k).segment(k, n_ - k) -= L_(k, j) * L_.col(j).segment(k, n_ - k);
  }
  // J = L⁻ᵀ: column j of L⁻¹ is row j of J.
  for (int j = 0; j < n_; ++j) {
    J_.col(j).head(n_).setZero();
    J_(j, j) = 1 / L_(j, j);
    for (int i = j - 1; i >= 0; --i) {
      J_(i, j) = -L_.col(i).segment(i + 1, j - i).dot(J_.col(j).segment(i + 1, j - i)) / L_(i, i);
    }
  }
  return true;
}

/// x = −J J' g.
void QuadraticProgram::unconstrained_minimum() {
  x_.head(n_).setZero();
  for (int j = 0; j < n_; ++j) x_.head(n_) -= J_.col(j).head(n_).dot(g.head(n_)) * J_.col(j).head(n_);
}

double QuadraticProgram::slack(int row) const { return A.col(row).head(n_).dot(x_.head(n_)) - b[row]; }

double QuadraticProgram::tolerance(int row) const { return 1e-9 * scale_[row]; }

/// Equalities first, in order; then the inequality that is violated most for its size; −1 when none is.
int QuadraticProgram::most_violated() const {
  for (int row = 0; row < equalities_; ++row) {
    if (is_active_[static_cast<std::size_t>(row)] == 0 && std::abs(slack(row)) > tolerance(row)) return row;
  }
  int worst = -1;
  double most = 0;
  for (int row = equalities_; row < constraints_; ++row) {
    if (is_active_[static_cast<std::size_t>(row)] != 0) continue;
    const double violation = -slack(row);
    if (violation <= tolerance(row) || violation / scale_[row] <= most) continue;
    most = violation / scale_[row];
    worst = row;
  }
  return worst;
}

/// d = J'n, z = J₂ d₂ (the primal direction), r = R⁻¹ d₁ (how the active multipliers change).
void QuadraticProgram::direction(int row) {
  const double sign = sign_[static_cast<std::size_t>(row)];
  for (int j = 0; j < n_; ++j) d_[j] = sign * J_.col(j).head(n_).dot(A.col(row).head(n_));
  z_.head(n_).setZero();
  for (int j = q_; j < n_; ++j) z_.head(n_) += d_[j] * J_.col(j).head(n_);
  r_.head(q_) = d_.head(q_);
  for (int i = q_ - 1; i >= 0; --i) {
    r_[i] /= R_(i, i);
    r_.head(i) -= r_[i] * R_.col(i).head(i);
  }
}

double QuadraticProgram::longest_dual_step(int& blocking) const {
  double longest = infinite;
  blocking = -1;
  for (int i = 0; i < q_; ++i) {
    if (active_[static_cast<std::size_t>(i)] < equalities_ || r_[i] <= 0) continue;
    if (u_[i] / r_[i] >= longest) continue;
    longest = u_[i] / r_[i];
    blocking = i;
  }
  return longest;
}

QpResult QuadraticProgram::take_in(int row) {
  const auto index = static_cast<std::size_t>(row);
  sign_[index] = row < equalities_ && slack(row) > 0 ? -1 : 1;
  double multiplier = 0;
  while (true) {
    if (++steps_ > most_steps) return QpResult::too_long;
    direction(row);
    int blocking = -1;
    const double dual = longest_dual_step(blocking);
    const double moves = sign_[index] * A.col(row).head(n_).dot(z_.head(n_));
    const bool can_move = d_.segment(q_, n_ - q_).squaredNorm() > 1e-18 * d_.head(n_).squaredNorm();
    const double primal = can_move ? -sign_[index] * slack(row) / moves : infinite;
    const double step = std::min(dual, primal);
    if (step == infinite) return QpResult::infeasible;
    if (can_move) x_.head(n_) += step * z_.head(n_);
    u_.head(q_) -= step * r_.head(q_);
    multiplier += step;
    if (primal <= dual) {
      activate(row, multiplier);
      return QpResult::solved;
    }
    drop(blocking);
  }
}

/// Rotates d₂ into its first element: that column of J is spent on the new constraint.
void QuadraticProgram::activate(int row, double multiplier) {
  for (int j = n_ - 1; j > q_; --j) Givens::zeroing(d_[j - 1], d_[j]).apply_to_columns(J_, j - 1, j, n_);
  R_.col(q_).head(q_ + 1) = d_.head(q_ + 1);
  active_[static_cast<std::size_t>(q_)] = row;
  is_active_[static_cast<std::size_t>(row)] = 1;
  u_[q_++] = multiplier;
}

/// Takes a column out of R and rotates what is left back into a triangle.
void QuadraticProgram::drop(int position) {
  is_active_[static_cast<std::size_t>(active_[static_cast<std::size_t>(position)])] = 0;
  --q_;
  for (int j = position; j < q_; ++j) {
    active_[static_cast<std::size_t>(j)] = active_[static_cast<std::size_t>(j) + 1];
    u_[j] = u_[j + 1];
    R_.col(j).head(j + 2) = R_.col(j + 1).head(j + 2);
  }
  for (int j = position; j < q_; ++j) {
    const Givens rotation = Givens::zeroing(R_(j, j), R_(j + 1, j));
    for (int k = j + 1; k < q_; ++k) rotation.apply(R_(j, k), R_(j + 1, k));
    rotation.apply_to_columns(J_, j, j + 1, n_);
  }
}

QpResult QuadraticProgram::solve() {
  q_ = 0;
  steps_ = 0;
  for (int row = 0; row < constraints_; ++row) {
    is_active_[static_cast<std::size_t>(row)] = 0;
    scale_[row] = 1 + A.col(row).head(n_).norm() + std::abs(b[row]);
  }
  if (!factorise()) return QpResult::not_convex;
  unconstrained_minimum();
  for (int row = most_violated(); row >= 0; row = most_violated()) {
    if (const QpResult result = take_in(row); result != QpResult::solved) return result;
  }
  return QpResult::solved;
}

}  // namespace atlas
