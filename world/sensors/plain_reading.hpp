#pragma once
// Readings that are a handful of numbers, as the plain values of msg/sensor_types.hpp: what a program reads over a
// link without knowing CDR.
//
// Threads: owner of the sensor. Cost: fill_plain() keeps its messages and does not allocate after the first of a kind.

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "world/sensors/sensor.hpp"

namespace isochron::world {

struct PlainType {
  std::string name;
  std::size_t size = 0;
};

/// None for pictures and scans. `catalog` is the one that the sensor was made with.
std::optional<PlainType> plain_type(const SensorSpec& spec, const Catalog& catalog);
/// What else it says, under NAME/`word`: a GPS its velocity. None for most.
struct PlainMore {
  const char* word;
  PlainType type;
};
std::optional<PlainMore> plain_more(const SensorSpec& spec);

/// Null: there is no reading yet, and the value is zero all over.
void fill_plain(SensorType type, const Reading* reading, std::span<std::byte> value);
/// The same of plain_more().
void fill_plain_more(SensorType type, const Reading* reading, std::span<std::byte> value);

}  // namespace isochron::world
