#include "spec/oracle.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <tuple>

#include "flow/digest.hpp"

namespace isochron::spec {
namespace {

using flow::FlowKind;
using Key = std::tuple<std::int64_t, int, std::size_t>;  // time, phase, port; rule 2

constexpr std::int64_t never = INT64_MAX;

struct Message {
  std::int64_t time = 0;
  std::uint64_t value = 0;
};

struct In {
  bool event = false;
  std::deque<Message> waiting;
  std::int64_t promised = 0;
  std::optional<std::uint64_t> latest;
};

struct Out {
  flow::OutputInfo info;
  std::int64_t next = 0;
  std::vector<Message> held;           // events that were decided on, in the order in which they leave
  std::vector<std::uint32_t> flow_to;  // places in `ins`
  std::uint64_t hash = 0;
};

struct Node {
  std::vector<std::uint32_t> ins, outs;
  std::uint64_t value = 0;
  std::int64_t sent_at = INT64_MIN, sent = 0;
};

class Oracle {
 public:
  Oracle(const flow::Graph& graph, SimTime until) : until_(until.ns()) {
    for (const flow::NodeInfo& info : graph.nodes) {
      Node& node = nodes_.emplace_back();
      for (std::size_t i = 0; i < info.inputs.size(); ++i) {
        node.ins.push_back(static_cast<std::uint32_t>(ins_.size()));
        ins_.push_back({false, {}, never, {}});  // nothing is connected to it yet
      }
      for (const flow::OutputInfo& output : info.outputs) {
        node.outs.push_back(static_cast<std::uint32_t>(outs_.size()));
        outs_.push_back({output, output.first.ns(), {}, {}, 0});
      }
    }
    for (const auto& [output, input] : graph.connections) {
      Out& out = outs_[nodes_[output.node].outs[output.port]];
      const std::uint32_t in = nodes_[input.node].ins[input.port];
      ins_[in].event = out.info.kind == FlowKind::event;
      ins_[in].promised = ins_[in].event ? graph.start.ns() : out.next;
      out.flow_to.push_back(in);
    }
  }

  Foretold run() {
    bool moved = true;
    while (moved) {
      while (promise()) {
      }
      moved = false;
      for (Node& node : nodes_) moved = step(node) || moved;
    }
    Foretold all{{}, messages_, true};
    for (const Out& out : outs_) all.flows.push_back(out.hash);
    for (const Node& node : nodes_) all.complete = all.complete && std::get<0>(least(node)) >= until_;
    return all;
  }

 private:
  [[nodiscard]] Key key_of(const In& in, std::size_t port) const {
    return {in.waiting.empty() ? in.promised : in.waiting.front().time, 1, port};
  }
  [[nodiscard]] Key key_of(const Out& out, std::size_t port) const {
    if (out.info.kind == FlowKind::predictive) return {out.next, 0, port};
    if (out.info.kind == FlowKind::observation) return {out.next, 2, port};
    const bool in_time = !out.held.empty() && out.held.front().time < until_;  // rule 5
    return {in_time ? out.held.front().time - out.info.lookahead.ns() : never, 2, port};
  }
  [[nodiscard]] Key least(const Node& node) const {
    Key least{never, 3, 0};
    for (std::size_t i = 0; i < node.ins.size(); ++i) least = std::min(least, key_of(ins_[node.ins[i]], i));
    for (std::size_t i = 0; i < node.outs.size(); ++i) least = std::min(least, key_of(outs_[node.outs[i]], i));
    return least;
  }

  /// Rule 3. Whether anybody knows more than before.
  bool promise() {
    bool news = false;
    for (const Node& node : nodes_) {
      const std::int64_t at = std::min(std::get<0>(least(node)), until_);
      for (const std::uint32_t number : node.outs) {
        const Out& out = outs_[number];
        if (out.info.kind != FlowKind::event) continue;
        const std::int64_t first = out.held.empty() ? never : out.held.front().time;
        for (const std::uint32_t in : out.flow_to) {
          const std::int64_t bound = std::min(at + out.info.lookahead.ns(), first);
          if (bound <= ins_[in].promised) continue;
          ins_[in].promised = bound;
          news = true;
        }
      }
    }
    return news;
  }

  bool step(Node& node) {
    const auto [at, phase, port] = least(node);
    if (at >= until_) return false;
    if (phase == 1) return consume(node, port, at);
    Out& out = outs_[node.outs[port]];
    if (out.info.kind == FlowKind::event) {
      const Message event = out.held.front();
      out.held.erase(out.held.begin());
      send(out, event, event.time);
    } else {
      emit(node, out, port, at);
    }
    return true;
  }

  bool consume(Node& node, std::size_t port, std::int64_t at) {
    In& in = ins_[node.ins[port]];
    if (in.waiting.empty()) return false;
    const std::uint64_t value = in.waiting.front().value;
    in.waiting.pop_front();
    in.latest = value;
    node.value = flow::mix(node.value, value, port);
    decide_on_events(node, at);
    return true;
  }

  void emit(Node& node, Out& out, std::size_t port, std::int64_t at) {
    node.value = flow::mix(node.value, port, 5);
    for (std::size_t i = 0; i < node.ins.size(); ++i) {
      if (const auto& latest = ins_[node.ins[i]].latest) node.value = flow::mix(node.value, *latest, i + 3);
    }
    const std::uint64_t said = node.value;
    out.next = at + (out.info.varies ? 1 + static_cast<std::int64_t>(node.value % 3) : out.info.period.ns());
    decide_on_events(node, at);
    send(out, {at, said}, out.next);
  }

  void decide_on_events(Node& node, std::int64_t at) {
    constexpr std::int64_t most = 3;  // at one time
    if (at != node.sent_at) node.sent = 0;
    node.sent_at = at;
    std::uint64_t number = 0;
    for (const std::uint32_t index : node.outs) {
      Out& out = outs_[index];
      if (out.info.kind != FlowKind::event) continue;
      const std::uint64_t event = number++;
      if (node.sent >= most) break;
      const std::uint64_t dice = flow::mix(node.value, event, 9) % 8;
      if (dice > 3) continue;
      ++node.sent;
      const Message message{at + out.info.lookahead.ns() + static_cast<std::int64_t>(dice % 3),
                            flow::mix(node.value, event, 11)};
      const auto behind =
          std::find_if(out.held.begin(), out.held.end(), [&](const Message& one) { return one.time > message.time; });
      out.held.insert(behind, message);
    }
  }

  void send(Out& out, const Message& message, std::int64_t next) {
    ++messages_;
    out.hash = flow::mix(out.hash, static_cast<std::uint64_t>(message.time) + 17, message.value);
    for (const std::uint32_t in : out.flow_to) {
      ins_[in].waiting.push_back(message);
      ins_[in].promised = std::max(ins_[in].promised, next);
    }
  }

  std::int64_t until_;
  std::vector<Node> nodes_;
  std::vector<In> ins_;
  std::vector<Out> outs_;
  std::uint64_t messages_ = 0;
};

}  // namespace

Foretold foretell(const flow::Graph& graph, SimTime until) { return Oracle(graph, until).run(); }

}  // namespace isochron::spec
