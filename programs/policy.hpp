#pragma once
// A Policy is one node of the scheduling tree: which of the programs that share a virtual CPU runs now, and for how
// long before it is asked again.
//
//   FixedPriority   what a robot's operating system does: the most urgent runs; equals take turns of one quantum
//   LeastProgress   the one that executed least runs: everybody gets the same
//   PolicyTree      groups inside groups, each with a rule and a share of its own; see policy_tree.hpp
//   own             a user's shared library; see policy_library.hpp
//
// Promises: what is picked depends on what the policy was told, in order, and on nothing else, so that a run repeats.
// Threads:  the coordinator's. Cost: no allocation after set-up.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/time.hpp"

namespace isochron::programs {

/// A program that could run now.
struct Candidate {
  std::uint32_t program = 0;  // as the timeline numbers it
  std::uint32_t member = 0;   // as its robot numbers it
  int priority = 0;           // greater is more urgent
  SimSpan executed;           // charged so far
  SimTime ready_since;        // when it last became ready
  std::uint64_t queued = 0;   // its place in the queue: new when it becomes ready, and when its slice is over
  bool running = false;       // it is the one that runs already
};

struct Choice {
  std::size_t index = 0;           // into what was offered
  SimSpan slice = SimSpan::max();  // executed time after which to ask again although nothing happened
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// `ready` is never empty and in declared order; `now` is the virtual CPU's time.
  [[nodiscard]] virtual Choice pick(std::span<const Candidate> ready, SimTime now) = 0;
  /// A program of the robot was charged with this much.
  virtual void charged(std::uint32_t /*member*/, SimSpan /*span*/) {}
};

/// A policy for each core of a robot.
using MakePolicy = std::function<std::unique_ptr<Policy>()>;

/// The most urgent; equals in the order of the queue, for one slice each.
class FixedPriority final : public Policy {
 public:
  explicit FixedPriority(SimSpan slice = std::chrono::milliseconds(1)) : slice_(slice) {}
  [[nodiscard]] Choice pick(std::span<const Candidate> ready, SimTime now) override;

 private:
  SimSpan slice_;
};

/// The one that has executed least; asked again after each slice.
class LeastProgress final : public Policy {
 public:
  explicit LeastProgress(SimSpan slice = std::chrono::milliseconds(1)) : slice_(slice) {}
  [[nodiscard]] Choice pick(std::span<const Candidate> ready, SimTime now) override;

 private:
  SimSpan slice_;
};

}  // namespace isochron::programs
