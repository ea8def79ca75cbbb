#pragma once
// An expression made ready to be evaluated many times: operations in the order in which they are done, on a stack.
//
// Threads: constant after it was made: any. Cost: evaluate() is a few nanoseconds for each operation; never allocates.

#include <cstdint>
#include <span>
#include <vector>

namespace isochron::expect {

enum class Operation : std::uint8_t {
  constant,
  operand,
  time,
  negate,
  add,
  subtract,
  multiply,
  divide,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  equal,
  not_equal,
  both,
  either,
  invert,
  absolute,
  root,
  least,
  most,
  distance,  // of six numbers: x y z of one, x y z of the other
  length     // of three numbers
};

class Program {
 public:
  static constexpr std::size_t deepest = 512;

  void add(Operation operation) { steps_.push_back({operation, 0, 0}); }
  void add_constant(double value) { steps_.push_back({Operation::constant, 0, value}); }
  void add_operand(std::size_t index) {
    steps_.push_back({Operation::operand, static_cast<std::uint32_t>(index), 0});
    if (!uses(index)) operands_.push_back(static_cast<std::uint32_t>(index));
  }
  /// How many values are on the stack at most.
  [[nodiscard]] std::size_t depth() const;
  /// The operands that it reads.
  [[nodiscard]] const std::vector<std::uint32_t>& operands() const { return operands_; }

  /// Requires: depth() <= deepest. `seconds`: what `time` is. Truth is 0 or 1.
  [[nodiscard]] double evaluate(std::span<const double> operands, double seconds) const;

 private:
  struct Step {
    Operation operation;
    std::uint32_t operand;
    double value;
  };
  [[nodiscard]] bool uses(std::size_t index) const;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> operands_;
};

}  // namespace isochron::expect
