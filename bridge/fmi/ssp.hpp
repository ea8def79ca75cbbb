#pragma once
// Systems of FMUs that other tools describe: SSP 1.0, a zip file with SystemStructure.ssd and its FMUs. It becomes the
// nodes of a scenario, as text that people go on with.
//
// Components that are FMUs become nodes, connections their inputs, parameter sets their parameters. Systems inside
// systems are flattened; a component's name is then outer_inner.
//
// Fails: InputError with the line, for what would not mean the same here: other kinds of components, connections that
//        transform values.

#include <string>
#include <utility>
#include <vector>

#include "bridge/fmi/archive.hpp"

namespace isochron::fmi {

struct SystemStructure {
  struct Component {
    std::string name;                                             // of the node
    std::string source;                                           // the FMU, as it is called in the archive
    std::vector<std::pair<std::string, std::string>> parameters;  // variable, value
    std::vector<std::pair<std::string, std::string>> inputs;      // variable, node.out.field
    int line = 0;
  };
  std::string name;
  std::vector<Component> components;
  double stop_time = 0;  // 0 = not said
};

SystemStructure read_ssp(const Archive& archive);
/// A scenario; `every` is the step of all FMUs, "" = as each FMU says.
std::string scenario_text(const SystemStructure& system, const std::string& every);

}  // namespace isochron::fmi
