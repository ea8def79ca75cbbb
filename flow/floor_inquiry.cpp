#include "flow/floor_inquiry.hpp"

#include <algorithm>

namespace isochron::flow {

FloorInquiry::FloorInquiry(const Assembly& assembly, std::uint32_t self, Outside& outside, std::uint32_t life)
    : links_(assembly), self_(self), outside_(outside), number_(std::uint64_t{life} << 40U), gathered_(links_) {}

void FloorInquiry::start(std::uint32_t origin, std::uint64_t number, std::uint32_t by) {
  const std::vector<std::uint32_t> before = outside_.before_here();
  Round& round = rounds_[origin];
  round = {number, by, before.size(), {}};
  for (const std::uint32_t whom : before) outside_.ask(whom, {origin, number});
  if (before.empty()) complete(origin, round);
}

Result<Done, std::string> FloorInquiry::asked(std::uint32_t by, const wire::Ask& ask) {
  if (ask.origin >= links_.nodes()) return fail(std::string("it asks for a node that does not exist"));
  const auto known = rounds_.find(ask.origin);
  if (ask.origin == self_ || (known != rounds_.end() && known->second.number >= ask.number)) {
    outside_.answer(by, {ask.origin, ask.number, {}});
  } else {
    start(ask.origin, ask.number, by);
  }
  return done();
}

bool FloorInquiry::sound(const Statement& statement) const {
  const auto all = [&](const std::vector<Statement::Count>& counts, auto&& end_of) {
    return std::ranges::all_of(counts, [&](const Statement::Count& count) {
      return count.link < links_.size() && end_of(count.link) == statement.node;
    });
  };
  return statement.node < links_.nodes() &&
         all(statement.known, [this](std::uint32_t link) { return links_.sink(link); }) &&
         all(statement.sent, [this](std::uint32_t link) { return links_.source(link); }) &&
         statement.known.size() == links_.into(statement.node).size() &&
         statement.sent.size() == links_.out_of(statement.node).size();
}

Result<Done, std::string> FloorInquiry::answered(const wire::Answer& answer) {
  if (!std::ranges::all_of(answer.statements, [this](const Statement& one) { return sound(one); })) {
    return fail(std::string("it answers for nodes or flows that do not exist"));
  }
  const auto found = rounds_.find(answer.origin);
  if (found == rounds_.end() || found->second.number != answer.number || found->second.missing == 0) return done();
  Round& round = found->second;
  round.gathered.insert(round.gathered.end(), answer.statements.begin(), answer.statements.end());
  if (round.gathered.size() > links_.nodes()) return fail(std::string("it answers for more nodes than there are"));
  if (--round.missing == 0) complete(answer.origin, round);
  return done();
}

void FloorInquiry::complete(std::uint32_t origin, Round& round) {
  round.gathered.push_back(outside_.state());
  if (origin != self_) {
    outside_.answer(round.by, {origin, round.number, std::exchange(round.gathered, {})});
    return;
  }
  gathered_.forget();
  for (const Statement& statement : round.gathered) gathered_.add(statement);
  round.gathered.clear();
  if (const auto floor = gathered_.floor_of(self_).floor) outside_.found(*floor);
}

}  // namespace isochron::flow
