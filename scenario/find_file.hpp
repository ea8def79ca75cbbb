#pragma once
// Where the files that a scenario names are: next to the scenario, where Isochron was built or installed, or on the
// PATH.

#include <optional>
#include <string>
#include <vector>

namespace isochron {

/// "own.so" or "./lib/own.so" next to the scenario; "own" also as own.so or libown.so in the lib folder of Isochron.
std::optional<std::string> find_library(const std::string& name, const std::string& folder);
/// "./controller" next to the scenario; "controller" also in the bin folder of Isochron and on the PATH.
std::optional<std::string> find_program(const std::string& name, const std::string& folder);

/// In the lib folder of Isochron.
bool is_own_library(const std::string& path);

/// `run` as it is executed: the program as find_program() finds it, and every further word that names a file next to
/// the scenario file, and none in the working folder, as that file's path.
std::vector<std::string> found_command(const std::vector<std::string>& run, const std::string& folder);

}  // namespace isochron
