#pragma once
// How the programs of a robot share its computer, as a scenario says it: one word, a tree of groups, or a library.
//
//     policy: fixed-priority
//     policy: {fair: {drive: {share: 2, fixed: [steer, brake]}, map: {share: 1}}}
//     policy: {library: my_policy}

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/section.hpp"

namespace isochron {

enum class PolicyWord : std::uint8_t { fixed_priority, least_progress };
template <>
struct Words<PolicyWord> {
  static constexpr std::array<const char*, 2> list{"fixed-priority", "least-progress"};
};

/// A node of the tree: a program, if it has no rule, or a group of others.
struct PolicyGroupSection {
  enum class Rule : std::uint8_t { none, fixed, fair, least_progress };
  Place place;
  std::string name;
  Rule rule = Rule::none;
  std::uint32_t share = 1;
  std::vector<PolicyGroupSection> members;
};

struct PolicySection {
  Place place;
  PolicyWord word = PolicyWord::fixed_priority;
  std::optional<PolicyGroupSection> tree;
  LibraryPath library;
};

/// The programs in the tree, each once and no others; says what is wrong.
void check_policy(const PolicySection& policy, const std::vector<std::string>& programs,
                  std::vector<Mistake>& mistakes);

}  // namespace isochron
