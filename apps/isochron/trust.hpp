#pragma once
// --trust: whoever runs a file that is not its own says that it has read what would be executed (run/trust.hpp).
//
// Fails: demand_…() throws InputError, which lists what would be executed.

#include <CLI/CLI.hpp>

#include "journal/mcap_reader.hpp"
#include "scenario/scenario.hpp"

namespace isochron::app {

void add_trust_flag(CLI::App& verb, bool& trust);
/// For a scenario from a file.
void demand_trust(const Scenario& scenario, const std::string& file, bool trust);
/// For the scenario inside a journal.
void demand_trust(const Scenario& scenario, McapReader& journal, bool trust);

}  // namespace isochron::app
