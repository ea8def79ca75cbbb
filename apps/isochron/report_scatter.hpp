#pragma once
// Many runs of one scenario side by side: those with time management have one digest, those that ran free scatter.
// Shown: how many different runs each group had, and one number of the journals over time and at the end, for each run.
//
// Fails: throws InputError when a signal was asked for that the journals do not have.

#include <string>
#include <vector>

#include "apps/isochron/report_data.hpp"

namespace isochron::app {

/// The runs of one scenario that belong together.
struct RunGroup {
  std::string name;  // "with time management", "free-running"
  bool free = false;
  std::vector<std::size_t> runs;
  [[nodiscard]] std::size_t different(const std::vector<RunData>& all) const;  // digests
};
std::vector<RunGroup> groups_of(const std::vector<RunData>& runs);

/// `signal` is TOPIC:FIELD; "" = the one that differs most at the end. Empty if there are not two runs of flows.
std::string scatter_section(Disk& disk, const std::vector<RunData>& runs, const std::string& signal);
/// A page of nothing else: for hundreds of runs.
std::string scatter_page(Disk& disk, const std::vector<RunData>& runs, const std::string& signal);

}  // namespace isochron::app
