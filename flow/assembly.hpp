#pragma once
// A system made ready to run: its channels and nodes, laid out in one arena.
//
//   whole   every input reads the channel of its flow. One process, or several that share the arena.
//   split   every input has a channel of its own and a transport moves messages from the flow's channel into it. The
//           readers of the flow's channel then stand for the remote sinks: a credit that comes back moves them on.
//
// A flow has one channel with a reader for each sink; an event flow has a channel for each sink.

#include <vector>

#include "flow/node.hpp"
#include "flow/system.hpp"

namespace isochron::flow {

struct AssemblyPlan {
  Arena::Kind memory = Arena::Kind::own;
  bool split = false;
  std::size_t largest_message = 256U << 20U;  // room for an encoded payload; pages that are not used cost nothing
  Node::Settings settings;
};

class Assembly {
 public:
  Assembly(System& system, const AssemblyPlan& plan);
  ~Assembly();
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  /// One reader of one channel.
  struct End {
    Channel* channel = nullptr;
    std::uint32_t reader = 0;
    [[nodiscard]] Reader& operator*() const { return channel->readers[reader]; }
  };
  /// Where one input gets its messages from.
  struct Link {
    Connection connection;
    std::uint32_t flow = 0;
    End sink;                    // of the flow
    Channel* arrival = nullptr;  // split: the input's own channel
  };

  /// The channels of each flow; the first one has the flow's digest.
  [[nodiscard]] const std::vector<std::vector<Channel*>>& ways() const { return ways_; }
  [[nodiscard]] std::vector<Node*>& nodes() { return nodes_; }
  [[nodiscard]] const Node& node(std::uint32_t index) const { return *nodes_[index]; }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const std::vector<PortRef>& flows() const { return flows_; }
  [[nodiscard]] const Graph& graph() const { return system_.graph(); }
  [[nodiscard]] Arena& arena() { return arena_; }
  [[nodiscard]] std::uint32_t flow_of(PortRef output) const { return first_flow_[output.node] + output.port; }
  /// Whether the check for deadlocks counts on the flow's period.
  [[nodiscard]] bool keeps_period(std::uint32_t flow) const { return keeps_period_[flow]; }

 private:
  void make_channels(const AssemblyPlan& plan);
  std::vector<End> make_flow(const AssemblyPlan& plan, std::uint32_t flow, std::uint32_t sinks);
  void make_arrival(const AssemblyPlan& plan, Link& link);
  void make_nodes(const AssemblyPlan& plan);
  void keep_periods();
  [[nodiscard]] std::size_t encoded_room(const AssemblyPlan& plan, std::uint32_t flow) const;
  void find_mixed_flows();

  System& system_;
  Arena arena_;
  std::vector<PortRef> flows_;
  std::vector<std::uint32_t> first_flow_;    // of each node
  std::vector<Link> links_;                  // by node and input
  std::vector<std::vector<Channel*>> ways_;  // by flow
  std::vector<Node*> nodes_;
  std::vector<bool> keeps_period_;  // by flow
  std::vector<bool> mixed_;         // by flow: source and sinks keep its messages in different ways
};

}  // namespace isochron::flow
