#pragma once
// "There is no body `pray`; did you mean `prey`?"

#include <string>
#include <string_view>
#include <vector>

#include "core/input_error.hpp"

namespace isochron::world {

/// The name nearest to a misspelt one, or "" when none is near.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names);

/// The mistake of asking for `kind` `name`, with the nearest name, or all of them when they are few.
InputError no_such(std::string_view kind, std::string_view name, const std::vector<std::string>& names);

}  // namespace isochron::world
