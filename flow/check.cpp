#include "flow/check.hpp"

#include <map>
#include <set>

#include "core/input_error.hpp"
#include "core/time_text.hpp"

namespace isochron::flow {
namespace {

class Checker {
 public:
  explicit Checker(const Graph& graph) : graph_(graph) {}

  std::vector<Problem> run(SimTime until) {
    check_names();
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) check_outputs(n);
    check_connections();
    if (problems_.empty()) check_deadlock(until);
    return std::move(problems_);
  }

 private:
  void add(Problem problem) { problems_.push_back(std::move(problem)); }

  void check_names() {
    std::map<std::string, std::uint32_t> nodes;
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      const NodeInfo& node = graph_.nodes[n];
      if (node.name.empty()) add({"node " + std::to_string(n) + " has no name", "", n, {}, {}, {}});
      if (!nodes.emplace(node.name, n).second) {
        add({"two nodes are called " + node.name, "give one of them another name", n, {}, {}, {}});
      }
      check_ports(n, node.inputs, "input");
      check_ports(n, node.outputs, "output");
    }
  }

  template <class Ports>
  void check_ports(std::uint32_t n, const Ports& ports, const char* what) {
    std::set<std::string> names;
    for (const auto& port : ports) {
      if (names.insert(port.name).second) continue;
      add({"node " + graph_.nodes[n].name + " has two " + what + "s called " + port.name, "", n, {}, {}, {}});
    }
  }

  void check_outputs(std::uint32_t n) {
    const NodeInfo& node = graph_.nodes[n];
    for (std::uint32_t p = 0; p < node.outputs.size(); ++p) {
      const OutputInfo& output = node.outputs[p];
      const PortRef port{n, p};
      const std::string flow = "flow " + graph_.output_name(port);
      const auto wrong = [&](std::string what, std::string hint) {
        add({flow + what, std::move(hint), n, port, {}, {}});
      };
      if (output.capacity == 0) wrong(" has a buffer for no message", "a capacity of 1 is enough");
      if (output.capacity > max_capacity) wrong(" has a buffer for more than a million messages", "");
      if (output.kind == FlowKind::event) {
        if (output.lookahead < SimSpan::zero()) wrong(" has a negative lookahead", "");
        continue;
      }
      if (output.period <= SimSpan::zero()) {
        wrong(" has a period of " + to_string(output.period), "a period is longer than 0");
      }
      if (output.first < graph_.start) {
        wrong(" begins at " + to_string(output.first) + ", before the start at " + to_string(graph_.start), "");
      }
    }
  }

  void check_connections() {
    std::map<PortRef, PortRef> source_of;
    for (const Connection& connection : graph_.connections) {
      if (!exists(connection)) continue;
      const auto [known, is_new] = source_of.emplace(connection.input, connection.output);
      const std::string input = "input " + graph_.input_name(connection.input);
      if (!is_new) {
        add({input + " is driven twice: by " + graph_.output_name(known->second) + " and by " +
                 graph_.output_name(connection.output),
             "give the node an input for each of them",
             connection.input.node,
             connection.output,
             connection.input,
             {}});
      }
      if (connection.input.node == connection.output.node) {
        add({"node " + graph_.nodes[connection.input.node].name + " sends to itself by " +
                 graph_.output_name(connection.output),
             "a node knows its own state; keep the value in a member",
             connection.input.node,
             connection.output,
             connection.input,
             {}});
      }
      check_types(connection);
    }
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      for (std::uint32_t p = 0; p < graph_.nodes[n].inputs.size(); ++p) {
        const PortRef input{n, p};
        if (source_of.contains(input)) continue;
        add({"input " + graph_.input_name(input) + " is not connected", "connect an output to it", n, {}, input, {}});
      }
    }
  }

  bool exists(const Connection& connection) {
    const auto [output, input] = connection;
    const bool there = output.node < graph_.nodes.size() && input.node < graph_.nodes.size() &&
                       output.port < graph_.nodes[output.node].outputs.size() &&
                       input.port < graph_.nodes[input.node].inputs.size();
    if (!there) add({"a connection names a port that does not exist", "", output.node, {}, {}, {}});
    return there;
  }

  void check_types(const Connection& connection) {
    const PayloadType* out = graph_.nodes[connection.output.node].outputs[connection.output.port].type;
    const PayloadType* in = graph_.nodes[connection.input.node].inputs[connection.input.port].type;
    if (out == nullptr || in == nullptr || out->id == in->id) return;
    const bool same_name = out->name == in->name;
    add({"flow " + graph_.output_name(connection.output) + " carries " + out->name +
             (same_name ? " with " + fields_of(*out) : "") + ", but input " + graph_.input_name(connection.input) +
             " takes " + in->name + (same_name ? " with " + fields_of(*in) : ""),
         same_name ? "build both with the same definition of the message" : "",
         connection.input.node,
         connection.output,
         connection.input,
         {}});
  }

  /// "{float64 watts, float64 kelvin}", and those of messages inside where there are any.
  static std::string fields_of(const PayloadType& type) {
    std::string text = "{";
    for (const char c : type.schema) {
      if (c == '\n') text += ", ";
      if (c != '\n' && c != '=') text += c;
    }
    if (text.ends_with(", ")) text.resize(text.size() - 2);
    return text.size() > 1 ? text + "}" : std::to_string(type.size) + " bytes";
  }

  void check_deadlock(SimTime until) {
    const auto deadlock = find_deadlock(graph_, until);
    if (!deadlock) return;
    add({what_of(*deadlock) + ring_of(*deadlock),
         hint_of(*deadlock),
         deadlock->flows.front().node,
         deadlock->flows.front(),
         {},
         deadlock->at});
  }

  static std::string what_of(const Deadlock& deadlock) {
    const std::string at = to_string(deadlock.at);
    switch (deadlock.why) {
      case Deadlock::Why::certain:
        return "deadlock at " + at + ": each of these waits for the one before it: ";
      case Deadlock::Why::varies:
        return "possible deadlock from " + at +
               " on: a period varies, and as soon as all speak at one time each of these waits for the one before it: ";
      case Deadlock::Why::undecided:
        return "a deadlock from " + at + " on cannot be excluded: too many different periods meet around the ring ";
    }
    return "";
  }

  std::string ring_of(const Deadlock& deadlock) const {
    std::string ring;
    for (const PortRef flow : deadlock.flows) {
      const OutputInfo& output = graph_.nodes[flow.node].outputs[flow.port];
      ring += graph_.nodes[flow.node].name + " -(" + output.name + (output.varies ? ", varying" : "") + ")-> ";
    }
    return ring + graph_.nodes[deadlock.flows.front().node].name;
  }

  static std::string hint_of(const Deadlock& deadlock) {
    std::string hint =
        "make one of these flows predictive, give an event flow a lookahead, or shift an observation's first time";
    if (deadlock.why == Deadlock::Why::varies) hint += "; one whose period is fixed need not be declared as varying";
    return hint;
  }

  static constexpr std::uint32_t max_capacity = 1U << 20;
  const Graph& graph_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> check(const Graph& graph, SimTime until) { return Checker(graph).run(until); }

void require_good(const Graph& graph, SimTime until) {
  std::vector<Mistake> mistakes;
  for (Problem& problem : check(graph, until)) {
    mistakes.push_back({{}, std::move(problem.what), std::move(problem.hint)});
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

}  // namespace isochron::flow
