#pragma once
// "There is no body `pray`; did you mean `prey`?"

#include <string>
#include <string_view>
#include <vector>

#include "core/input_error.hpp"

namespace isochron::world {

/// The names of things that have one, in their order.
template <class Things>
std::vector<std::string> names_of(const Things& things) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

/// The mistake of asking for `kind` `name`, with the nearest name, or what there is.
InputError no_such(std::string_view kind, std::string_view name, const std::vector<std::string>& names);

}  // namespace isochron::world
