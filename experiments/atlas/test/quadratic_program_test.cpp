// The solver against what it promises, on random problems: the conditions of Karush, Kuhn and Tucker say of an x
// whether it is the minimum, whoever found it.

#include "experiments/atlas/quadratic_program.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace atlas {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Problem {
  MatrixXd H, A;  // A: a constraint in each row
  VectorXd g, b;
  int equalities = 0;
};

void fill(const Problem& p, QuadraticProgram& qp) {
  const auto n = static_cast<int>(p.g.size());
  qp.resize(n, p.equalities, static_cast<int>(p.b.size()) - p.equalities);
  qp.H.topLeftCorner(n, n) = p.H;
  qp.g.head(n) = p.g;
  for (int i = 0; i < p.b.size(); ++i) qp.A.col(i).head(n) = p.A.row(i).transpose();
  qp.b.head(p.b.size()) = p.b;
}

/// Feasible by construction: every constraint holds at a point of our choice.
Problem random_problem(std::mt19937& random, int n, int equalities, int inequalities) {
  std::normal_distribution<double> normal;
  auto draw = [&](int rows, int cols) {
    return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); }).eval();
  };
  const MatrixXd root = draw(n, n);
  const VectorXd inside = draw(n, 1);
  Problem p{root * root.transpose() + 0.01 * MatrixXd::Identity(n, n),
            draw(equalities + inequalities, n),
            10 * draw(n, 1),
            {},
            equalities};
  p.b = p.A * inside;
  for (int i = equalities; i < p.b.size(); ++i) p.b[i] -= std::abs(normal(random));
  return p;
}

void expect_minimum(const Problem& p, const QuadraticProgram& qp, unsigned seed) {
  const auto n = static_cast<int>(p.g.size());
  const VectorXd x = qp.x().head(n);
  VectorXd gradient = p.H * x + p.g;
  const double size = 1 + gradient.norm() + p.g.norm();
  for (int i = 0; i < p.b.size(); ++i) {
    const double slack = p.A.row(i).dot(x) - p.b[i];
    const double multiplier = qp.multiplier(i);
    EXPECT_GT(slack, -1e-7) << "row " << i << " seed " << seed;
    if (i < p.equalities) {
      EXPECT_NEAR(slack, 0, 1e-7) << "seed " << seed;
    } else {
      EXPECT_GE(multiplier, -1e-9) << "seed " << seed;
      EXPECT_NEAR(multiplier * slack, 0, 1e-6 * size) << "seed " << seed;
    }
    gradient -= multiplier * p.A.row(i).transpose();
  }
  EXPECT_LT(gradient.norm(), 1e-7 * size) << "seed " << seed;
}

TEST(QuadraticProgram, FindsTheMinimumOfRandomProblems) {
  QuadraticProgram qp(66, 110);
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const int n = 1 + static_cast<int>(random() % 20);
    const int equalities = static_cast<int>(random() % (static_cast<unsigned>(n) / 2 + 1));
    const Problem p = random_problem(random, n, equalities, static_cast<int>(random() % 40));
    fill(p, qp);
    ASSERT_EQ(qp.solve(), QpResult::solved) << "seed " << seed;
    expect_minimum(p, qp, seed);
  }
}

TEST(QuadraticProgram, SolvesOneOfAControllersSize) {
  QuadraticProgram qp(66, 110);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const Problem p = random_problem(random, 66, 6, 96);
    fill(p, qp);
    ASSERT_EQ(qp.solve(), QpResult::solved) << "seed " << seed;
    expect_minimum(p, qp, seed);
  }
}

TEST(QuadraticProgram, IsTheUnconstrainedMinimumWhenNothingBinds) {
  QuadraticProgram qp(2, 1);
  qp.resize(2, 0, 1);
  qp.H.setIdentity();
  qp.g << -1, -2;
  qp.A.col(0) << 1, 1;
  qp.b << -10;
  ASSERT_EQ(qp.solve(), QpResult::solved);
  EXPECT_EQ(qp.x()[0], 1);
  EXPECT_EQ(qp.x()[1], 2);
  EXPECT_EQ(qp.multiplier(0), 0);
}

TEST(QuadraticProgram, SaysWhenConstraintsContradictEachOther) {
  QuadraticProgram qp(1, 2);
  qp.resize(1, 0, 2);
  qp.H << 1;
  qp.A << 1, -1;
  qp.b << 1, 1;  // x ≥ 1 and −x ≥ 1
  EXPECT_EQ(qp.solve(), QpResult::infeasible);
}

TEST(QuadraticProgram, SaysWhenThereIsNoUniqueMinimum) {
  QuadraticProgram qp(2, 0);
  qp.resize(2, 0, 0);
  qp.H << 1, 1, 1, 1;
  EXPECT_EQ(qp.solve(), QpResult::not_convex);
}

TEST(QuadraticProgram, TakesARepeatedEqualityOnce) {
  QuadraticProgram qp(2, 2);
  qp.resize(2, 2, 0);
  qp.H.setIdentity();
  qp.A.col(0) << 1, 1;
  qp.A.col(1) << 2, 2;
  qp.b << 2, 4;
  ASSERT_EQ(qp.solve(), QpResult::solved);
  EXPECT_NEAR(qp.x()[0], 1, 1e-9);
  EXPECT_NEAR(qp.x()[1], 1, 1e-9);
}

TEST(QuadraticProgram, SolvesAnotherProblemAfterwards) {
  QuadraticProgram qp(20, 40);
  std::mt19937 random(7);
  for (int n : {20, 3, 11}) {
    const Problem p = random_problem(random, n, 1, 2 * n - 2);
    fill(p, qp);
    ASSERT_EQ(qp.solve(), QpResult::solved);
    expect_minimum(p, qp, 7);
  }
}

}  // namespace
}  // namespace atlas
