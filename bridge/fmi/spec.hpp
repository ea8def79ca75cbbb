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

/// What a step costs: so much later than their time its outputs are there.
struct StepCost {
  enum class Kind : std::uint8_t { fixed, drawn, measured, recorded };
  Kind kind = Kind::fixed;
  std::int64_t ns = 0;         // fixed: each step's; drawn: the mean
  std::int64_t deviation = 0;  // drawn: the standard deviation
  std::uint64_t seed = 0;      // drawn
  double speed = 1;            // measured: of the computer that it is charged to, in units of this one
  std::string tape;            // recorded: the journal of a run with the same node
};

struct NodeSpec {
  std::string name;    // of the node
  std::string folder;  // where the FMU was unpacked to
  std::int64_t every_ns = 0;
  StepCost cost;
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
    bool intermediate = false;           // events, at every step of the FMU's own solver
  };
  std::vector<Output> outputs;
};

std::string to_json(const NodeSpec& spec);
/// Fails: InputError.
NodeSpec spec_of_json(const std::string& text);

}  // namespace isochron::fmi
