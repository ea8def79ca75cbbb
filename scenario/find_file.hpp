#pragma once
// Where the files that a scenario names are: next to the scenario, where Isochron was built or installed, or on the
// PATH.

#include <optional>
#include <string>

namespace isochron {

/// "own.so" or "./lib/own.so" next to the scenario; "own" also as own.so or libown.so in the lib folder of Isochron.
std::optional<std::string> find_library(const std::string& name, const std::string& folder);
/// "./controller" next to the scenario; "controller" also in the bin folder of Isochron and on the PATH.
std::optional<std::string> find_program(const std::string& name, const std::string& folder);

/// In the lib folder of Isochron.
bool is_own_library(const std::string& path);

}  // namespace isochron
