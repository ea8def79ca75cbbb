#pragma once
// A journal has the scenario it came from inside: the text as an attachment, and beside it where the file was and what
// was changed on the command line. That is enough to run it again: with the durations that the journal recorded instead
// of measured ones, every run but a free one gives its own digest again.
//
// Fails: InputError naming the journal, when it has no scenario, or one that no longer loads.

#include <string>

#include "journal/mcap_reader.hpp"
#include "run/run_control.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

namespace recorded_scenario {
inline constexpr const char* record = "scenario";  // the metadata record; its entries are origin_of()
inline constexpr const char* attachment = "scenario.yaml";
mcap::TextMap origin_of(const Scenario& scenario);
/// The scenario's text, and the report as JSON; nothing where the journal has none.
std::optional<std::string> text_of(McapReader& journal);
std::optional<std::string> report_of(McapReader& journal);
/// This user's Isochron recorded it, on this machine (run/trust.hpp).
bool is_own(McapReader& journal);
}  // namespace recorded_scenario

/// The scenario of a journal as it was run. `folder` is where its files are now; "" = where they were.
Scenario scenario_of(McapReader& journal, const std::string& folder = "");

/// The same, to be run again for the same digest: computing costs what the journal says that it cost, the pace is free,
/// and a run that was stopped early ends where it was stopped. Throws for a run that does not repeat, and says why.
Scenario scenario_to_replay(McapReader& journal, const std::string& folder = "");

/// The same with changes, to be continued in another way: it goes on for as long as it says, and its own text says what
/// its computing costs, so that its journal can be replayed in turn.
Scenario scenario_to_branch(McapReader& journal, const std::string& folder, const std::vector<Override>& overrides);

/// Whether its nodes were stopped in the middle, each where it was: then its records are the beginning of a longer
/// run's.
bool ends_ragged(McapReader& journal, const Scenario& scenario);

/// What a person did to the run, for RunControl::plan().
std::vector<Mark> marks_of(McapReader& journal);

}  // namespace isochron
