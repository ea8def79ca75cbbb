#pragma once
// What `isochron nodes` says of an FMU.

#include <nlohmann/json.hpp>
#include <string>

namespace isochron::app {

nlohmann::ordered_json fmu_json(const std::string& file);
/// As people read it; `all`: inner variables too.
std::string fmu_text(const nlohmann::ordered_json& fmu, bool all);

}  // namespace isochron::app
