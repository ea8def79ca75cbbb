#pragma once
// One node of a system in this process, the others elsewhere: the same node code as in every other executor, with a
// federation as the way to the others. Time travels with data, so there is nobody in the middle.
//
// Promises: the messages of this node are those of the same run in one process, whatever carries them and whatever the
//           network does on the way.
// Where nodes that are lost are started again (rendezvous.hpp) it keeps all that it sent, waits for those that are
// lost, and stays until all have finished.
//
// Fails:    a peer that is lost, that fails or that breaks the rules ends the run here too: FlowOutcome::failures names it
//           and what waited for it. While a peer is silent, on_stall is told, within a second.
// Threads:  run() blocks its caller.

#include <memory>
#include <vector>

#include "core/clock.hpp"
#include "flow/island.hpp"
#include "flow/run.hpp"
#include "flow/stall.hpp"
#include "link/federation.hpp"
#include "run/rendezvous.hpp"

namespace isochron {

class RemoteNode {
 public:
  /// For runs in which nodes that are lost are started again.
  struct Lives {
    Rendezvous* rendezvous = nullptr;
    flow::SentLog* log = nullptr;  // of this node; it is the options' recorder too
  };
  RemoteNode(flow::System& system, std::uint32_t self, const flow::Options& options, link::Federation& federation,
             link::Carrier& carrier, Clock& clock, const Lives& lives);
  RemoteNode(flow::System& system, std::uint32_t self, const flow::Options& options, link::Federation& federation,
             link::Carrier& carrier, Clock& clock);

  flow::FlowOutcome run();

 private:
  struct ToPeer final : flow::Transport {
    ToPeer(link::Federation& over, std::uint32_t peer) : federation(over), to(peer) {}
    void send(std::span<const std::byte> bytes) override { federation.send(to, bytes); }
    link::Federation& federation;
    std::uint32_t to;
  };
  void arrived(std::uint32_t from, std::span<const std::byte> bytes);
  void left(std::uint32_t who);
  void round();
  void begin();
  void advance();
  void look_around();
  void fail(std::uint32_t node, const std::string& what);
  void end(const std::string& reason);
  void linger();
  bool stays();
  void hear_launcher();
  [[nodiscard]] std::uint32_t called(const std::string& name) const;
  [[nodiscard]] flow::WaitForGraph standing();

  const flow::Options& options_;
  link::Federation& federation_;
  link::Carrier& carrier_;
  Clock& clock_;
  Lives lives_;
  flow::Assembly assembly_;
  std::uint32_t self_;
  flow::Island island_;
  std::vector<std::unique_ptr<ToPeer>> ways_;
  std::vector<flow::NodeStatus> statuses_;
  flow::FlowOutcome outcome_;
  enum class Phase { gathering, running, leaving, over } phase_ = Phase::gathering;
  std::string farewell_;
  WallTime since_;   // of the phase
  WallTime looked_;  // around
  WallTime moved_;   // last progress
  std::uint64_t steps_ = 0;
  bool told_ = false;
  bool said_finished_ = false;
  bool over_ = false;  // for all
};

}  // namespace isochron
