#pragma once
// A hint for a name that does not exist: the known one that is most like it, or else what there is.

#include <string>
#include <string_view>
#include <vector>

namespace isochron::world {

/// "did you mean `torso`?", "known: a, b, c", or "there is none".
std::string name_hint(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace isochron::world
