#pragma once
// `import map` and `export map`: intersections of scenarios as MAP messages, and back, with the phases of SPaT messages;
// `export certificates`: of scenarios that sign.

#include "apps/isochron/command.hpp"

namespace isochron::app {

void add_import_map(CLI::App& verb, Action& action);
void add_export_v2x(CLI::App& verb, Action& action);

}  // namespace isochron::app
