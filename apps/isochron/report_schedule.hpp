#pragma once
// Who ran when, small enough to be embedded in a page. At most `most_marks` marks over all runs; where a program has
// more activations than its part of them, neighbours are joined, and a joined mark says how many it stands for.

#include <string>
#include <vector>

#include "apps/isochron/report_data.hpp"

namespace isochron::app {

/// The part of a run whose schedule is shown, in simulated seconds.
struct ScheduleWindow {
  double from_s = 0;
  double to_s = 1e300;
};

inline constexpr std::size_t most_marks = 5000;

struct Schedule {
  std::string json;  // safe inside a <script>
  std::size_t marks = 0;
  bool joined = false;
};

Schedule schedule_of(const std::vector<RunData>& runs, const ScheduleWindow& window);

}  // namespace isochron::app
