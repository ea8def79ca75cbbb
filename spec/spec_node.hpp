#pragma once
// The node that the explorer fills systems with. What it sends depends on everything it consumed, in order, and on the
// latest message of each input, so that any difference in order shows; it changes the periods of flows that vary as it
// goes and sends events now and then. It watches rules 1 to 3 itself, and that latest() is what it consumed last.

#include <array>
#include <string>
#include <vector>

#include "flow/user_node.hpp"

namespace isochron::spec {

struct Token {
  std::uint64_t value = 0;
};

class SpecNode : public flow::UserNode {
 public:
  static constexpr std::uint32_t max_outputs = 4;
  static constexpr std::int64_t max_events = 3;
  /// Everything that changes as it runs.
  struct State {
    std::uint64_t value = 0;
    std::int64_t consumed_at = INT64_MIN;     // the latest stamp consumed
    std::int64_t emitted_at = INT64_MIN;      // the latest stamp of a predictive or observation message
    std::int64_t sent_at = INT64_MIN;         // when it last sent events
    std::int64_t sent = 0;                    // how many then
    std::array<std::uint64_t, 8> consumed{};  // of each input: hash of what came
    std::array<std::uint64_t, 8> latest{};    // of each input: what came last
  };
  State state;
  std::string broken;
  std::string* trace = nullptr;  // not null: its steps are added, as docs/node_protocol.md has them

  explicit SpecNode(const flow::NodeInfo& info) : info_(info) {
    for (const flow::InputInfo& in : info.inputs) inputs_.push_back(input<&SpecNode::consume>(in.name));
    make_outputs<0>();
  }

  /// One line of a trace.
  static std::string trace_line(const std::string& node, const char* step, const std::string& port, SimTime t,
                                const Token& token, const std::string& more = "") {
    return "{\"node\": \"" + node + "\", \"step\": \"" + step + "\", \"port\": \"" + port +
           "\", \"time\": " + std::to_string(t.ns()) + more + ", \"payload\": \"" + std::to_string(token.value) +
           "\"}\n";
  }

  /// The hash of what a flow carried, as recorder and sinks compute it.
  static std::uint64_t add(std::uint64_t hash, SimTime t, const Token& token) {
    return flow::mix(hash, static_cast<std::uint64_t>(t.ns()) + 17, token.value);
  }

 private:
  template <std::uint32_t k>
  void make_outputs() {
    if constexpr (k < max_outputs) {
      if (k < info_.outputs.size()) {
        const flow::OutputInfo& out = info_.outputs[k];
        if (out.kind == flow::FlowKind::event) {
          events_.push_back(event<Token>(out.name, out.lookahead, out.capacity));
          event_names_.push_back(out.name);
        } else {
          const flow::Schedule schedule{out.kind, out.period, out.first, out.varies};
          outputs_.push_back({k, output<&SpecNode::emit<k>>(out.name, schedule, out.capacity)});
        }
      }
      make_outputs<k + 1>();
    }
  }

  void consume(const Token& token, SimTime t, flow::InputId id) {
    if (t.ns() < state.consumed_at) break_rule("1: consumed back in time", t);
    if (t.ns() < state.emitted_at) break_rule("2: consumed what is earlier than an emission", t);
    note("consume", info_.inputs[id.index].name, t, token);
    state.consumed_at = t.ns();
    state.consumed[id.index] = add(state.consumed[id.index], t, token);
    state.latest[id.index] = token.value;
    state.value = flow::mix(state.value, token.value, id.index);
    send_events(t);
  }

  template <std::uint32_t k>
  void emit(Token& token, SimTime t) {
    const bool predictive = info_.outputs[k].kind == flow::FlowKind::predictive;
    const bool late = predictive ? t.ns() <= state.consumed_at : t.ns() < state.consumed_at;
    if (late) break_rule("3: emitted what is not later than something consumed", t);
    state.emitted_at = std::max(state.emitted_at, t.ns());
    state.value = flow::mix(state.value, k, 5);
    look_at_latest(t);
    token.value = state.value;
    SimTime next = t + info_.outputs[k].period;
    for (auto& [index, output] : outputs_) {
      if (index == k && info_.outputs[k].varies) {
        next = t + SimSpan::from_ns(1 + static_cast<std::int64_t>(state.value % 3));
        output.next_at(next);
      }
    }
    note("emit", info_.outputs[k].name, t, token, ", \"next\": " + std::to_string(next.ns()));
    send_events(t);
  }

  void look_at_latest(SimTime t) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool nothing_came = state.consumed[i] == 0;
      if (inputs_[i].empty() != nothing_came) return break_rule("4: latest() is there without a message", t);
      if (nothing_came) continue;
      if (inputs_[i].latest().value != state.latest[i]) break_rule("4: latest() is not what was consumed last", t);
      state.value = flow::mix(state.value, inputs_[i].latest().value, i + 3);
    }
  }

  /// A few events at most for each stamp: where events cause events, their number would grow without end.
  void send_events(SimTime t) {
    if (t.ns() != state.sent_at) state.sent = 0;
    state.sent_at = t.ns();
    for (std::size_t i = 0; i < events_.size() && state.sent < max_events; ++i) {
      const std::uint64_t dice = flow::mix(state.value, i, 9) % 8;
      if (dice > 3) continue;
      const SimSpan extra = SimSpan::from_ns(static_cast<std::int64_t>(dice % 3));
      ++state.sent;
      const Token token{flow::mix(state.value, i, 11)};
      note("send", event_names_[i], t + events_[i].lookahead() + extra, token);
      events_[i].send(t + events_[i].lookahead() + extra, token);
    }
  }

  void note(const char* step, const std::string& port, SimTime t, const Token& token, const std::string& more = "") {
    if (trace != nullptr) *trace += trace_line(info_.name, step, port, t, token, more);
  }

  void break_rule(const char* rule, SimTime t) {
    if (broken.empty()) broken = "rule " + std::string(rule) + ", node " + info_.name + " at " + std::to_string(t.ns());
  }

  flow::NodeInfo info_;
  std::vector<flow::Input<Token>> inputs_;
  std::vector<std::pair<std::uint32_t, flow::Output<Token>>> outputs_;
  std::vector<flow::Event<Token>> events_;
  std::vector<std::string> event_names_;
};

}  // namespace isochron::spec
