#pragma once
// Units as FMUs define them: products of powers of the eight base units, with a factor and an offset.
//
//     value in base units = factor × value + offset         deg: rad¹, factor 0.01745…     degC: K¹, offset 273.15

#include <array>
#include <optional>
#include <string>

namespace isochron::fmi {

struct Unit {
  static constexpr std::array<const char*, 8> bases{"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
  std::string name;
  std::array<int, 8> powers{};
  double factor = 1, offset = 0;
  bool defined = false;  // else only its name is known
};

/// y = factor × x + offset
struct Conversion {
  double factor = 1, offset = 0;
  [[nodiscard]] bool changes() const { return factor != 1 || offset != 0; }
};

/// From one unit to another; nothing where they measure different things. Units of which only the name is known must
/// have the same name.
std::optional<Conversion> conversion(const Unit& from, const Unit& to);
/// "kg.m2.s-2", for messages.
std::string to_string(const Unit& unit);

}  // namespace isochron::fmi
