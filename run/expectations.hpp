#pragma once
// The expectations of a scenario: read, checked against what the run is going to record, and judged.
//
//     scenario ──► expectations_of() ──► expect::Judge as a tap of the journal ──► outcomes in the report
//     journal  ──► expectations_of() ──► expect::judge()                       ──► outcomes

#include <string>
#include <vector>

#include "expect/judge.hpp"
#include "journal/mcap_reader.hpp"
#include "run/run.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

/// Of a scenario that was read, which has no such mistakes.
std::vector<expect::Expectation> expectations_of(const Scenario& scenario);
/// From a scenario's text alone: nothing that it names is looked for. Throws InputError.
std::vector<expect::Expectation> expectations_in(const std::string& text, const std::string& file);
/// Those of the scenario inside a journal. Throws InputError where there is none.
std::vector<expect::Expectation> expectations_of(McapReader& journal);

/// The numbers of a report, by name: drift_max, predator/planner.missed_deadlines.
expect::Figures figures_of(const std::string& report_json);
/// The figures of the report inside a journal; none for a run that was killed.
expect::Figures figures_of(McapReader& journal);

/// Throws InputError with everything wrong with names and units. `names`: what the run is going to record; where that
/// is not all of it, unknown names are left for the judge.
void check_expectations(const Scenario& scenario, const Names& names, bool complete);
/// The same for scenarios whose programs act in a world, without flows or agents.
void check_stage_expectations(const Scenario& scenario);

}  // namespace isochron
