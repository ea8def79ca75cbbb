#pragma once
// What a run with autopilots adds to its report: for each how its loop kept up, who waited for whom, and what was wrong
// with what it said.

#include <cstdint>
#include <string>
#include <vector>

namespace isochron {

struct AutopilotReport {
  std::string name;      // "uav/pilot"
  std::string protocol;  // "ArduPilot"
  std::string where;     // "UDP port 9002"
  std::string time;      // "lock-step" or "in the simulated network"
  double every_s = 0;
  std::uint64_t frames = 0;                         // states that it was told
  std::uint64_t answers = 0;                        // controls that came
  std::uint64_t overruns = 0;                       // frames whose controls were not there when the next one was due
  std::uint64_t missed = 0;                         // frames that went by while it computed
  double response_mean_s = 0, response_most_s = 0;  // from state to controls, simulated
  double waited_s = 0, waited_most_s = 0;           // the world for it, wall time
  double first_s = -1;                              // when the first controls came, simulated
  std::uint64_t wrong = 0;                          // packets that could not be read
  std::uint64_t not_numbers = 0, strangers = 0, skipped = 0, ahead = 0;
  std::uint32_t restarts = 0, losses = 0;
};

}  // namespace isochron
