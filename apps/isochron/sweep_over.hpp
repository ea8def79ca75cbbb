#pragma once
// What a sweep varies besides speed and seed: any keys of the scenario.
//
//     --over time.quantum=500us,1ms,2ms          these values
//     --over world.walls.stiffness=10..30/5      so many between two, ends included: 10 15 20 25 30
//     several of them                            all combinations
//     --random 100                               instead: so many points, each key drawn anew; of a range any value
//
// Fails: InputError for what cannot be read.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace isochron::app {

/// Values for keys, in the order in which they were named.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// All combinations, or `random` points of them where that is not 0. One point without settings if nothing is varied.
std::vector<Settings> settings_of(const std::vector<std::string>& over, std::uint64_t random, std::uint64_t seed);

/// "time.quantum=1ms, seed=3".
std::string to_string(const Settings& settings);

}  // namespace isochron::app
