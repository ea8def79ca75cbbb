#pragma once
// From what a scenario wants of an FMU to a node that can be made: every name is found, every type and unit checked,
// before anything runs.
//
// An FMU's outputs depend on nothing but itself, so they are planned first, for all FMUs; then their inputs, which may
// come from each other.
//
// Promises: all mistakes of one FMU are found in one go.
// Fails:    InputError, each mistake at its place in the scenario.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bridge/fmi/package.hpp"
#include "bridge/fmi/spec.hpp"
#include "core/input_error.hpp"
#include "core/time.hpp"
#include "flow/payload.hpp"

namespace isochron::fmi {

/// What a scenario says, with its places.
struct Wishes {
  struct Text {
    std::string name, text;
    Place place;
  };
  /// A flow of its own: one variable alone, or a message with fields. Without a message's name one is made up.
  struct Flow {
    std::string name, variable, message;
    std::vector<Text> fields;  // field, variable; none = all outputs
    Place place;
    bool intermediate = false;  // at every step of the FMU's own solver
  };
  std::string node;
  Place place;
  std::optional<SimSpan> every;
  std::optional<double> tolerance;
  std::optional<SolverKind> solver;    // of model exchange
  std::optional<SimSpan> solver_step;  // of a solver with fixed steps; `every` if left out
  bool log = false;
  std::vector<Text> parameters;  // variable, value
  std::vector<Text> inputs;      // variable, node.output.field [in unit]
  std::vector<Flow> outputs;     // none = one flow `out` with all outputs
};

/// What an input can be taken from.
struct Source {
  const flow::PayloadType* type = nullptr;
  std::map<std::string, Unit> units = {};  // of fields, where they are known
};
/// By the name of a flow, node.output; null = there is none, and the function has thrown why.
using FindSource = std::function<Source(const std::string& flow)>;

class Wiring {
 public:
  /// Plans the outputs.
  Wiring(std::shared_ptr<const Package> package, Wishes wishes);

  [[nodiscard]] const Package& package() const { return *package_; }
  /// Its own flow, for others; nothing if it has none of that name.
  [[nodiscard]] std::optional<Source> source(const std::string& output) const;
  /// Plans the inputs.
  [[nodiscard]] NodeSpec plan(const FindSource& find) const;

 private:
  class Outputs;
  class Inputs;

  std::shared_ptr<const Package> package_;
  Wishes wishes_;
  NodeSpec spec_;
  std::map<std::string, Source> sources_;  // by output
};

/// A name for a field of a message: `der(h)` is der_h, `a.b[1]` is a_b_1.
std::string field_name(const std::string& variable);

}  // namespace isochron::fmi
