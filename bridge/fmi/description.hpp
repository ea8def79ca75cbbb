#pragma once
// What an FMU says of itself: modelDescription.xml of FMI 2.0 and 3.0, as plain data. Both versions become the same
// struct; what one of them does not have keeps its default.
//
// Fails: read_description() throws InputError with the line in the XML. Nothing in the text can make it abort.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bridge/fmi/units.hpp"

namespace isochron::fmi {

enum class Version : std::uint8_t { fmi2 = 2, fmi3 = 3 };

/// How a value lies in memory. Integer of FMI 2 is int32; an enumeration is int32 in FMI 2 and int64 in FMI 3.
enum class Type : std::uint8_t {
  float32,
  float64,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,
  text,
  binary,
  clock
};
/// As in messages: "float64", "bool", "string", "uint8[]".
const char* message_type(Type type);
/// Bytes of one value in a message of fixed size; 0 of text and binary.
std::size_t size_of(Type type);
[[nodiscard]] bool is_float(Type type);

enum class Causality : std::uint8_t {
  parameter,
  calculated_parameter,
  structural_parameter,
  input,
  output,
  local,
  independent
};
const char* to_string(Causality causality);
enum class Variability : std::uint8_t { constant, fixed, tunable, discrete, continuous, clock };
const char* to_string(Variability variability);
enum class Initial : std::uint8_t { exact, approx, calculated, none };

struct Variable {
  std::string name, about;
  std::uint32_t reference = 0;
  Type type = Type::float64;
  Causality causality = Causality::local;
  Variability variability = Variability::continuous;
  Initial initial = Initial::none;
  std::string unit;   // its name; "" = none
  std::string start;  // as written; several values are separated by spaces
  bool has_start = false;
  std::string enumeration;  // the name of its type, of enumerations
  /// Of an array: lengths, or whose value is the length.
  struct Dimension {
    std::uint64_t length = 1;
    std::optional<std::uint32_t> reference;
  };
  std::vector<Dimension> dimensions;
  /// Of a clock: how it is known when it ticks.
  enum class Interval : std::uint8_t { constant, fixed, calculated, tunable, changing, countdown, triggered };
  Interval interval_kind = Interval::triggered;
  std::optional<double> interval;     // in seconds, where the description says it
  double shift = 0;                   // of the first tick
  bool intermediate = false;          // can be seen between communication points
  std::vector<std::uint32_t> clocks;  // it may change only when one of these ticks
  std::optional<std::uint32_t>
      derivative_of;  // FMI 2.0: the state's place among the variables, from 1; 3.0: its reference
  int line = 0;

  /// Whether a scenario may give it a value before the simulation starts.
  [[nodiscard]] bool can_be_set() const;
};

struct Description {
  std::string file;  // for messages
  Version version = Version::fmi2;
  std::string name, about, token, tool;
  std::string identifier;  // of its binary
  bool exchange = false;   // it is solved here (model exchange)
  std::string other;       // of an FMU with both interfaces: the identifier for model exchange; "" = it has one only
  std::size_t state_count = 0, indicator_count = 0;  // of model exchange, FMI 2.0; an FMU of FMI 3.0 is asked
  /// Of model exchange: each state's derivative, and the state. Empty where the FMU gives no directional derivatives.
  struct StateOf {
    std::uint32_t derivative = 0, state = 0;
  };
  std::vector<StateOf> differentiable;
  std::vector<Variable> variables;
  std::unordered_map<std::string, std::size_t> by_name;  // where each variable is in `variables`
  std::vector<Unit> units;
  std::optional<double> start_time, stop_time, tolerance, step_size;
  bool variable_step = false;           // canHandleVariableCommunicationStepSize
  bool once_per_process = false;        // canBeInstantiatedOnlyOncePerProcess
  bool needs_tool = false;              // needsExecutionTool
  bool saves_state = false;             // canGetAndSetFMUstate
  bool event_mode = false;              // hasEventMode
  bool intermediate = false;            // providesIntermediateUpdate
  std::optional<double> internal_step;  // fixedInternalStepSize

  /// The same FMU by its other interface. Requires: it has one.
  [[nodiscard]] Description by_exchange() const;
  [[nodiscard]] const Variable* find(std::string_view variable) const;
  [[nodiscard]] const Variable* find(std::uint32_t reference) const;
  /// The unit of a variable; nothing where it has none.
  [[nodiscard]] std::optional<Unit> unit_of(const Variable& variable) const;
  [[nodiscard]] std::optional<Unit> unit_called(std::string_view unit) const;
};

/// `file` is what the XML is called in messages.
Description read_description(std::string_view xml, const std::string& file);

}  // namespace isochron::fmi
