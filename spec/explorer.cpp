#include "spec/explorer.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "core/random.hpp"
#include "flow/assembly.hpp"
#include "flow/check.hpp"
#include "spec/spec_node.hpp"

namespace isochron::spec {
namespace {

using flow::Graph;
using Words = std::vector<std::int64_t>;

/// Wakes nobody: the explorer tries everybody anyway.
struct NoHub {
  static constexpr bool concurrent = false;
  static bool sleepy() { return true; }
  void wake(std::uint32_t) {}
};

/// The hash of what each flow carried.
class SentHashes : public flow::SentObserver {
 public:
  explicit SentHashes(std::size_t flows) : hashes(flows, 0) {}
  void sent(const flow::Sent& message) override {
    if (on_sent) on_sent(message);
    hashes[message.flow] = SpecNode::add(hashes[message.flow], message.time, *static_cast<const Token*>(message.value));
  }
  std::vector<std::uint64_t> hashes;
  std::function<void(const flow::Sent& message)> on_sent;
};

class Explorer {
 public:
  Explorer(const Graph& graph, SimTime until) : until_(until), sent_(count_flows(graph)) {
    system_.set_start(graph.start);
    for (const flow::NodeInfo& info : graph.nodes) {
      nodes_.push_back(&system_.add<SpecNode>(info.name, info));
    }
    for (const flow::Connection& connection : graph.connections) system_.connect(connection.output, connection.input);
    flow::AssemblyPlan plan;
    plan.settings.observer = &sent_;
    plan.settings.digest = false;
    assembly_ = std::make_unique<flow::Assembly>(system_, plan);
    for (flow::Node* node : assembly_->nodes()) {
      node->start(graph.start);
      node->set_stop(until);
    }
    predicted_ = flow::find_deadlock(graph, until);
    findings_.predicted = predicted_ && predicted_->why == flow::Deadlock::Why::certain;
    findings_.possible = predicted_ && predicted_->why == flow::Deadlock::Why::varies;
  }

  Findings explore(std::uint64_t max_states) {
    std::unordered_set<std::uint64_t> seen;
    std::vector<Words> stack{save()};
    seen.insert(hash(stack.back()));
    while (!stack.empty() && findings_.broken.empty()) {
      const Words state = std::move(stack.back());
      stack.pop_back();
      ++findings_.states;
      bool end = true;
      for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
        restore(state);
        Words next = step(n);
        if (next == state) continue;
        end = false;
        if (seen.insert(hash(next)).second) stack.push_back(std::move(next));
      }
      if (end) {
        restore(state);
        judge();
      }
      if (findings_.states < max_states) continue;
      findings_.whole = false;
      break;
    }
    return findings_;
  }

  std::string trace_once(std::uint64_t seed) {
    std::string trace;
    for (SpecNode* node : nodes_) node->trace = &trace;
    sent_.on_sent = [&](const flow::Sent& message) {
      const flow::PortRef port = assembly_->flows()[message.flow];
      const flow::NodeInfo& node = assembly_->graph().nodes[port.node];
      if (node.outputs[port.port].kind != flow::FlowKind::event) return;  // the node says so itself
      trace += SpecNode::trace_line(node.name, "event", node.outputs[port.port].name, message.time,
                                    *static_cast<const Token*>(message.value));
    };
    (void)run_once(seed);
    return trace;
  }

  Findings run_once(std::uint64_t seed) {
    RandomStream random(seed, "schedule");
    std::uint32_t quiet = 0;
    Words state = save();
    // A node that did not move may move later; all of them in a row without news is the end.
    while (quiet < nodes_.size() && findings_.broken.empty()) {
      const auto n = static_cast<std::uint32_t>(random.below(nodes_.size()));
      Words next = step(n);
      bool moved = next != state;
      ++findings_.states;
      if (!moved) {
        for (std::uint32_t other = 0; other < nodes_.size() && !moved; ++other) moved = (next = step(other)) != state;
      }
      quiet = moved ? 0 : static_cast<std::uint32_t>(nodes_.size());
      state = std::move(next);
    }
    if (findings_.broken.empty()) judge();
    return findings_;
  }

 private:
  static std::size_t count_flows(const Graph& graph) {
    std::size_t flows = 0;
    for (const flow::NodeInfo& node : graph.nodes) flows += node.outputs.size();
    return flows;
  }

  static std::uint64_t hash(const Words& words) {
    return flow::mix_bytes(7, words.data(), words.size() * sizeof(std::int64_t));
  }

  Words step(std::uint32_t n) {
    NoHub hub;
    assembly_->nodes()[n]->run(hub, 1);
    if (findings_.broken.empty()) findings_.broken = nodes_[n]->broken;
    return save();
  }

  Words save() const {
    Words words;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      assembly_->nodes()[n]->save(words);
      const SpecNode::State& state = nodes_[n]->state;
      words.insert(words.end(), {static_cast<std::int64_t>(state.value), state.consumed_at, state.emitted_at,
                                 state.sent_at, state.sent});
      for (const std::uint64_t consumed : state.consumed) words.push_back(static_cast<std::int64_t>(consumed));
      for (const std::uint64_t latest : state.latest) words.push_back(static_cast<std::int64_t>(latest));
    }
    for (const std::uint64_t sent : sent_.hashes) words.push_back(static_cast<std::int64_t>(sent));
    return words;
  }

  void restore(const Words& words) {
    const std::int64_t* from = words.data();
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      assembly_->nodes()[n]->restore(from);
      SpecNode::State& state = nodes_[n]->state;
      state.value = static_cast<std::uint64_t>(*from++);
      state.consumed_at = *from++;
      state.emitted_at = *from++;
      state.sent_at = *from++;
      state.sent = *from++;
      for (std::uint64_t& consumed : state.consumed) consumed = static_cast<std::uint64_t>(*from++);
      for (std::uint64_t& latest : state.latest) latest = static_cast<std::uint64_t>(*from++);
    }
    for (std::uint64_t& sent : sent_.hashes) sent = static_cast<std::uint64_t>(*from++);
  }

  /// Nothing moves any more: is that as it should be?
  void judge() {
    SimTime stands_at = until_;
    for (const flow::Node* node : assembly_->nodes()) stands_at = std::min(stands_at, node->at());
    const bool complete = stands_at >= until_;
    const bool first = findings_.ends++ == 0;
    std::uint64_t outcome = 0;
    for (const std::uint64_t sent : sent_.hashes) outcome = flow::mix(outcome, sent);
    if (first) {
      findings_.outcome = outcome;
      findings_.deadlock = !complete;
    }
    if (outcome != findings_.outcome) findings_.broken = "two outcomes";
    if (findings_.deadlock == complete) findings_.broken = "one end is complete, another is not";
    if (complete && findings_.predicted) findings_.broken = "a deadlock was predicted and did not happen";
    if (!complete && !predicted_) findings_.broken = "a deadlock was not predicted";
    const bool on_time = !findings_.predicted || complete || stands_at == predicted_->at;
    if (!on_time) findings_.broken = "a deadlock was predicted for another time";
    if (complete) check_nothing_lost();
  }

  void check_nothing_lost() {
    for (const flow::Connection& connection : assembly_->graph().connections) {
      const std::uint64_t sent = sent_.hashes[assembly_->flow_of(connection.output)];
      if (sent == nodes_[connection.input.node]->state.consumed[connection.input.port]) continue;
      findings_.broken = "rule 4: " + assembly_->graph().input_name(connection.input) + " consumed other than was sent";
    }
  }

  SimTime until_;
  SentHashes sent_;
  flow::System system_;
  std::vector<SpecNode*> nodes_;
  std::unique_ptr<flow::Assembly> assembly_;
  std::optional<flow::Deadlock> predicted_;
  Findings findings_;
};

}  // namespace

Findings explore(const Graph& graph, SimTime until, std::uint64_t max_states) {
  return Explorer(graph, until).explore(max_states);
}

Findings run_once(const Graph& graph, SimTime until, std::uint64_t seed) {
  return Explorer(graph, until).run_once(seed);
}

std::string trace_once(const Graph& graph, SimTime until, std::uint64_t seed) {
  return Explorer(graph, until).trace_once(seed);
}

std::string to_json(const Graph& graph, SimTime until) {
  const auto list = [](const auto& all, const auto& text) {
    std::string joined;
    for (const auto& one : all) joined += (joined.empty() ? "" : ", ") + text(one);
    return "[" + joined + "]";
  };
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  const auto output = [&](const flow::OutputInfo& out) {
    return "{\"name\": " + quoted(out.name) + ", \"kind\": " + quoted(flow::to_string(out.kind)) +
           ", \"period\": " + std::to_string(out.period.ns()) +
           ", \"first\": " + std::to_string(out.kind == flow::FlowKind::event ? graph.start.ns() : out.first.ns()) +
           ", \"lookahead\": " + std::to_string(out.lookahead.ns()) +
           ", \"varies\": " + (out.varies ? "true" : "false") + "}";
  };
  const std::string nodes = list(graph.nodes, [&](const flow::NodeInfo& node) {
    return "{\"name\": " + quoted(node.name) +
           ", \"inputs\": " + list(node.inputs, [&](const flow::InputInfo& in) { return quoted(in.name); }) +
           ", \"outputs\": " + list(node.outputs, output) + "}";
  });
  const std::string connections = list(graph.connections, [&](const flow::Connection& connection) {
    return "[" + quoted(graph.output_name(connection.output)) + ", " + quoted(graph.input_name(connection.input)) + "]";
  });
  return "{\"start\": " + std::to_string(graph.start.ns()) + ", \"until\": " + std::to_string(until.ns()) +
         ", \"nodes\": " + nodes + ", \"connections\": " + connections + "}\n";
}

Graph random_graph(std::uint64_t seed, std::uint32_t max_nodes) {
  RandomStream random(seed, "system");
  Graph graph;
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  const auto count = static_cast<std::uint32_t>(pick(2, max_nodes));
  for (std::uint32_t n = 0; n < count; ++n) graph.nodes.push_back({"n" + std::to_string(n), {}, {}});
  const int liveliness = static_cast<int>(pick(0, 2));  // few, some or many events and observations
  for (std::uint32_t n = 0; n < count; ++n) {
    for (std::int64_t o = pick(0, 5) < 5 ? pick(1, 2) : 0; o > 0; --o) {
      flow::OutputInfo output;
      output.name = "o" + std::to_string(graph.nodes[n].outputs.size());
      const std::int64_t dice = pick(0, 5);
      if (dice <= liveliness) output.kind = pick(0, 1) == 0 ? flow::FlowKind::observation : flow::FlowKind::event;
      output.period = SimSpan::from_ns(pick(1, 4));
      output.first = SimTime::from_ns(pick(0, 3));
      output.lookahead = SimSpan::from_ns(pick(0, 2));
      output.capacity = static_cast<std::uint32_t>(pick(1, 3));
      output.varies = output.kind != flow::FlowKind::event && pick(0, 2) == 0;
      const flow::PortRef from{n, static_cast<std::uint32_t>(graph.nodes[n].outputs.size())};
      graph.nodes[n].outputs.push_back(output);
      for (std::uint32_t sink = 0; sink < count; ++sink) {
        if (sink == n || graph.nodes[sink].inputs.size() >= 4 || pick(0, 2) == 0) continue;
        graph.connections.push_back({from, {sink, static_cast<std::uint32_t>(graph.nodes[sink].inputs.size())}});
        graph.nodes[sink].inputs.push_back({"i" + std::to_string(graph.nodes[sink].inputs.size()), nullptr});
      }
    }
  }
  return graph;
}

std::string to_string(const Graph& graph) {
  std::string text;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for (std::uint32_t p = 0; p < graph.nodes[n].outputs.size(); ++p) {
      const flow::OutputInfo& output = graph.nodes[n].outputs[p];
      text += graph.output_name({n, p}) + " " + flow::to_string(output.kind);
      text += output.kind == flow::FlowKind::event
                  ? " lookahead " + std::to_string(output.lookahead.ns())
                  : " period " + std::to_string(output.period.ns()) + " first " + std::to_string(output.first.ns()) +
                        (output.varies ? " varying" : "");
      text += " capacity " + std::to_string(output.capacity) + " ->";
      for (const flow::Connection& connection : graph.connections) {
        if (connection.output == flow::PortRef{n, p}) text += " " + graph.input_name(connection.input);
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace isochron::spec
