#pragma once
// The vocabulary in which describe_*.hpp says what a structure is made of. A description is a function template
// describe(io, structure) that hands its fields to io.sequence() or io.choice(); io is a reader or writer of UPER or
// JSON, or a test's generator. So each structure is described once and every direction agrees.
//
//     io.sequence(m.additions,                                 // extensible; `closed` if it is not
//                 must("radiusOfCurve", m.radius_m, radius),   // always sent
//                 may("heading", m.heading_rad, heading));     // OPTIONAL: has a bit in the preamble
//
// Every operation of an io returns whether it worked; the caller that sees false adds its field's name to the error.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "v2x/codec/types.hpp"

namespace isochron::v2x {

/// A whole number in low..high.
struct Integer {
  std::int64_t low;
  std::int64_t high;
};

/// A quantity sent as a whole number: value = number / per_unit + offset. One number may mean "unavailable".
struct Scale {
  static constexpr std::int64_t no_code = std::numeric_limits<std::int64_t>::min();
  std::int64_t low;
  std::int64_t high;
  double per_unit;
  const char* unit;  // as in the key of JSON: "m_s"
  std::int64_t unavailable = no_code;
  double offset = 0;
};

/// An enumeration without names here: its value is the position in the standard's list.
struct Code {
  unsigned count;
  bool extensible;
};
/// An enumeration whose names and extensibility names_of() knows.
struct Enum {};
struct EnumNames {
  const char* const* names;
  unsigned count;
  bool extensible;
};

struct FlagBits {
  unsigned size;
  bool extensible = false;
};
struct Text {
  unsigned low;
  unsigned high;
};
struct Octets {
  unsigned low;
  unsigned high;
};
struct Id32 {};    // four octets as a number
struct Bool {};    // one bit
struct Open {};    // octets with their length before them
struct Struct {};  // has a describe() of its own
template <class Spec>
struct ListOf {
  unsigned low;
  unsigned high;
  Spec each;
};
struct Part {};  // a Part II container

/// The additions of a structure that cannot be extended.
struct Closed {};
inline constexpr Closed closed{};

template <class V, class Spec, bool is_optional>
struct FieldOf {
  static constexpr bool optional = is_optional;
  const char* name;
  V& value;
  Spec spec;
};
template <class V, class Spec>
constexpr FieldOf<V, Spec, false> must(const char* name, V& value, Spec spec) {
  return {name, value, spec};
}
template <class V, class Spec>
constexpr FieldOf<V, Spec, true> may(const char* name, V& value, Spec spec) {
  return {name, value, spec};
}

/// Whether an OPTIONAL field is there, and the place of its value.
template <class T>
bool is_there(const std::optional<T>& v) {
  return v.has_value();
}
template <class T>
bool is_there(const std::vector<T>& v) {
  return !v.empty();
}
template <class T>
bool is_there(const List<T>& v) {
  return !v.empty();
}
inline bool is_there(const std::string& v) { return !v.empty(); }

template <class T>
const T& held(const std::optional<T>& v) {
  return *v;
}
template <class T>
T& made(std::optional<T>& v) {
  return v.emplace();
}
template <class T>
const std::vector<T>& held(const std::vector<T>& v) {
  return v;
}
template <class T>
std::vector<T>& made(std::vector<T>& v) {
  return v;
}
template <class T>
const List<T>& held(const List<T>& v) {
  return v;
}
template <class T>
List<T>& made(List<T>& v) {
  return v;
}
inline const std::string& held(const std::string& v) { return v; }
inline std::string& made(std::string& v) { return v; }

/// T as this io sees it: const if the io only looks.
template <class Io, class T>
using As = std::conditional_t<Io::looks_only, const T, T>;

/// The number nearest to a value, if it is in range and does not mean "unavailable".
inline bool quantise(const Scale& s, double value, std::int64_t& number) {
  const double exact = (value - s.offset) * s.per_unit;
  if (!(exact > static_cast<double>(s.low) - 0.5 && exact < static_cast<double>(s.high) + 0.5)) return false;
  number = static_cast<std::int64_t>(exact + (exact < 0 ? -0.5 : 0.5));
  return number != s.unavailable;
}
inline double quantity(const Scale& s, std::int64_t number) {
  return static_cast<double>(number) / s.per_unit + s.offset;
}
std::string range_text(const Scale& s, double value);
std::string range_text(std::int64_t value, std::int64_t low, std::int64_t high);

}  // namespace isochron::v2x
