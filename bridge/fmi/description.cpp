#include "bridge/fmi/description.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>

#include "core/xml.hpp"

namespace isochron::fmi {
namespace {

struct TypeInfo {
  const char* message;
  std::size_t size;
};
constexpr std::array<TypeInfo, 14> type_infos{{{"float32", 4},
                                               {"float64", 8},
                                               {"int8", 1},
                                               {"uint8", 1},
                                               {"int16", 2},
                                               {"uint16", 2},
                                               {"int32", 4},
                                               {"uint32", 4},
                                               {"int64", 8},
                                               {"uint64", 8},
                                               {"bool", 1},
                                               {"string", 0},
                                               {"uint8[]", 0},
                                               {"bool", 1}}};

using TypeNames = std::map<std::string_view, Type>;
const TypeNames fmi2_types{{"Real", Type::float64},
                           {"Integer", Type::int32},
                           {"Boolean", Type::boolean},
                           {"String", Type::text},
                           {"Enumeration", Type::int32}};
const TypeNames fmi3_types{{"Float32", Type::float32}, {"Float64", Type::float64},   {"Int8", Type::int8},
                           {"UInt8", Type::uint8},     {"Int16", Type::int16},       {"UInt16", Type::uint16},
                           {"Int32", Type::int32},     {"UInt32", Type::uint32},     {"Int64", Type::int64},
                           {"UInt64", Type::uint64},   {"Boolean", Type::boolean},   {"String", Type::text},
                           {"Binary", Type::binary},   {"Enumeration", Type::int64}, {"Clock", Type::clock}};

constexpr std::array<const char*, 7> causality_words{
    "parameter", "calculatedParameter", "structuralParameter", "input", "output", "local", "independent"};
constexpr std::array<const char*, 6> variability_words{"constant", "fixed",      "tunable",
                                                       "discrete", "continuous", "clock"};
constexpr std::array<const char*, 7> interval_words{"constant", "fixed",     "calculated", "tunable",
                                                    "changing", "countdown", "triggered"};
constexpr std::array<const char*, 3> initial_words{"exact", "approx", "calculated"};

constexpr std::size_t most_variables = 2'000'000;

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : xml_(text, file) { made_.file = file; }

  Description read() {
    const pugi::xml_node root = xml_.root();
    if (std::string_view(root.name()) != "fmiModelDescription") {
      xml_.refuse(root, "does not begin with <fmiModelDescription>");
    }
    read_version(root);
    made_.name = xml_.required(root, "modelName");
    made_.about = xml_.text(root, "description");
    made_.tool = xml_.text(root, "generationTool");
    made_.token = xml_.required(root, is2() ? "guid" : "instantiationToken");
    read_interface(root);
    for (const pugi::xml_node unit : root.child("UnitDefinitions").children("Unit")) read_unit(unit);
    for (const pugi::xml_node type : root.child("TypeDefinitions").children()) read_type(type);
    read_experiment(root.child("DefaultExperiment"));
    for (const pugi::xml_node variable : root.child("ModelVariables").children()) {
      if (variable.type() == pugi::node_element) read_variable(variable);
    }
    check_references(root);
    read_derivatives(root);
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool is2() const { return made_.version == Version::fmi2; }

  void read_version(const pugi::xml_node& root) {
    const std::string version = xml_.required(root, "fmiVersion");
    if (version == "2.0" || version.starts_with("2.0.")) return;
    made_.version = Version::fmi3;
    if (!version.starts_with("3.")) {
      xml_.refuse(root, "is of FMI version `" + foreign_name(version) + "`; 2.0 and 3.0 can be used");
    }
  }

  void read_interface(const pugi::xml_node& root) {
    const pugi::xml_node exchange = root.child("ModelExchange");
    const pugi::xml_node simulation = root.child("CoSimulation") ? root.child("CoSimulation") : exchange;
    if (!simulation) {
      const bool scheduled = static_cast<bool>(root.child("ScheduledExecution"));
      xml_.refuse(root, std::string("is neither for co-simulation nor for model exchange") +
                            (scheduled ? ", only for scheduled execution" : ""));
    }
    made_.exchange = simulation == exchange;
    made_.identifier = identifier_of(simulation);
    if (exchange && !made_.exchange) made_.other = identifier_of(exchange);
    made_.variable_step = made_.exchange || xml_.flag(simulation, "canHandleVariableCommunicationStepSize");
    made_.once_per_process = xml_.flag(simulation, "canBeInstantiatedOnlyOncePerProcess");
    made_.needs_tool = xml_.flag(simulation, "needsExecutionTool");
    made_.saves_state = xml_.flag(simulation, is2() ? "canGetAndSetFMUstate" : "canGetAndSetFMUState");
    made_.event_mode = !is2() && xml_.flag(simulation, "hasEventMode");
    made_.intermediate = !is2() && xml_.flag(simulation, "providesIntermediateUpdate");
    made_.internal_step = xml_.number<double>(simulation, "fixedInternalStepSize");
    if (exchange && is2()) read_sizes(root);
  }

  std::string identifier_of(const pugi::xml_node& simulation) {
    const std::string identifier = xml_.required(simulation, "modelIdentifier");
    const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (identifier.empty() || !std::ranges::all_of(identifier, is_name)) {
      xml_.refuse(simulation, "`" + foreign_name(identifier) + "` is no identifier of a model");
    }
    return identifier;
  }

  void read_sizes(const pugi::xml_node& root) {
    made_.indicator_count = xml_.number<std::uint32_t>(root, "numberOfEventIndicators").value_or(0);
    if (made_.indicator_count > most_variables) xml_.refuse(root, "has more than two million event indicators");
    for (const pugi::xml_node unknown : root.child("ModelStructure").child("Derivatives").children("Unknown")) {
      (void)unknown;
      ++made_.state_count;
    }
  }

  /// What is not told as it should be is not used: a solver does without.
  void read_derivatives(const pugi::xml_node& root) {
    const pugi::xml_node exchange = root.child("ModelExchange");
    const pugi::xml_node structure = root.child("ModelStructure");
    if (!xml_.flag(exchange, is2() ? "providesDirectionalDerivative" : "providesDirectionalDerivatives")) return;
    std::vector<Description::StateOf> found;
    const auto add = [&](const Variable* derivative) {
      const Variable* state = nullptr;
      if (derivative != nullptr && derivative->derivative_of) {
        state = is2() ? at_index(*derivative->derivative_of) : made_.find(*derivative->derivative_of);
      }
      if (state == nullptr || !state->dimensions.empty()) return false;
      found.push_back({derivative->reference, state->reference});
      return true;
    };
    if (is2()) {
      for (const pugi::xml_node unknown : structure.child("Derivatives").children("Unknown")) {
        if (!add(at_index(xml_.number<std::uint32_t>(unknown, "index").value_or(0)))) return;
      }
    } else {
      for (const pugi::xml_node unknown : structure.children("ContinuousStateDerivative")) {
        const auto reference = xml_.number<std::uint32_t>(unknown, "valueReference");
        if (!add(reference ? made_.find(*reference) : nullptr)) return;
      }
    }
    made_.differentiable = std::move(found);
  }
  [[nodiscard]] const Variable* at_index(std::uint32_t index) const {
    return index == 0 || index > made_.variables.size() ? nullptr : &made_.variables[index - 1];
  }

  void read_unit(const pugi::xml_node& node) {
    Unit unit;
    unit.name = xml_.required(node, "name");
    if (const pugi::xml_node base = node.child("BaseUnit")) {
      unit.defined = true;
      for (std::size_t i = 0; i < Unit::bases.size(); ++i) {
        unit.powers[i] = xml_.number<int>(base, Unit::bases[i]).value_or(0);
      }
      unit.factor = xml_.number<double>(base, "factor").value_or(1);
      unit.offset = xml_.number<double>(base, "offset").value_or(0);
    }
    made_.units.push_back(std::move(unit));
  }

  /// A type that variables share: its unit, and that it is an enumeration.
  void read_type(const pugi::xml_node& node) {
    if (node.type() != pugi::node_element) return;
    const pugi::xml_node inner = is2() ? first_element(node) : node;
    types_[xml_.required(node, "name")] = xml_.text(inner, "unit");
  }

  void read_experiment(const pugi::xml_node& node) {
    if (!node) return;
    made_.start_time = xml_.number<double>(node, "startTime");
    made_.stop_time = xml_.number<double>(node, "stopTime");
    made_.tolerance = xml_.number<double>(node, "tolerance");
    made_.step_size = xml_.number<double>(node, "stepSize");
  }

  static pugi::xml_node first_element(const pugi::xml_node& node) {
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element && std::string_view(child.name()) != "Annotations") return child;
    }
    return {};
  }

  void read_variable(const pugi::xml_node& node) {
    if (made_.variables.size() >= most_variables) xml_.refuse(node, "has more than two million variables");
    Variable variable;
    variable.name = xml_.required(node, "name");
    if (variable.name.empty()) xml_.refuse(node, "a variable has no name");
    variable.about = xml_.text(node, "description");
    const auto reference = xml_.number<std::uint32_t>(node, "valueReference");
    if (!reference) xml_.refuse(node, "variable `" + foreign_name(variable.name) + "` has no `valueReference`");
    variable.reference = *reference;
    variable.line = xml_.place(node).line;
    const pugi::xml_node typed = is2() ? first_element(node) : node;
    variable.type = type_of(node, typed);
    read_words(node, variable);
    read_value(typed, variable);
    if (!is2()) read_dimensions(node, variable);
    if (!is2()) read_clocks(node, variable);
    variable.derivative_of = xml_.number<std::uint32_t>(typed, "derivative");
    add(node, std::move(variable));
  }

  Type type_of(const pugi::xml_node& node, const pugi::xml_node& typed) const {
    const TypeNames& known = is2() ? fmi2_types : fmi3_types;
    const auto found = known.find(typed.name());
    if (found != known.end()) return found->second;
    xml_.refuse(node, "variable `" + foreign_name(node.attribute("name").value()) + "` is of type `" +
                          foreign_name(typed.name()) + "`, which FMI " + (is2() ? "2.0" : "3.0") + " does not have");
  }

  template <class E, std::size_t n>
  std::optional<E> word(const pugi::xml_node& node, const char* key, const std::array<const char*, n>& words) const {
    if (!node.attribute(key)) return std::nullopt;
    const std::string_view value = node.attribute(key).value();
    for (std::size_t i = 0; i < n; ++i) {
      if (value == words[i]) return static_cast<E>(i);
    }
    xml_.refuse(node, std::string("`") + key + "=" + foreign_name(value) + "` is not a word of the standard");
  }

  void read_words(const pugi::xml_node& node, Variable& variable) const {
    const bool continuous = is_float(variable.type);
    variable.causality = word<Causality>(node, "causality", causality_words).value_or(Causality::local);
    const bool parameter = variable.causality == Causality::parameter ||
                           variable.causality == Causality::calculated_parameter ||
                           variable.causality == Causality::structural_parameter;
    const auto standard = parameter ? Variability::fixed : continuous ? Variability::continuous : Variability::discrete;
    variable.variability = word<Variability>(node, "variability", variability_words).value_or(standard);
    const bool exact = (parameter && variable.causality != Causality::calculated_parameter) ||
                       variable.variability == Variability::constant;
    variable.initial = word<Initial>(node, "initial", initial_words).value_or(exact ? Initial::exact : Initial::none);
  }

  void read_value(const pugi::xml_node& typed, Variable& variable) const {
    const std::string declared = xml_.text(typed, "declaredType");
    variable.unit = xml_.text(typed, "unit");
    const auto type = types_.find(declared);
    if (variable.unit.empty() && type != types_.end()) variable.unit = type->second;
    if (std::string_view(typed.name()) == "Enumeration") variable.enumeration = declared;
    variable.start = xml_.text(typed, "start");
    variable.has_start = static_cast<bool>(typed.attribute("start"));
    if (const pugi::xml_node start = typed.child("Start"); start && !is2()) {  // of text and binary
      variable.start = xml_.text(start, "value");
      variable.has_start = true;
    }
  }

  void read_clocks(const pugi::xml_node& node, Variable& variable) const {
    std::istringstream references(xml_.text(node, "clocks"));
    for (std::uint32_t reference = 0; references >> reference;) variable.clocks.push_back(reference);
    if (!references.eof()) xml_.refuse(node, "`clocks` is no list of value references");
    variable.intermediate = xml_.flag(node, "intermediateUpdate");
    if (variable.type != Type::clock) return;
    variable.interval_kind =
        word<Variable::Interval>(node, "intervalVariability", interval_words).value_or(Variable::Interval::triggered);
    variable.interval = xml_.number<double>(node, "intervalDecimal");
    variable.shift = xml_.number<double>(node, "shiftDecimal").value_or(0);
    const auto resolution = xml_.number<std::uint64_t>(node, "resolution");
    const auto count = xml_.number<std::uint64_t>(node, "intervalCounter");
    if (!variable.interval && resolution && count && *resolution > 0) {
      const auto ticks = static_cast<double>(*resolution);
      variable.interval = static_cast<double>(*count) / ticks;
      variable.shift = static_cast<double>(xml_.number<std::uint64_t>(node, "shiftCounter").value_or(0)) / ticks;
    }
    if (variable.interval && !(*variable.interval > 0)) xml_.refuse(node, "a clock's interval must be positive");
    if (!(variable.shift >= 0)) xml_.refuse(node, "a clock's shift must not be negative");
  }

  void read_dimensions(const pugi::xml_node& node, Variable& variable) const {
    for (const pugi::xml_node child : node.children("Dimension")) {
      Variable::Dimension dimension;
      dimension.reference = xml_.number<std::uint32_t>(child, "valueReference");
      const auto length = xml_.number<std::uint64_t>(child, "start");
      if (!length && !dimension.reference) xml_.refuse(child, "a <Dimension> has neither `start` nor `valueReference`");
      dimension.length = length.value_or(0);
      variable.dimensions.push_back(dimension);
    }
    if (variable.dimensions.size() > 16) xml_.refuse(node, "has an array of more than 16 dimensions");
  }

  /// A variable of FMI 3 may have further names.
  void add(const pugi::xml_node& node, Variable variable) {
    std::vector<Variable> all{variable};
    for (const pugi::xml_node alias : node.children("Alias")) {
      if (is2()) break;
      variable.name = xml_.required(alias, "name");
      if (variable.causality == Causality::output) variable.causality = Causality::local;  // it is one output
      all.push_back(variable);
    }
    for (Variable& one : all) {
      if (!made_.by_name.emplace(one.name, made_.variables.size()).second) {
        xml_.refuse(node, "two variables are called `" + foreign_name(one.name) + "`");
      }
      by_reference_.emplace(one.reference, made_.variables.size());
      made_.variables.push_back(std::move(one));
    }
  }

  static bool can_be_length(const Variable& variable) {
    return variable.dimensions.empty() && size_of(variable.type) != 0 && !is_float(variable.type);
  }

  void check_references(const pugi::xml_node& root) const {
    for (const Variable& variable : made_.variables) {
      for (const Variable::Dimension& dimension : variable.dimensions) {
        if (!dimension.reference) continue;
        const auto length = by_reference_.find(*dimension.reference);
        const Variable* variable_of_length = length == by_reference_.end() ? nullptr : &made_.variables[length->second];
        if (variable_of_length != nullptr && can_be_length(*variable_of_length)) continue;
        throw InputError({made_.file, variable.line, 1}, "the length of `" + foreign_name(variable.name) +
                                                             "` is the value of a variable that cannot be a length");
      }
    }
    if (!root.child("ModelVariables")) xml_.refuse(root, "has no <ModelVariables>");
  }

  Xml xml_;
  Description made_;
  std::map<std::string, std::string> types_;  // their units
  std::map<std::uint32_t, std::size_t> by_reference_;
};

}  // namespace

const char* message_type(Type type) { return type_infos[static_cast<std::size_t>(type)].message; }
std::size_t size_of(Type type) { return type_infos[static_cast<std::size_t>(type)].size; }
bool is_float(Type type) { return type == Type::float64 || type == Type::float32; }
const char* to_string(Causality causality) { return causality_words[static_cast<std::size_t>(causality)]; }
const char* to_string(Variability variability) { return variability_words[static_cast<std::size_t>(variability)]; }

bool Variable::can_be_set() const {
  if (type == Type::clock || variability == Variability::constant) return false;
  switch (causality) {
    case Causality::parameter:
    case Causality::structural_parameter:
    case Causality::input:
      return true;
    case Causality::output:
    case Causality::local:
      return initial == Initial::exact || initial == Initial::approx;
    case Causality::calculated_parameter:
    case Causality::independent:
      return false;
  }
  return false;
}

Description Description::by_exchange() const {
  Description made = *this;
  made.identifier = std::exchange(made.other, "");
  made.exchange = made.variable_step = true;
  made.event_mode = false;
  made.internal_step.reset();
  return made;
}

const Variable* Description::find(std::string_view variable) const {
  const auto found = by_name.find(std::string(variable));
  return found == by_name.end() ? nullptr : &variables[found->second];
}

const Variable* Description::find(std::uint32_t reference) const {
  const auto found = std::ranges::find(variables, reference, &Variable::reference);
  return found == variables.end() ? nullptr : &*found;
}

std::optional<Unit> Description::unit_called(std::string_view unit) const {
  const auto found = std::ranges::find(units, unit, &Unit::name);
  if (found == units.end()) return std::nullopt;
  return *found;
}

std::optional<Unit> Description::unit_of(const Variable& variable) const {
  if (variable.unit.empty()) return std::nullopt;
  if (auto known = unit_called(variable.unit)) return known;
  Unit undefined;
  undefined.name = variable.unit;
  return undefined;
}

Description read_description(std::string_view xml, const std::string& file) { return Reader(xml, file).read(); }

}  // namespace isochron::fmi
