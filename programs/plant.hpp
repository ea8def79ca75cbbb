#pragma once
// What the coordinator acts on is what everybody acts on; see core/plant.hpp.

#include "core/plant.hpp"

namespace isochron::programs {

using isochron::Plant;
using isochron::Sample;
using isochron::Variable;

}  // namespace isochron::programs
