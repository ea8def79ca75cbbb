#pragma once
// A whole system as plain data: nodes, their ports, and which output feeds which inputs. It is what the load-time check
// (check.hpp) reads, what the scenario layer fills from a file, and what channels are laid out from. It holds no user
// code.
//
// Every output is one flow: one source, any number of sinks. Flows are numbered in the order of their declaration: node
// by node, output by output. An input's number within its node breaks ties between messages of equal time.

#include <cstdint>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "flow/payload.hpp"

namespace isochron::flow {

/// When a message with time S may leave, seen from what its node must have consumed before:
///   predictive   all before S: it was computed from the past (an actuator, a physics step)
///   observation  all up to and including S: it shows the present (a camera, a sensor)
///   event        sent at no known time, but at least `lookahead` after what caused it
enum class FlowKind : std::uint8_t { predictive, observation, event };
const char* to_string(FlowKind kind);

struct InputInfo {
  std::string name;
  const PayloadType* type = nullptr;  // null = not checked
};

struct OutputInfo {
  std::string name;
  FlowKind kind = FlowKind::predictive;
  SimSpan period;              // between messages, unless a message says otherwise; not of events
  SimTime first;               // time of the first message; not of events
  SimSpan lookahead;           // events only
  std::uint32_t capacity = 4;  // messages that a sink may lag behind; at least 1
  const PayloadType* type = nullptr;
  bool varies = false;  // the period changes from message to message; not of events
};

struct NodeInfo {
  std::string name;
  std::vector<InputInfo> inputs;
  std::vector<OutputInfo> outputs;
};

struct PortRef {
  std::uint32_t node = 0;
  std::uint32_t port = 0;
  friend auto operator<=>(const PortRef&, const PortRef&) = default;
};

struct Connection {
  PortRef output;
  PortRef input;
};

struct Graph {
  SimTime start;  // nothing is stamped earlier
  std::vector<NodeInfo> nodes;
  std::vector<Connection> connections;

  [[nodiscard]] std::string output_name(PortRef port) const;
  [[nodiscard]] std::string input_name(PortRef port) const;
};

/// A flow is named by its source: "yellow.position".
inline std::string Graph::output_name(PortRef port) const {
  return nodes[port.node].name + "." + nodes[port.node].outputs[port.port].name;
}
inline std::string Graph::input_name(PortRef port) const {
  return nodes[port.node].name + "." + nodes[port.node].inputs[port.port].name;
}

inline const char* to_string(FlowKind kind) {
  switch (kind) {
    case FlowKind::predictive:
      return "predictive";
    case FlowKind::observation:
      return "observation";
    case FlowKind::event:
      return "event";
  }
  return "?";
}

}  // namespace isochron::flow
