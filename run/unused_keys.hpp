#pragma once
// Keys that a scenario gives and its run makes no use of: nothing is ignored without a word. A mode is a row of
// defaults, so that one file serves several; what means nothing in this one is said by `check` and in the report.

#include <string>
#include <vector>

#include "core/input_error.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

/// Each with its place, in the order of the file's robots and programs.
std::vector<Mistake> unused_keys(const Scenario& scenario);
/// As one line: "room.yaml:12:5: `cores` has no effect here: …".
std::string to_text(const Mistake& unused);

}  // namespace isochron
