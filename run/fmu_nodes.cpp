#include "run/fmu_nodes.hpp"

#include <algorithm>
#include <filesystem>

#include "bridge/fmi/node.hpp"
#include "scenario/find_file.hpp"

namespace isochron {
namespace {

using Texts = std::vector<fmi::Wishes::Text>;

Texts placed(const VariableTexts& texts) {
  Texts all;
  for (const auto& [name, text] : texts) all.push_back({name, text, texts.places.at(name)});
  return all;
}

fmi::Wishes wishes_of(const std::string& name, const NodeSection& section) {
  fmi::Wishes wishes;
  wishes.node = name;
  wishes.place = section.place_of("fmu");
  wishes.every = section.every;
  wishes.tolerance = section.tolerance;
  wishes.solver = section.solver;
  wishes.solver_step = section.solver_step;
  wishes.log = section.log;
  wishes.parameters = placed(section.parameters);
  wishes.inputs = placed(section.inputs);
  for (const auto& [flow, output] : section.outputs) {
    wishes.outputs.push_back(
        {flow, output.variable, output.message, placed(output.fields), output.place, output.intermediate});
  }
  return wishes;
}

/// What a step of it costs.
fmi::StepCost cost_of(const Scenario& scenario, const ComputeSection& compute) {
  using Kind = fmi::StepCost::Kind;
  const Fraction speed = scenario.time.cpu_speed;
  fmi::StepCost cost;
  cost.speed = static_cast<double>(speed.numerator) / static_cast<double>(speed.denominator);
  cost.seed = scenario.seed;
  if (compute.contract == Contract::measured) cost.kind = Kind::measured;
  if (compute.contract == Contract::recorded) cost.kind = Kind::recorded, cost.tape = compute.recorded.path;
  if (compute.modelled) {
    const ComputeRate rate(speed.denominator, speed.numerator);
    cost.ns = rate.apply(CpuSpan::from_ns(compute.modelled->fixed.ns())).ns();
    cost.deviation = rate.apply(CpuSpan::from_ns(compute.modelled->deviation.ns())).ns();
    if (cost.deviation > 0) cost.kind = Kind::drawn;
  }
  return cost;
}

/// What is wrong is said at `place`, unless it knows a better one.
template <class F>
decltype(auto) at(const Place& place, F&& what) {
  try {
    return what();
  } catch (const InputError& error) {
    std::vector<Mistake> mistakes = error.mistakes();
    for (Mistake& mistake : mistakes) {
      const std::string about = mistake.place.file.empty() || mistake.place.line > 0 ? "" : mistake.place.file + ": ";
      if (mistake.place.line == 0) mistake = {place, about + mistake.what, mistake.hint};
    }
    throw InputError(std::move(mistakes));
  }
}

}  // namespace

std::string fmu_file(const std::string& fmu, const std::string& folder) {
  if (std::filesystem::path(fmu).is_absolute()) return fmu;
  return find_library(fmu, folder).value_or((std::filesystem::path(folder) / fmu).lexically_normal().string());
}

FmuNodes::FmuNodes(const Scenario& scenario) : scenario_(scenario) {}

const NodeSection* FmuNodes::section_of(const std::string& name) const {
  for (const auto& [node, section] : scenario_.nodes) {
    if (node == name) return &section;
  }
  return nullptr;
}

std::string FmuNodes::file_of(const NodeSection& section) const { return fmu_file(section.fmu, scenario_.folder); }

const fmi::Wiring& FmuNodes::wiring(const std::string& name, const NodeSection& section) {
  const auto known = wirings_.find(name);
  if (known != wirings_.end()) return known->second;
  return at(section.place_of("fmu"), [&]() -> const fmi::Wiring& {
    return wirings_.try_emplace(name, fmi::open_package(file_of(section)), wishes_of(name, section)).first->second;
  });
}

fmi::Source FmuNodes::source(const std::string& flow, const flow::Graph& graph) {
  const auto dot = flow.find('.');
  const std::string node = flow.substr(0, dot), output = flow.substr(dot + 1);
  const NodeSection* section = section_of(node);
  std::string known;
  if (section != nullptr && !section->fmu.empty()) {
    if (auto own = wiring(node, *section).source(output)) return *own;
  }
  for (const flow::NodeInfo& info : graph.nodes) {
    if (info.name != node) continue;
    for (const flow::OutputInfo& port : info.outputs) {
      if (port.name == output) return {port.type, {}};
      known += (known.empty() ? "" : ", ") + port.name;
    }
    throw InputError({}, "node " + node + " has no output `" + output + "`", "it has " + known);
  }
  if (section != nullptr) throw InputError({}, "node " + node + " has no output `" + output + "`");
  throw InputError({}, "there is no node `" + node + "`", "write node.output.field");
}

bool FmuNodes::needs_own_process(const NodeSection& section, const fmi::Wiring& wiring) const {
  if (section.process == FmuProcess::own) return true;
  if (!wiring.package().description().once_per_process) return false;
  const auto same = std::ranges::count_if(scenario_.nodes, [&](const auto& entry) {
    return !entry.second.fmu.empty() && file_of(entry.second) == file_of(section);
  });
  return same > 1;
}

std::unique_ptr<flow::UserNode> FmuNodes::make(const std::string& name, const flow::Graph& graph) {
  const NodeSection& section = *section_of(name);
  const fmi::Wiring& planned = wiring(name, section);
  return at(section.place_of("fmu"), [&] {
    fmi::NodeSpec spec = planned.plan([&](const std::string& flow) { return source(flow, graph); });
    if (section.compute) spec.cost = cost_of(scenario_, *section.compute);
    if (spec.cost.kind == fmi::StepCost::Kind::fixed && (spec.cost.ns < 0 || spec.cost.ns >= spec.every_ns)) {
      throw InputError(section.compute->place,
                       "a step must cost less than its `every`, " + to_string(SimSpan::from_ns(spec.every_ns)));
    }
    if ((spec.cost.kind != fmi::StepCost::Kind::fixed || spec.cost.ns > 0) &&
        std::ranges::any_of(spec.outputs, &fmi::NodeSpec::Output::intermediate)) {
      throw InputError(section.compute->place, "a step that costs time has no intermediate outputs");
    }
    std::vector<std::string>& heard = heard_[name];
    for (const fmi::NodeSpec::Input& input : spec.inputs) heard.push_back(input.flow);
    if (!needs_own_process(section, planned)) return fmi::make_node(spec);
    const auto program = find_program(fmi::node_program, scenario_.folder);
    if (!program) throw InputError({}, std::string("there is no program `") + fmi::node_program + "` to run it in");
    return fmi::make_node_in_process(spec, *program, section.fmu);
  });
}

}  // namespace isochron
