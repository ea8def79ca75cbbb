#include "flow/island.hpp"

#include <algorithm>
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

Island::Island(Assembly& assembly, std::uint32_t self, Lives lives)
    : assembly_(assembly), node_(*assembly.nodes()[self]), self_(self), lives_(lives) {}

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
  neighbours_.push_back({other, std::make_unique<Peer>(assembly_, self_, other, transport, lives_.log)});
}

void Island::start(SimTime until) {
  for (Neighbour& neighbour : neighbours_) neighbour.peer->greet();
  stop_ = until;
  node_.start(assembly_.graph().start);
  node_.set_stop(until);
}

Moved Island::go(std::uint32_t budget) {
  LoneHub hub;
  const Moved moved = node_.run(hub, budget);
  if (moved == Moved::waiting && node_.creep_pace().due(node_.creeps())) {
    node_.creep_pace().paid(false);  // not yet
    inquiry().begin();
  }
  serve();
  return moved;
}

void Island::serve() {
  for (Neighbour& neighbour : neighbours_) neighbour.peer->pump();
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
  const auto taken = peer_of(other).arrived(bytes);
  return taken ? inquire(other) : taken;
}

FloorInquiry& Island::inquiry() {
  FloorInquiry::Outside& outside = *this;
  if (!inquiry_) inquiry_ = std::make_unique<FloorInquiry>(assembly_, self_, outside, lives_.life);
  return *inquiry_;
}

/// Passes on what that one asked and answered.
Result<Done, std::string> Island::inquire(std::uint32_t other) {
  Peer& peer = peer_of(other);
  Result<Done, std::string> taken = done();
  for (const wire::Ask& ask : peer.take_asks()) {
    if (taken) taken = inquiry().asked(other, ask);
  }
  for (const wire::Answer& answer : peer.take_answers()) {
    if (taken) taken = inquiry().answered(answer);
  }
  return taken ? taken : fail("node " + peer.name() + ": " + taken.error());
}

std::vector<std::uint32_t> Island::before_here() const {
  std::vector<std::uint32_t> all;
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.peer->may_send_before(stop_)) all.push_back(neighbour.node);
  }
  return all;
}

Statement Island::state() const {
  Statement statement;
  flow::state(assembly_, inquiry_->links(), self_, statement);
  for (Statement::Count& known : statement.known) {
    const Peer& source = peer(inquiry_->links().source(known.link));
    if (!source.may_send_before(stop_, known.link)) known.messages = nothing_more;
  }
  return statement;
}

void Island::found(SimTime floor) {
  if (floor <= node_.at()) return;
  for (Neighbour& neighbour : neighbours_) neighbour.peer->hear_floor(floor);
  node_.creep_pace().paid(true);
}

void Island::restart(std::uint32_t other, std::uint32_t stream) {
  peer_of(other).restart(stream);
  node_.creep_pace().ask_again();
}

void Island::begins_again(std::uint32_t other) {
  peer_of(other).begins_again();
  node_.creep_pace().ask_again();
}

bool Island::resumed() const {
  return std::ranges::all_of(neighbours_, [](const Neighbour& neighbour) { return neighbour.peer->resumed(); });
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
