#pragma once
// The nodes of a scenario that are FMUs (bridge/fmi). All of them are read before one is made, because they may take
// their inputs from each other.
//
// Fails: InputError with every mistake, placed in the scenario.

#include <map>
#include <memory>
#include <string>

#include "bridge/fmi/wiring.hpp"
#include "flow/graph.hpp"
#include "flow/user_node.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

class FmuNodes {
 public:
  explicit FmuNodes(const Scenario& scenario);

  /// `graph` has the other nodes.
  [[nodiscard]] std::unique_ptr<flow::UserNode> make(const std::string& name, const flow::Graph& graph);
  /// The flows that a node was made to hear, in the order of its inputs.
  [[nodiscard]] const std::vector<std::string>& heard_by(const std::string& name) const { return heard_.at(name); }

 private:
  const fmi::Wiring& wiring(const std::string& name, const NodeSection& section);
  fmi::Source source(const std::string& flow, const flow::Graph& graph);
  [[nodiscard]] const NodeSection* section_of(const std::string& name) const;
  [[nodiscard]] bool needs_own_process(const NodeSection& section, const fmi::Wiring& wiring) const;
  [[nodiscard]] std::string file_of(const NodeSection& section) const;

  const Scenario& scenario_;
  std::map<std::string, fmi::Wiring> wirings_;
  std::map<std::string, std::vector<std::string>> heard_;
};

/// The file that a section's `fmu` names.
std::string fmu_file(const std::string& fmu, const std::string& folder);

}  // namespace isochron
