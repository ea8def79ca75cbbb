#include "flow/system.hpp"

#include <optional>

#include "core/input_error.hpp"

namespace isochron::flow {

System::System() = default;
System::~System() = default;
System::System(System&&) noexcept = default;
System& System::operator=(System&&) noexcept = default;

UserNode& System::add(std::string name, std::unique_ptr<UserNode> node) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  if (!by_name_.emplace(name, index).second) throw InputError({}, "two nodes are called " + name);
  NodeInfo info{std::move(name), {}, {}};
  for (const InPort& port : node->inputs_) info.inputs.push_back(port.info);
  for (const OutPort& port : node->outputs_) info.outputs.push_back(port.info);
  flow_count_ += static_cast<std::uint32_t>(info.outputs.size());
  graph_.nodes.push_back(std::move(info));
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

PortRef System::find(std::string_view text, bool output) const {
  const char* what = output ? "output" : "input";
  const auto dot = text.rfind('.');
  const std::string_view node_name = text.substr(0, dot);
  const auto node = by_name_.find(node_name);
  if (dot == std::string_view::npos || node == by_name_.end()) {
    throw InputError({}, "there is no node for " + std::string(what) + " `" + std::string(text) + "`",
                     std::string("write node.") + what);
  }
  const NodeInfo& info = graph_.nodes[node->second];
  const std::string_view port = text.substr(dot + 1);
  std::string known;
  const auto look = [&](const auto& ports) -> std::optional<std::uint32_t> {
    for (std::uint32_t i = 0; i < ports.size(); ++i) {
      if (ports[i].name == port) return i;
      known += (known.empty() ? "" : ", ") + ports[i].name;
    }
    return std::nullopt;
  };
  const auto found = output ? look(info.outputs) : look(info.inputs);
  if (found) return {node->second, *found};
  throw InputError({}, "node " + info.name + " has no " + what + " `" + std::string(port) + "`",
                   known.empty() ? "it has none" : "it has " + known);
}

void System::connect(std::string_view output, std::string_view input) {
  connect(find(output, true), find(input, false));
}

void System::connect(PortRef output, PortRef input) { graph_.connections.push_back({output, input}); }

std::vector<PortRef> System::flows() const {
  std::vector<PortRef> flows;
  for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    for (std::uint32_t p = 0; p < graph_.nodes[n].outputs.size(); ++p) flows.push_back({n, p});
  }
  return flows;
}

void System::set_output(PortRef port, const OutputInfo& info) {
  graph_.nodes[port.node].outputs[port.port] = info;
  nodes_[port.node]->outputs_[port.port].info = info;
}

}  // namespace isochron::flow
