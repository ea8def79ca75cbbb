#include "flow/island.hpp"

#include <set>

#include "core/ensure.hpp"

namespace isochron::flow {
namespace {

/// There is nobody to wake on an island.
struct LoneHub {
  static constexpr bool concurrent = false;
  static bool sleepy() { return true; }
  void wake(std::uint32_t) {}
};

bool full(const Assembly::End& sink) {
  return sink.channel->written.load() - (*sink).consumed.load() >= sink.channel->capacity;
}

}  // namespace

Island::Island(Assembly& assembly, std::uint32_t self)
    : assembly_(assembly), node_(*assembly.nodes()[self]), self_(self) {}

std::vector<std::uint32_t> Island::neighbours(const Graph& graph, std::uint32_t self) {
  std::set<std::uint32_t> all;
  for (const auto& [output, input] : graph.connections) {
    if (output.node == self) all.insert(input.node);
    if (input.node == self) all.insert(output.node);
  }
  all.erase(self);
  return {all.begin(), all.end()};
}

void Island::join(std::uint32_t other, Transport& transport) {
  neighbours_.push_back({other, std::make_unique<Peer>(assembly_, self_, other, transport)});
}

void Island::start(SimTime until) {
  for (Neighbour& neighbour : neighbours_) neighbour.peer->greet();
  node_.start(assembly_.graph().start);
  node_.set_stop(until);
}

Moved Island::go(std::uint32_t budget) {
  LoneHub hub;
  const Moved moved = node_.run(hub, budget);
  for (Neighbour& neighbour : neighbours_) neighbour.peer->pump();
  return moved;
}

Peer& Island::peer_of(std::uint32_t other) {
  for (Neighbour& neighbour : neighbours_) {
    if (neighbour.node == other) return *neighbour.peer;
  }
  ENSURE(false, "no such neighbour");
  return *neighbours_.front().peer;
}

const Peer& Island::peer(std::uint32_t other) const { return const_cast<Island*>(this)->peer_of(other); }

Result<Done, std::string> Island::arrived(std::uint32_t other, std::span<const std::byte> bytes) {
  return peer_of(other).arrived(bytes);
}

void Island::say_stop(const std::string& reason) {
  for (Neighbour& neighbour : neighbours_) neighbour.peer->say_stop(reason);
}

bool Island::waits_for(std::uint32_t other) const {
  if (node_.wait().what == Wait::For::done || node_.news()) return false;
  const PortRef port{self_, node_.wait().port};
  for (const Assembly::Link& link : assembly_.links()) {
    const auto [output, input] = link.connection;
    if (node_.wait().what == Wait::For::message && input == port && output.node == other) return true;
    if (node_.wait().what == Wait::For::room && output == port && input.node == other && full(link.sink)) return true;
  }
  return false;
}

}  // namespace isochron::flow
