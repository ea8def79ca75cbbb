#pragma once
// What a sweep varies besides speed and seed: any keys of the scenario.
//
//     --over time.quantum=500us,1ms,2ms          these values
//     --over world.walls.stiffness=10..30/5      so many between two, ends included: 10 15 20 25 30
//     several of them                            all combinations
//     --random 100                               instead: so many points, each key drawn anew; of a range any value
//     --latin 100                                the same, spread evenly: each hundredth of each range is in one of
//     them
//
// Fails: InputError for what cannot be read.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace isochron::app {

/// Values for keys, in the order in which they were named.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How points are chosen.
enum class Sampling { grid, random, latin };

/// All combinations, or `count` points of them. One point without settings if nothing is varied.
std::vector<Settings> settings_of(const std::vector<std::string>& over, Sampling how, std::uint64_t count,
                                  std::uint64_t seed);

/// LOW..HIGH, with the unit that both have.
struct ValueRange {
  double low = 0, high = 0;
  std::string unit;
};
std::optional<ValueRange> range_from(const std::string& text);
/// A value of it, as a scenario takes it.
std::string range_text(double value, const std::string& unit);

/// "time.quantum=1ms, seed=3".
std::string to_string(const Settings& settings);

}  // namespace isochron::app
