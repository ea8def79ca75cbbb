#include "bridge/fmi/units.hpp"

namespace isochron::fmi {

std::optional<Conversion> conversion(const Unit& from, const Unit& to) {
  if (!from.defined || !to.defined)
    return from.name == to.name ? std::optional<Conversion>(Conversion{}) : std::nullopt;
  if (from.powers != to.powers || to.factor == 0) return std::nullopt;
  if (from.factor == to.factor && from.offset == to.offset) return Conversion{};
  return Conversion{from.factor / to.factor, (from.offset - to.offset) / to.factor};
}

std::string to_string(const Unit& unit) {
  std::string text;
  for (std::size_t i = 0; i < Unit::bases.size(); ++i) {
    if (unit.powers[i] == 0) continue;
    text += (text.empty() ? "" : ".") + std::string(Unit::bases[i]);
    if (unit.powers[i] != 1) text += std::to_string(unit.powers[i]);
  }
  if (!unit.defined) return unit.name + ", which its FMU does not define";
  if (text.empty()) text = "a plain number";
  return unit.name == text ? unit.name : unit.name + " (" + text + ")";
}

}  // namespace isochron::fmi
