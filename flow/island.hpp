#pragma once
// A node that shares memory with nobody: the node, and a Peer for each node that it has flows with. It starts no thread
// and opens no socket; whoever has both drives it. TCP in processes (tcp.cpp), the simulated network (test) and DDS
// (link/dds) are three such drivers.
//
//     join(other, transport)…   start()   loop: go() → waits? → arrived(other, bytes) for what comes   finish()
//
// Promises: the messages are those of every other executor. What a turn produced for a peer leaves in one piece.
// Threads:  owner thread.
// Fails:    go() passes on what the node throws. arrived() says why a peer was fenced off.

#include <memory>
#include <vector>

#include "flow/floor_inquiry.hpp"
#include "flow/peer.hpp"

namespace isochron::flow {

class Island : private FloorInquiry::Outside {
 public:
  /// For runs in which a node that is lost is started again.
  struct Lives {
    SentLog* log = nullptr;  // of what this one sends; null = nobody is started again
    std::uint32_t life = 0;  // how often this one was
  };
  /// The assembly is split (AssemblyPlan::split).
  Island(Assembly& assembly, std::uint32_t self, Lives lives);
  Island(Assembly& assembly, std::uint32_t self) : Island(assembly, self, Lives{}) {}

  /// The nodes that `self` has flows with: each must be joined.
  [[nodiscard]] static std::vector<std::uint32_t> neighbours(const Graph& graph, std::uint32_t self);
  [[nodiscard]] std::vector<std::uint32_t> neighbours() const { return neighbours(assembly_.graph(), self_); }
  void join(std::uint32_t other, Transport& transport);

  /// Greets everybody and starts the node.
  void start(SimTime until);
  /// Steps the node, at most `budget` times, and sends what came of it.
  Moved go(std::uint32_t budget);
  /// Sends what others may have now, without a step: for those that began again when this one had finished.
  void serve();
  Result<Done, std::string> arrived(std::uint32_t other, std::span<const std::byte> bytes);
  void finish() { node_.finish(); }

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] bool finished() const { return node_.finished(); }
  /// Whether the node cannot go on before that one sends.
  [[nodiscard]] bool waits_for(std::uint32_t other) const;
  [[nodiscard]] const Peer& peer(std::uint32_t other) const;
  void say_stop(const std::string& reason);
  /// The stream to that one begins anew, or the one from it (peer.hpp).
  void restart(std::uint32_t other, std::uint32_t stream);
  void restarted(std::uint32_t other, std::uint32_t stream) { peer_of(other).restarted(stream); }
  /// That one was lost and begins from nothing (peer.hpp). Requires: Lives::log.
  void begins_again(std::uint32_t other);
  /// Nobody has to say yet how far a broken stream came.
  [[nodiscard]] bool resumed() const;

 private:
  // What an inquiry for the floor needs.
  [[nodiscard]] std::vector<std::uint32_t> before_here() const override;
  [[nodiscard]] Statement state() const override;
  void ask(std::uint32_t whom, const wire::Ask& ask) override { peer_of(whom).say(ask); }
  void answer(std::uint32_t whom, const wire::Answer& answer) override { peer_of(whom).say(answer); }
  void found(SimTime floor) override;

  struct Neighbour {
    std::uint32_t node;
    std::unique_ptr<Peer> peer;
  };
  [[nodiscard]] Peer& peer_of(std::uint32_t other);
  FloorInquiry& inquiry();
  Result<Done, std::string> inquire(std::uint32_t other);

  Assembly& assembly_;
  Node& node_;
  std::uint32_t self_;
  Lives lives_;
  SimTime stop_;
  std::vector<Neighbour> neighbours_;
  std::unique_ptr<FloorInquiry> inquiry_;  // once somebody creeps
};

}  // namespace isochron::flow
