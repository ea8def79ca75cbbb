#pragma once
// Paper 000's tree of schedulers: groups of programs inside groups, each with a rule of its own. Time is accounted up
// the tree: what a program executes is charged to each group it is in.
//
//        fair                       a gets two thirds of the core while both want it, b the rest;
//       /    \                      inside a, y runs only while x does not want to
//   a (2)     b (1)
//     |
//   fixed
//   /   \        policy: {fair: {a: {share: 2, fixed: [x, y]}, b: {share: 1}}}
//  x     y
//
//   fixed            the first in the list that can run
//   fair             by shares. Who slept has no claim to the time that it did not use.
//   least-progress   the one that executed least, however it came to that: who slept catches up
//
// Requires: every program of the robot stands in the tree exactly once; scenario/ checks that.

#include <cstdint>
#include <string>
#include <vector>

#include "programs/policy.hpp"

namespace isochron::programs {

/// A node of the tree as somebody describes it: a program, or a group with a rule.
struct PolicyGroup {
  enum class Rule : std::uint8_t { program, fixed, fair, least_progress };
  Rule rule = Rule::program;
  std::uint32_t member = 0;          // of a program: its number in its robot
  std::uint32_t share = 1;           // among its siblings under `fair`
  std::vector<PolicyGroup> members;  // of a group, in the order that breaks ties
};

class PolicyTree final : public Policy {
 public:
  PolicyTree(const PolicyGroup& root, std::size_t members, SimSpan slice);
  [[nodiscard]] Choice pick(std::span<const Candidate> ready, SimTime now) override;
  void charged(std::uint32_t member, SimSpan span) override;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Node {
    PolicyGroup::Rule rule = PolicyGroup::Rule::program;
    std::uint32_t parent = none;
    std::uint32_t share = 1;
    std::vector<std::uint32_t> children;
    std::int64_t used = 0;      // executed, divided by the share
    std::int64_t clock = 0;     // of a fair group: what the least of those that want to run has used
    bool ready = false;         // something in it can run
    bool was_ready = false;     // when it was last looked at
    std::size_t candidate = 0;  // of a program that is ready
  };
  std::uint32_t add(const PolicyGroup& group, std::uint32_t parent);
  void mark(std::span<const Candidate> ready);
  [[nodiscard]] std::uint32_t choose(Node& node, bool& contested);

  SimSpan slice_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> leaf_of_;  // by member
};

}  // namespace isochron::programs
