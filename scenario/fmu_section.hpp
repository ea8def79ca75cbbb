#pragma once
// The part of a scenario's vocabulary that is about nodes that are FMUs: their variables have names of their makers'
// choosing, `motor.J` or `der(x)[2]`, so these are not checked as our own names are.

#include <map>
#include <string>

#include "bridge/fmi/solver.hpp"
#include "scenario/section.hpp"

namespace isochron {

/// Names of somebody else's choosing with a text for each, in the file's order. A list is its values with spaces
/// between.
struct VariableTexts : Named<std::string> {
  std::map<std::string, Place, std::less<>> places;
};

/// A flow of an FMU.
struct FmuFlowSection : Section {
  std::string variable;
  std::string message;
  VariableTexts fields;
  bool intermediate = false;
};
template <class V>
void describe(V& v, FmuFlowSection& s) {
  v.optional("variable", s.variable, "the flow carries this variable alone; short form: `speed: motor.w`");
  v.optional("message", s.message,
             "the name of its messages, as in example_msgs/msg/Power; fmu_msgs/msg/MODEL if left out");
  v.optional("fields", s.fields, "field: variable; all outputs of the FMU if left out");
  v.optional(
      "intermediate", s.intermediate,
      "a message at every step of the FMU's own solver, of FMUs of FMI 3.0 that tell them; else one each `every`");
}
inline bool from_word(FmuFlowSection& section, const std::string& word) {
  section.variable = word;
  return true;
}

/// Where an FMU runs: in the process that runs its node, or in one of its own.
enum class FmuProcess : std::uint8_t { shared, own };
template <>
struct Words<FmuProcess> {
  static constexpr std::array<const char*, 2> list{"shared", "own"};
};

template <>
struct Words<fmi::SolverKind> {
  static constexpr std::array<const char*, 2> list{"cvode", "rk4"};
};

}  // namespace isochron
