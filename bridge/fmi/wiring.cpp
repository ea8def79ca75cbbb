#include "bridge/fmi/wiring.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "bridge/fmi/fields.hpp"
#include "bridge/fmi/node.hpp"
#include "bridge/fmi/step_meter.hpp"
#include "bridge/fmi/values.hpp"
#include "core/build_parts.hpp"
#include "core/foreign_text.hpp"
#include "core/time_text.hpp"
#include "flow/definition.hpp"

namespace isochron::fmi {
namespace {

constexpr const char* all_outputs = "out";

/// Collects mistakes: each at its place, unless it knows a better one.
class Mistakes {
 public:
  template <class F>
  void guard(const Place& place, const std::string& about, F&& what) {
    try {
      what();
    } catch (const InputError& error) {
      for (const Mistake& mistake : error.mistakes()) {
        all_.push_back({mistake.place.file.empty() ? place : mistake.place, about + mistake.what, mistake.hint});
      }
    }
  }
  void settle() {
    if (!all_.empty()) throw InputError(std::move(all_));
  }

 private:
  std::vector<Mistake> all_;
};

/// Nearest names, for a hint.
std::string names_of(const Description& description, const std::function<bool(const Variable&)>& wanted) {
  std::string known;
  std::size_t more = 0;
  for (const Variable& variable : description.variables) {
    if (!wanted(variable)) continue;
    if (known.size() > 300) {
      ++more;
    } else {
      known += (known.empty() ? "" : ", ") + foreign_name(variable.name);
    }
  }
  if (more > 0) known += " and " + std::to_string(more) + " more";
  return known.empty() ? "it has none" : "it has " + known;
}

const Variable& find_variable(const Description& description, const std::string& name,
                              const std::function<bool(const Variable&)>& wanted, const char* what) {
  const Variable* found = description.find(name);
  if (found != nullptr && wanted(*found)) return *found;
  const std::string shown = "`" + foreign_name(name) + "`";
  if (found == nullptr) {
    throw InputError({}, "the FMU has no variable " + shown, names_of(description, wanted));
  }
  throw InputError({},
                   shown + " of the FMU is " + to_string(found->causality) + ", " + to_string(found->variability) +
                       "; it cannot be " + what,
                   names_of(description, wanted));
}

/// Of clocks: those that the FMU ticks.
bool can_be_seen(const Variable& variable) {
  return variable.type != Type::clock || variable.causality != Causality::input;
}
bool is_output(const Variable& variable) { return variable.causality == Causality::output; }
/// Of clocks: those that others tick.
bool is_input(const Variable& variable) {
  return variable.causality == Causality::input &&
         (variable.type != Type::clock || variable.interval_kind == Variable::Interval::triggered);
}
bool can_be_set(const Variable& variable) { return variable.can_be_set(); }

/// Letters, digits and some more.
bool is_plain(const std::string& name, std::string_view more) {
  return std::ranges::all_of(name, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || more.find(c) != std::string_view::npos;
  });
}

bool has_length(Type type) { return type == Type::text || type == Type::binary; }

/// "float64", "float64[3]"
std::string type_of(const Variable& variable, std::size_t count) {
  const std::string type = message_type(variable.type);
  if (variable.dimensions.empty()) return type;
  if (has_length(variable.type) || count == 0) {
    throw InputError({}, "`" + foreign_name(variable.name) + "` is an array of " +
                             (count == 0 ? "no values" : "text or binary") + ", which no message can carry");
  }
  return type + "[" + std::to_string(count) + "]";
}

}  // namespace

std::string field_name(const std::string& variable) {
  std::string name;
  for (const char c : variable) {
    const bool good = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (good) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "v" + name;
  return name;
}

class Wiring::Outputs {
 public:
  explicit Outputs(Wiring& wiring)
      : wiring_(wiring), description_(wiring.package_->description()), wishes_(wiring.wishes_) {}

  void plan() {
    plan_step();
    for (const Wishes::Text& given : wishes_.parameters) wiring_.spec_.parameters.emplace_back(given.name, given.text);
    for (const Wishes::Text& given : wishes_.parameters) {
      mistakes_.guard(given.place, "", [&] { plan_parameter(given); });
    }
    mistakes_.settle();
    if (wishes_.outputs.empty()) {
      mistakes_.guard(wishes_.place, "", [&] { plan_message({all_outputs, "", "", {}, wishes_.place}); });
    }
    for (const Wishes::Flow& flow : wishes_.outputs) {
      mistakes_.guard(flow.place, "", [&] { plan_flow(flow); });
    }
    mistakes_.settle();
  }

 private:
  void plan_step() {
    NodeSpec& spec = wiring_.spec_;
    spec.name = wishes_.node;
    spec.folder = wiring_.package_->folder();
    spec.log = wishes_.log;
    spec.tolerance = wishes_.tolerance;
    mistakes_.guard(wishes_.place, "", [&] {
      spec.every_ns = wishes_.every ? wishes_.every->ns() : std::llround(description_.step_size.value_or(0) * 1e9);
      if (spec.every_ns <= 0) {
        throw InputError({}, "the FMU does not say how long its steps are", "give `every`, as in `every: 1ms`");
      }
      spec.solver = wishes_.solver.value_or(SolverKind::cvode);
      spec.solver_step_ns = wishes_.solver_step.value_or(SimSpan::from_ns(spec.every_ns)).ns();
      spec.exchange = !description_.other.empty() && (wishes_.solver || wishes_.solver_step);
      if (!description_.exchange && !spec.exchange && (wishes_.solver || wishes_.solver_step)) {
        throw InputError({}, "the FMU is for co-simulation and has its own solver", "leave `solver` out");
      }
      if ((description_.exchange || spec.exchange) && spec.solver == SolverKind::cvode) {
        need_part("CVODE", wishes_.place, "give `solver: rk4`");
      }
      if (spec.solver_step_ns <= 0) throw InputError({}, "`solver_step` must be positive");
      const double steps = static_cast<double>(spec.every_ns) / (description_.internal_step.value_or(0) * 1e9);
      if (description_.internal_step && !spec.exchange && !description_.variable_step &&
          std::abs(steps - std::round(steps)) > 1e-6) {
        throw InputError({},
                         "`every` is " + to_string(SimSpan::from_ns(spec.every_ns)) + ", and the FMU's own steps are " +
                             to_string(SimSpan::from_ns(std::llround(*description_.internal_step * 1e9))),
                         "give a multiple of it");
      }
    });
  }

  void plan_parameter(const Wishes::Text& given) {
    const Variable& variable = find_variable(description_, given.name, &can_be_set, "set before the start");
    const std::size_t count = value_count(description_, variable, wiring_.spec_.parameters);
    if (!has_length(variable.type)) (void)parse_values(given.text, variable, count);
    if (has_length(variable.type) && !variable.dimensions.empty()) {
      throw InputError({}, "an array of text cannot be given a value here");
    }
  }

  void plan_flow(const Wishes::Flow& flow) {
    if (flow.name == log_flow || flow.name == cost_flow || flow.name == step_flow) {
      throw InputError({}, "an FMU has a flow `" + flow.name + "` already", "choose another name");
    }
    if (flow.intermediate && (!description_.intermediate || description_.exchange || wiring_.spec_.exchange)) {
      throw InputError({}, "the FMU tells nothing between its communication points",
                       "one of FMI 3.0 can, if its description says providesIntermediateUpdate");
    }
    if (!is_plain(flow.message, "_/")) {
      throw InputError({}, "`" + foreign_name(flow.message) + "` is no name of a message", "as in my_msgs/msg/Speed");
    }
    for (const Wishes::Text& field : flow.fields) {
      if (field.name.empty() || !is_plain(field.name, "_")) {
        throw InputError(field.place, "`" + foreign_name(field.name) + "` is no name of a field",
                         "use letters, digits and _; the variable stands behind it");
      }
    }
    if (flow.variable.empty()) return plan_message(flow);
    if (!flow.message.empty() || !flow.fields.empty()) {
      throw InputError({}, "a flow carries either a `variable` alone or a message with `fields`");
    }
    const Variable& variable = find_variable(description_, flow.variable, &can_be_seen, "an output");
    const std::string type = type_of(variable, value_count(description_, variable, wiring_.spec_.parameters));
    if (type.find('[') != std::string::npos || has_length(variable.type)) {  // a flow carries numbers or messages
      Wishes::Flow message = flow;
      message.fields = {{"value", flow.variable, flow.place}};
      return plan_message(message);
    }
    Source source{&flow::dynamic_type(type)};
    note_unit(source, "", variable);
    check_intermediate(flow, variable);
    add({flow.name, type, {variable.name}, flow.intermediate}, std::move(source));
  }

  void plan_message(const Wishes::Flow& flow) {
    NodeSpec::Output output{flow.name, "", {}, flow.intermediate};
    Source source;
    std::string fields;
    for (const auto& [field, variable_name, place] : fields_of(flow)) {
      const Variable& variable = find_variable(description_, variable_name, &can_be_seen, "an output");
      const std::size_t count = value_count(description_, variable, wiring_.spec_.parameters);
      fields += type_of(variable, count) + " " + field + "\n";
      output.variables.push_back(variable.name);
      check_intermediate(flow, variable);
      note_unit(source, field, variable);
    }
    if (fields.empty()) {
      fields = "float64 time\n";
      output.variables.emplace_back();
    }
    const std::string other = flow.name == all_outputs ? "" : "_" + field_name(flow.name);
    output.type =
        (flow.message.empty() ? "fmu_msgs/msg/" + field_name(description_.identifier) + other : flow.message) + "\n" +
        fields;
    source.type = &flow::dynamic_type(output.type);
    add(std::move(output), std::move(source));
  }

  static void check_intermediate(const Wishes::Flow& flow, const Variable& variable) {
    if (!flow.intermediate || (variable.intermediate && !has_length(variable.type))) return;
    throw InputError({}, "`" + foreign_name(variable.name) + "` cannot be seen between communication points",
                     "its description says so, or it is text");
  }

  std::vector<Wishes::Text> fields_of(const Wishes::Flow& flow) const {
    std::vector<Wishes::Text> fields = flow.fields;
    if (!fields.empty()) return fields;
    std::set<std::string> known;
    for (const Variable& variable : description_.variables) {
      if (!is_output(variable) || (flow.intermediate && !variable.intermediate)) continue;
      if (value_count(description_, variable, wiring_.spec_.parameters) == 0) continue;
      const std::string field = field_name(variable.name);
      if (!known.insert(field).second) {
        throw InputError({}, "two outputs of the FMU would be called `" + field + "`",
                         "choose outputs, as in `outputs: {out: {fields: {a: NAME, b: NAME}}}`");
      }
      fields.push_back({field, variable.name, flow.place});
    }
    return fields;
  }

  void note_unit(Source& source, const std::string& field, const Variable& variable) const {
    if (auto unit = description_.unit_of(variable)) source.units.emplace(field, *unit);
  }

  void add(NodeSpec::Output output, Source source) {
    wiring_.sources_.emplace(output.flow, std::move(source));
    wiring_.spec_.outputs.push_back(std::move(output));
  }

  Wiring& wiring_;
  const Description& description_;
  const Wishes& wishes_;
  Mistakes mistakes_;
};

/// Plans the inputs: one port for each flow that something is taken from.
class Wiring::Inputs {
 public:
  Inputs(const Wiring& wiring, const FindSource& find)
      : description_(wiring.package_->description()), find_(find), spec_(wiring.spec_) {}

  NodeSpec plan(const std::vector<Wishes::Text>& inputs) {
    for (const Wishes::Text& input : inputs) {
      mistakes_.guard(input.place, "", [&] { add(input); });
    }
    mistakes_.settle();
    return std::move(spec_);
  }

 private:
  struct From {
    std::string flow, path, unit;
  };

  /// "node.output.field in unit"
  static From read(const std::string& text) {
    From from;
    std::string rest = text;
    if (const auto in = rest.find(" in "); in != std::string::npos) {
      from.unit = rest.substr(in + 4);
      rest.resize(in);
    }
    const auto first = rest.find('.');
    if (first == std::string::npos) {
      throw InputError({}, "`" + foreign_name(text) + "` names no flow", "write node.output.field");
    }
    const auto second = rest.find('.', first + 1);
    from.flow = rest.substr(0, second);
    if (second != std::string::npos) from.path = rest.substr(second + 1);
    return from;
  }

  void add(const Wishes::Text& input) {
    const Variable& variable = find_variable(description_, input.name, &is_input, "an input");
    const From from = read(input.text);
    const Source source = find_(from.flow);
    const bool readable = !source.type->schema.empty() || !source.type->name.empty();
    if (!readable) throw InputError({}, "flow " + from.flow + " carries nothing with fields");
    NodeSpec::Input& port = port_for(from.flow, *source.type);
    const MessageField field = field_of(port.type, from);
    check_type(variable, field, from);
    const Conversion conversion = check_unit(variable, source, from);
    port.fields.push_back({variable.name, from.path, conversion.factor, conversion.offset});
  }

  NodeSpec::Input& port_for(const std::string& flow, const flow::PayloadType& type) {
    const auto found = std::ranges::find(spec_.inputs, flow, &NodeSpec::Input::flow);
    if (found != spec_.inputs.end()) return *found;
    return spec_.inputs.emplace_back(NodeSpec::Input{flow, flow::type_text(type), {}});
  }

  static MessageField field_of(const std::string& type, const From& from) {
    try {
      return MessageField::find(type, from.path);
    } catch (const InputError& error) {
      const Mistake& mistake = error.mistakes().front();
      throw InputError({}, "flow " + from.flow + " " + mistake.what, mistake.hint);
    }
  }

  void check_type(const Variable& variable, const MessageField& field, const From& from) const {
    const std::size_t count = value_count(description_, variable, spec_.parameters);
    const std::string name = from.path.empty() ? from.flow : from.flow + "." + from.path;
    const bool binary = variable.type == Type::binary;
    const bool good = binary ? field.is_bytes() : !field.is_bytes() && fits(field.type(), variable.type);
    const auto many = [](const std::string& type, std::size_t n) {
      return n == 1 ? type : std::to_string(n) + " " + type;
    };
    if (good && (binary || field.count() == count)) return;
    throw InputError({}, "`" + foreign_name(variable.name) + "` takes " + many(message_type(variable.type), count) +
                             ", and " + name + " is " + many(to_string(field.type()), field.count()));
  }

  Conversion check_unit(const Variable& variable, const Source& source, const From& from) const {
    const auto to = description_.unit_of(variable);
    const auto known = source.units.find(from.path);
    std::optional<Unit> unit;
    if (known != source.units.end()) unit = known->second;
    if (!from.unit.empty()) {
      unit = description_.unit_called(from.unit);
      if (!unit) throw InputError({}, "the FMU defines no unit `" + foreign_name(from.unit) + "`", units());
    }
    if (!unit || !to) return {};
    const auto between = conversion(*unit, *to);
    if (!between) {
      throw InputError({}, "`" + foreign_name(variable.name) + "` is in " + to_string(*to) + ", and " + from.flow +
                               "." + from.path + " in " + to_string(*unit));
    }
    if (between->changes() && !is_float(variable.type)) {
      throw InputError({}, "`" + foreign_name(variable.name) + "` is a whole number in " + to_string(*to) +
                               ", and cannot be taken from " + to_string(*unit));
    }
    return *between;
  }

  [[nodiscard]] std::string units() const {
    std::string known;
    for (const Unit& unit : description_.units) known += (known.empty() ? "" : ", ") + foreign_name(unit.name);
    return known.empty() ? "it defines none" : "it defines " + known;
  }

  const Description& description_;
  const FindSource& find_;
  NodeSpec spec_;
  Mistakes mistakes_;
};

Wiring::Wiring(std::shared_ptr<const Package> package, Wishes wishes)
    : package_(std::move(package)), wishes_(std::move(wishes)) {
  Outputs(*this).plan();
}

std::optional<Source> Wiring::source(const std::string& output) const {
  const auto found = sources_.find(output);
  if (found == sources_.end()) return std::nullopt;
  return found->second;
}

NodeSpec Wiring::plan(const FindSource& find) const { return Inputs(*this, find).plan(wishes_.inputs); }

}  // namespace isochron::fmi
