#include "scenario/policy_section.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace isochron {

namespace {

using Rule = PolicyGroupSection::Rule;
constexpr std::size_t deepest = 16;
constexpr std::uint32_t largest_share = 1'000'000;

Rule rule_of(const std::string& key) {
  if (key == "fixed") return Rule::fixed;
  if (key == "fair") return Rule::fair;
  if (key == "least-progress") return Rule::least_progress;
  return Rule::none;
}

/// Reads the groups of one policy; collects mistakes.
class GroupReader {
 public:
  explicit GroupReader(std::vector<Mistake>& mistakes) : mistakes_(mistakes) {}

  /// {RULE: members} and, below the root, `share`.
  void read_group(const Value& value, PolicyGroupSection& group, std::size_t depth) {
    group.place = value.place;
    if (value.kind == Value::Kind::null) return;
    if (value.kind != Value::Kind::map) return say(value.place, "a share or a group is expected here", example);
    if (depth > deepest) return say(value.place, "the groups are nested too deeply", "");
    for (const Value::Entry& entry : value.entries) {
      if (entry.key == "share" && depth > 0) {
        read_share(entry.value, group.share);
      } else if (const Rule rule = rule_of(entry.key); rule == Rule::none) {
        say(entry.key_place, "unknown key `" + entry.key + "`",
            nearest_hint(entry.key, {"fixed", "fair", "least-progress", depth > 0 ? "share" : "library"}));
      } else if (group.rule != Rule::none) {
        say(entry.key_place, "a group has one rule", "nest another group for `" + entry.key + "`");
      } else {
        group.rule = rule;
        read_members(entry.value, group, depth);
      }
    }
  }

 private:
  static constexpr const char* example = "as in {fair: {a: {share: 2, fixed: [x, y]}, b: {share: 1}}}";

  void read_members(const Value& value, PolicyGroupSection& group, std::size_t depth) {
    if (value.kind == Value::Kind::list) {
      for (const Value& item : value.items) {
        if (item.kind != Value::Kind::scalar) {
          say(item.place, "the name of a program is expected here", "a group goes into a map: " + std::string(example));
          continue;
        }
        group.members.push_back({item.place, item.scalar, Rule::none, 1, {}});
      }
    } else if (value.kind == Value::Kind::map) {
      for (const Value::Entry& entry : value.entries) {
        group.members.emplace_back();
        read_group(entry.value, group.members.back(), depth + 1);
        group.members.back().name = entry.key;
        group.members.back().place = entry.key_place;
      }
    }
    if (group.members.empty()) say(value.place, "a group needs members", example);
  }

  void read_share(const Value& value, std::uint32_t& share) {
    const char* end = value.scalar.data() + value.scalar.size();
    const auto [stop, code] = std::from_chars(value.scalar.data(), end, share);
    if (value.kind == Value::Kind::scalar && code == std::errc{} && stop == end && share > 0 && share <= largest_share)
      return;
    share = 1;
    say(value.place, "a share is a whole number from 1 to " + std::to_string(largest_share), "");
  }

  void say(const Place& place, std::string what, std::string hint) {
    mistakes_.push_back({place, std::move(what), std::move(hint)});
  }
  std::vector<Mistake>& mistakes_;
};

void collect(const PolicyGroupSection& group, std::vector<const PolicyGroupSection*>& programs) {
  if (group.rule == Rule::none) return programs.push_back(&group);
  for (const PolicyGroupSection& member : group.members) collect(member, programs);
}

}  // namespace

void SectionReader::read(const Value& value, PolicySection& target) {
  target.place = value.place;
  if (value.kind == Value::Kind::scalar) return read(value, target.word);
  const bool single = value.kind == Value::Kind::map && value.entries.size() == 1;
  if (single && value.entries[0].key == "library") return read(value.entries[0].value, target.library);
  GroupReader(mistakes_).read_group(value, target.tree.emplace(), 0);
  if (target.tree->rule == Rule::none) {
    mistake(value.place, "a policy is a word, a tree of groups, or a library",
            "as in fixed-priority, {fair: [a, b]} or {library: my_policy}");
    target.tree.reset();
  }
}

void check_policy(const PolicySection& policy, const std::vector<std::string>& programs,
                  std::vector<Mistake>& mistakes) {
  if (!policy.tree) return;
  std::vector<const PolicyGroupSection*> named;
  collect(*policy.tree, named);
  std::set<std::string> seen;
  for (const PolicyGroupSection* leaf : named) {
    if (std::find(programs.begin(), programs.end(), leaf->name) == programs.end()) {
      mistakes.push_back(
          {leaf->place, "`" + leaf->name + "` is no program of this robot", nearest_hint(leaf->name, programs)});
    } else if (!seen.insert(leaf->name).second) {
      mistakes.push_back({leaf->place, "program `" + leaf->name + "` stands twice in the policy", ""});
    }
  }
  for (const std::string& program : programs) {
    if (seen.contains(program)) continue;
    mistakes.push_back({policy.place, "program `" + program + "` is missing in the policy",
                        "every program of the robot needs a place in it"});
  }
}

}  // namespace isochron
