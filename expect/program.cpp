#include "expect/program.hpp"

#include <algorithm>
#include <cmath>

namespace isochron::expect {
namespace {

/// How many values an operation takes; each leaves one.
int taken_by(Operation operation) {
  switch (operation) {
    case Operation::constant:
    case Operation::operand:
    case Operation::time:
      return 0;
    case Operation::negate:
    case Operation::invert:
    case Operation::absolute:
    case Operation::root:
      return 1;
    case Operation::length:
      return 3;
    case Operation::distance:
      return 6;
    default:
      return 2;
  }
}

double of_two(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::less:
      return a < b ? 1 : 0;
    case Operation::less_or_equal:
      return a <= b ? 1 : 0;
    case Operation::greater:
      return a > b ? 1 : 0;
    case Operation::greater_or_equal:
      return a >= b ? 1 : 0;
    case Operation::equal:
      return a == b ? 1 : 0;
    case Operation::not_equal:
      return a != b ? 1 : 0;
    case Operation::both:
      return a != 0 && b != 0 ? 1 : 0;
    case Operation::either:
      return a != 0 || b != 0 ? 1 : 0;
    case Operation::least:
      return a < b ? a : b;
    default:  // most
      return a > b ? a : b;
  }
}

double of_one(Operation operation, double a) {
  switch (operation) {
    case Operation::negate:
      return -a;
    case Operation::invert:
      return a == 0 ? 1 : 0;
    case Operation::root:
      return std::sqrt(a);
    default:  // absolute
      return std::fabs(a);
  }
}

double squared(double x) { return x * x; }

}  // namespace

bool Program::uses(std::size_t index) const { return std::ranges::find(operands_, index) != operands_.end(); }

std::size_t Program::depth() const {
  std::size_t now = 0, most = 0;
  for (const Step& step : steps_) {
    now = now + 1 - static_cast<std::size_t>(taken_by(step.operation));
    most = std::max(most, now);
  }
  return most;
}

double Program::evaluate(std::span<const double> operands, double seconds) const {
  double stack[deepest];
  std::size_t top = 0;  // values on the stack
  for (const Step& step : steps_) {
    switch (step.operation) {
      case Operation::constant:
        stack[top++] = step.value;
        break;
      case Operation::operand:
        stack[top++] = operands[step.operand];
        break;
      case Operation::time:
        stack[top++] = seconds;
        break;
      case Operation::negate:
      case Operation::invert:
      case Operation::absolute:
      case Operation::root:
        stack[top - 1] = of_one(step.operation, stack[top - 1]);
        break;
      case Operation::length: {
        const double* v = stack + top - 3;
        stack[top - 3] = std::sqrt(squared(v[0]) + squared(v[1]) + squared(v[2]));
        top -= 2;
        break;
      }
      case Operation::distance: {
        const double* v = stack + top - 6;
        stack[top - 6] = std::sqrt(squared(v[0] - v[3]) + squared(v[1] - v[4]) + squared(v[2] - v[5]));
        top -= 5;
        break;
      }
      default:
        stack[top - 2] = of_two(step.operation, stack[top - 2], stack[top - 1]);
        --top;
    }
  }
  return top == 0 ? 0 : stack[0];
}

}  // namespace isochron::expect
