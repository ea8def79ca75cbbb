#include "world/sensors/name_hint.hpp"

#include <algorithm>

#include "world/names.hpp"

namespace isochron::world {

std::string name_hint(std::string_view wrong, const std::vector<std::string>& known) {
  if (known.empty()) return "there is none";
  if (const std::string near = nearest_name(wrong, known); !near.empty()) return "did you mean `" + near + "`?";
  std::string text = "known: ";
  constexpr std::size_t shown = 8;
  for (std::size_t i = 0; i < std::min(shown, known.size()); ++i) text += (i == 0 ? "" : ", ") + known[i];
  if (known.size() > shown) text += ", … (" + std::to_string(known.size()) + ")";
  return text;
}

}  // namespace isochron::world
