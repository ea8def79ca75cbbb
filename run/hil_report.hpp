#pragma once
// What a run with hardware in the loop adds to its report: for each target how long it was held and for whom, how long
// the world waited for it, and what its link and its clock were like.

#include <cstdint>
#include <string>
#include <vector>

namespace isochron {

struct HilTargetReport {
  std::string name;
  bool held = true;       // else it ran free, and simulated time kept to the wall clock
  double executed_s = 0;  // by its own account, the link taken out unless it is charged
  double free_s = 0;      // by the host's clock, the link's delays included
  std::uint64_t holds = 0;
  double held_s = 0, held_most_s = 0;
  double held_by_world_s = 0, held_by_targets_s = 0, held_by_programs_s = 0, held_by_pace_s = 0;
  double world_waited_s = 0;
  std::uint32_t losses = 0;
  std::uint32_t links = 0;
  double latency_s = 0, jitter_s = 0, latency_most_s = 0;  // there and back, by its requests
  double ping_s = 0;                                       // at the start
  double clock_offset_s = 0, clock_offset_end_s = 0;
  std::uint64_t clock_jumps = 0, clock_faults = 0, late = 0;
  double late_s = 0;
  double clock_rate = 1;                      // of its clock to ours
  std::uint64_t beyond = 0;                   // requests that were longer on the way than pings are
  double beyond_s = 0;                        // which was charged
  double apart_mean_s = 0, apart_most_s = 0;  // not held: its clock and simulated time, at its requests
};

struct HilReport {
  bool synced = true;
  std::string link_cost;
  std::uint64_t requests = 0, refused = 0;
  std::string verdict;  // who waited for whom, and by how much
  std::vector<HilTargetReport> targets;
};

/// As it stands in the report: a JSON object.
std::string to_json(const HilReport& report);

}  // namespace isochron
