#pragma once
// For messages about names that do not exist: which of the known ones was probably meant.

#include <string>
#include <string_view>
#include <vector>

namespace isochron {

/// The nearest by edit distance, or "" when none is near.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known);

/// "did you mean `step`?", or "known here: model step" when none is near, or "" when there are none. Of many names
/// the first are shown.
std::string nearest_hint(std::string_view wanted, const std::vector<std::string>& known);

}  // namespace isochron
