#include "flow/floor.hpp"

#include <algorithm>

namespace isochron::flow {

Links::Links(const Assembly& assembly) : into_(assembly.graph().nodes.size()), out_of_(assembly.graph().nodes.size()) {
  for (const Assembly::Link& link : assembly.links()) {
    const auto number = static_cast<std::uint32_t>(source_.size());
    source_.push_back(link.connection.output.node);
    sink_.push_back(link.connection.input.node);
    into_[sink_.back()].push_back(number);
    out_of_[source_.back()].push_back(number);
  }
}

void state(const Assembly& assembly, const Links& links, std::uint32_t node, Statement& statement) {
  statement.node = node;
  statement.known.clear();
  statement.sent.clear();
  const auto written = [](const Channel& channel) { return channel.written.load(std::memory_order_acquire); };
  // Counted before `first` is asked for: a message that comes in between is in `first` and not in `known`.
  for (const std::uint32_t number : links.into(node)) {
    const Assembly::Link& link = assembly.links()[number];
    statement.known.push_back({number, written(link.arrival != nullptr ? *link.arrival : *link.sink.channel)});
  }
  for (const std::uint32_t number : links.out_of(node)) {
    statement.sent.push_back({number, written(*assembly.links()[number].sink.channel)});
  }
  statement.first = assembly.node(node).first_certain();
}

Gathered::Gathered(const Links& links)
    : links_(links), first_(links.nodes()), known_(links.size()), sent_(links.size()), reached_(links.nodes()) {}

void Gathered::forget() { std::fill(first_.begin(), first_.end(), std::nullopt); }

void Gathered::add(const Statement& statement) {
  first_[statement.node] = statement.first;
  for (const auto& [link, messages] : statement.known) known_[link] = messages;
  for (const auto& [link, messages] : statement.sent) sent_[link] = messages;
}

Gathered::Verdict Gathered::floor_of(std::uint32_t node) {
  Verdict verdict;
  SimTime floor = SimTime::never();
  std::fill(reached_.begin(), reached_.end(), false);
  open_.assign(1, node);
  reached_[node] = true;
  while (!open_.empty()) {
    const std::uint32_t here = open_.back();
    open_.pop_back();
    if (!first_[here]) {
      verdict.outdated.push_back(here);
      continue;
    }
    floor = std::min(floor, *first_[here]);
    for (const std::uint32_t link : links_.into(here)) {
      const std::uint32_t source = links_.source(link);
      if (known_[link] == nothing_more) continue;
      if (first_[source] && sent_[link] > known_[link]) verdict.outdated.push_back(here);
      if (reached_[source]) continue;
      reached_[source] = true;
      open_.push_back(source);
    }
  }
  if (verdict.outdated.empty()) verdict.floor = floor;
  return verdict;
}

}  // namespace isochron::flow
