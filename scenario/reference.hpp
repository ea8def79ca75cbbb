#pragma once
// The scenario reference and the JSON Schema for editors, written from the very descriptions that the loader reads
// with.

#include <string>

namespace isochron {

/// Markdown: a table of keys for each section.
std::string scenario_reference();
/// JSON Schema (draft 2020-12) of a scenario file.
std::string scenario_json_schema();

}  // namespace isochron
