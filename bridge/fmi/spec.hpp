#pragma once
// All that is needed to make a node of an unpacked FMU, as plain data: what the scenario wants (wiring.hpp) after every
// name in it was found and every type and unit was checked. It travels as JSON to a node in a process of its own.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bridge/fmi/solver.hpp"

namespace isochron::fmi {

struct NodeSpec {
  std::string name;    // of the node
  std::string folder;  // where the FMU was unpacked to
  std::int64_t every_ns = 0;
  std::int64_t cost_ns = 0;  // how much later than their time its outputs are there
  std::optional<double> tolerance;
  SolverKind solver = SolverKind::cvode;  // of model exchange
  bool exchange = false;                  // of an FMU with both interfaces: model exchange, not co-simulation
  std::int64_t solver_step_ns = 0;        // of a solver with fixed steps
  bool log = false;
  std::vector<std::pair<std::string, std::string>> parameters;  // variable, value

  /// What a field of a message does: the variable becomes factor × field + offset.
  struct Field {
    std::string variable, path;
    double factor = 1, offset = 0;
  };
  struct Input {
    std::string flow;  // node.output
    std::string type;  // of its messages, as flow::type_text() writes it
    std::vector<Field> fields;
  };
  std::vector<Input> inputs;

  struct Output {
    std::string flow, type;
    std::vector<std::string> variables;  // of each field, in order; "" = the time in seconds
  };
  std::vector<Output> outputs;
};

std::string to_json(const NodeSpec& spec);
/// Fails: InputError.
NodeSpec spec_of_json(const std::string& text);

}  // namespace isochron::fmi
