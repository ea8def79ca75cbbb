#pragma once
// How far nothing can happen: what ends creeping where nobody sees all nodes at once.
//
// Nodes that have only promises for each other creep, by turns of their lookahead. What would help them is the first
// time at which anything happens at all, the floor. Each node can say it of itself in a statement:
//
//     first      when something happens here by what is here: an output's turn, an event that is held, a message that
//                came. What is only promised does not count
//     known      how many messages of each input `first` has counted
//     sent       how many messages it had sent on each link
//
// The floor of a node is the least `first` of itself and of all whose messages can reach it, directly or through
// others, provided that everything that one of them had sent was known to the one it went to. The statements need not
// be of one moment: whatever a node does after its statement has a cause that is stated, there or at a node before it,
// so it comes at the floor or later. An old statement only makes the floor lower.
//
// The floor itself is no promise of anybody. Who knows it takes it for one of all its inputs.
//
// Threads: no state; owner thread. Cost: O(links between those asked).

#include <cstdint>
#include <optional>
#include <vector>

#include "flow/assembly.hpp"
#include "flow/statement.hpp"

namespace isochron::flow {

/// Who is linked to whom, by node.
class Links {
 public:
  explicit Links(const Assembly& assembly);
  [[nodiscard]] const std::vector<std::uint32_t>& into(std::uint32_t node) const { return into_[node]; }
  [[nodiscard]] const std::vector<std::uint32_t>& out_of(std::uint32_t node) const { return out_of_[node]; }
  [[nodiscard]] std::uint32_t source(std::uint32_t link) const { return source_[link]; }
  [[nodiscard]] std::uint32_t sink(std::uint32_t link) const { return sink_[link]; }
  [[nodiscard]] std::size_t nodes() const { return into_.size(); }
  [[nodiscard]] std::size_t size() const { return source_.size(); }

 private:
  std::vector<std::vector<std::uint32_t>> into_, out_of_;
  std::vector<std::uint32_t> source_, sink_;
};

/// What `node` has to say now. By whoever runs it.
void state(const Assembly& assembly, const Links& links, std::uint32_t node, Statement& statement);

/// The statements that somebody has gathered, and what follows.
class Gathered {
 public:
  explicit Gathered(const Links& links);
  void forget();
  void add(const Statement& statement);
  struct Verdict {
    std::optional<SimTime> floor;
    std::vector<std::uint32_t> outdated;  // those who would have to state themselves again, if there is none
  };
  [[nodiscard]] Verdict floor_of(std::uint32_t node);

 private:
  const Links& links_;
  std::vector<std::optional<SimTime>> first_;  // by node
  std::vector<std::uint64_t> known_, sent_;    // by link
  std::vector<std::uint32_t> open_;            // nodes still to be looked at
  std::vector<bool> reached_;
};

}  // namespace isochron::flow
