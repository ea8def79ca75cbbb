#include "flow/statement_board.hpp"

namespace isochron::flow {

StatementBoard::StatementBoard(Assembly& assembly)
    : assembly_(assembly),
      links_(assembly),
      wanted_(assembly.arena().make<std::atomic<std::uint32_t>>(0U)),
      places_(assembly.arena().make_array<Place>(links_.nodes())),
      known_(assembly.arena().make_array<std::atomic<std::uint64_t>>(links_.size())),
      sent_(assembly.arena().make_array<std::atomic<std::uint64_t>>(links_.size())) {}

void StatementBoard::post(const Statement& statement) {
  Place& place = places_[statement.node];
  const std::uint64_t count = place.count.load(std::memory_order_relaxed);
  place.count.store(count + 1, std::memory_order_relaxed);
  // Each value with release: who reads a new one sees the odd count too.
  place.first.store(statement.first.ns(), std::memory_order_release);
  for (const auto& [link, messages] : statement.known) known_[link].store(messages, std::memory_order_release);
  for (const auto& [link, messages] : statement.sent) sent_[link].store(messages, std::memory_order_release);
  place.count.store(count + 2, std::memory_order_release);
}

bool StatementBoard::read(std::uint32_t node, Statement& statement) const {
  const Place& place = places_[node];
  const std::uint64_t count = place.count.load(std::memory_order_acquire);
  if (count == 0 || count % 2 != 0) return false;
  statement.node = node;
  statement.first = SimTime::from_ns(place.first.load(std::memory_order_acquire));
  statement.known.clear();
  statement.sent.clear();
  for (const std::uint32_t link : links_.into(node)) {
    statement.known.push_back({link, known_[link].load(std::memory_order_acquire)});
  }
  for (const std::uint32_t link : links_.out_of(node)) {
    statement.sent.push_back({link, sent_[link].load(std::memory_order_acquire)});
  }
  return place.count.load(std::memory_order_relaxed) == count;
}

void CreepEnder::state(std::uint32_t node) {
  flow::state(board_.assembly(), board_.links(), node, statement_);
  if (board_.read(node, posted_) && posted_ == statement_) return;
  board_.post(statement_);
}

/// Whether that brought it on.
bool CreepEnder::tell_floor(Node& node) {
  if (!gathered_) gathered_.emplace(board_.links());
  gathered_->forget();
  for (std::uint32_t n = 0; n < board_.links().nodes(); ++n) {
    if (board_.read(n, statement_)) gathered_->add(statement_);
  }
  auto [floor, outdated] = gathered_->floor_of(node.index());
  outdated_ = std::move(outdated);
  const bool on = floor && node.hear_floor(*floor);
  node.creep_pace().paid(on);
  return on;
}

}  // namespace isochron::flow
