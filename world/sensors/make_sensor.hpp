#pragma once
// From a description to a sensor.

#include <memory>

#include "world/sensors/sensor.hpp"

namespace isochron::world {

/// Throws InputError with every mistake that check() finds.
std::unique_ptr<Sensor> make_sensor(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed);

}  // namespace isochron::world
