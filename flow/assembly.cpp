#include "flow/assembly.hpp"

#include <algorithm>

#include "flow/check.hpp"

namespace isochron::flow {

Assembly::Assembly(System& system, const AssemblyPlan& plan)
    : system_(system), arena_(plan.memory), flows_(system.flows()) {
  std::uint32_t flow = 0;
  for (const NodeInfo& node : graph().nodes) {
    first_flow_.push_back(flow);
    flow += static_cast<std::uint32_t>(node.outputs.size());
  }
  find_mixed_flows();
  make_channels(plan);
  make_nodes(plan);
  keep_periods();
}

Assembly::~Assembly() {
  for (Node* node : nodes_) node->~Node();
  for (const auto& ways : ways_) {
    for (Channel* channel : ways) clear_channel(*channel);
  }
  for (const Link& link : links_) {
    if (link.arrival != nullptr) clear_channel(*link.arrival);
  }
}

void Assembly::find_mixed_flows() {
  mixed_.assign(flows_.size(), false);
  for (const auto& [output, input] : graph().connections) {
    const PayloadType* from = graph().nodes[output.node].outputs[output.port].type;
    const PayloadType* to = graph().nodes[input.node].inputs[input.port].type;
    if (from->memory != to->memory) mixed_[flow_of(output)] = true;
  }
}

std::size_t Assembly::encoded_room(const AssemblyPlan& plan, std::uint32_t flow) const {
  const PayloadType& type = *graph().nodes[flows_[flow].node].outputs[flows_[flow].port].type;
  const bool in_place = !mixed_[flow] && (type.flat || plan.memory == Arena::Kind::own);
  return in_place ? 0 : plan.largest_message;
}

/// The channels of one flow, and where each of its sinks reads.
std::vector<Assembly::End> Assembly::make_flow(const AssemblyPlan& plan, std::uint32_t flow, std::uint32_t sinks) {
  const PortRef port = flows_[flow];
  const OutputInfo& output = graph().nodes[port.node].outputs[port.port];
  const bool apart = output.kind == FlowKind::event && sinks > 1;
  std::vector<End> ends;
  ways_.emplace_back();
  for (std::uint32_t i = 0; i < (apart ? sinks : 1); ++i) {
    ways_.back().push_back(
        make_channel(arena_, {flow, port.node, apart ? 1 : sinks, &output, graph().start, encoded_room(plan, flow)}));
  }
  for (std::uint32_t i = 0; i < sinks; ++i) {
    ends.push_back(apart ? End{ways_.back()[i], 0} : End{ways_.back().front(), i});
  }
  return ends;
}

void Assembly::make_arrival(const AssemblyPlan& plan, Link& link) {
  const PortRef from = link.connection.output;
  const OutputInfo& output = graph().nodes[from.node].outputs[from.port];
  const std::uint32_t node = link.connection.input.node;
  link.arrival = make_channel(arena_, {link.flow, node, 1, &output, graph().start, encoded_room(plan, link.flow)});
  link.arrival->readers[0].node = node;
  link.arrival->readers[0].input = link.connection.input.port;
}

void Assembly::make_channels(const AssemblyPlan& plan) {
  std::vector<std::uint32_t> sinks(flows_.size(), 0);
  for (const Connection& connection : graph().connections) {
    const std::uint32_t flow = flow_of(connection.output);
    links_.push_back({connection, flow, {nullptr, sinks[flow]++}, nullptr});
  }
  std::vector<std::vector<End>> ends;
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
    ends.push_back(make_flow(plan, flow, sinks[flow]));
  }
  std::sort(links_.begin(), links_.end(),
            [](const Link& a, const Link& b) { return a.connection.input < b.connection.input; });
  for (Link& link : links_) {
    link.sink = ends[link.flow][link.sink.reader];
    (*link.sink).node = plan.split ? link.connection.output.node : link.connection.input.node;
    (*link.sink).input = link.connection.input.port;
    if (plan.split) make_arrival(plan, link);
  }
}

void Assembly::make_nodes(const AssemblyPlan& plan) {
  auto link = links_.begin();
  for (std::uint32_t n = 0; n < graph().nodes.size(); ++n) {
    const NodeInfo& info = graph().nodes[n];
    std::vector<Node::InputTie> inputs;
    for (; link != links_.end() && link->connection.input.node == n; ++link) {
      const PortRef from = link->connection.output;
      const OutputInfo& output = graph().nodes[from.node].outputs[from.port];
      const bool event = output.kind == FlowKind::event;
      Channel* channel = plan.split ? link->arrival : link->sink.channel;
      Reader* reader = plan.split ? &channel->readers[0] : &*link->sink;
      inputs.push_back({channel, reader, event ? graph().start : output.first, event});
    }
    const std::span<const std::vector<Channel*>> outputs(ways_.data() + first_flow_[n], info.outputs.size());
    nodes_.push_back(arena_.make<Node>(system_.node(n), n, info.name));
    nodes_.back()->tie(arena_, inputs, outputs, plan.settings);
  }
}

void Assembly::keep_periods() {
  keeps_period_.assign(flows_.size(), false);
  for (const PortRef flow : observations_in_rings(graph())) {
    if (graph().nodes[flow.node].outputs[flow.port].varies) continue;
    nodes_[flow.node]->keep_period(flow.port);
    keeps_period_[flow_of(flow)] = true;
  }
}

}  // namespace isochron::flow
