#pragma once
// A Policy is one node of the scheduling tree: which of the programs that share a virtual CPU runs now, and for how
// long before it is asked again. Two are built in, as in the paper: strict priority, which is what a robot's operating
// system does, and least progress, which shares fairly. A user's own policy is another class of this kind.
//
// Promises: pick() depends on its argument alone, so that a run repeats.

#include <cstdint>
#include <memory>
#include <span>

#include "core/time.hpp"

namespace isochron::coordinator {

/// A program that could run now.
struct Candidate {
  std::uint32_t program = 0;
  int priority = 0;      // greater is more urgent
  SimSpan executed;      // charged so far
  SimTime ready_since;   // when it last became ready
  bool running = false;  // it is the one that runs already
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Index into `ready`, which is never empty and in declared order.
  [[nodiscard]] virtual std::size_t pick(std::span<const Candidate> ready) const = 0;
  /// Executed time after which to ask again although nothing happened; max() = never.
  [[nodiscard]] virtual SimSpan slice() const { return SimSpan::max(); }
};

/// The most urgent; among equals the one that runs, then the one that has been ready longest.
class FixedPriority final : public Policy {
 public:
  [[nodiscard]] std::size_t pick(std::span<const Candidate> ready) const override;
};

/// The one that has executed least; asked again after each slice.
class LeastProgress final : public Policy {
 public:
  explicit LeastProgress(SimSpan slice = std::chrono::milliseconds(1)) : slice_(slice) {}
  [[nodiscard]] std::size_t pick(std::span<const Candidate> ready) const override;
  [[nodiscard]] SimSpan slice() const override { return slice_; }

 private:
  SimSpan slice_;
};

}  // namespace isochron::coordinator
