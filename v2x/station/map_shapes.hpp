#pragma once
// The intersections of a MAP as a scenario describes them: lanes by name, as points in the world, from the stop line
// outwards, with their signal groups and where they lead. The way back is encode_map() (roadside.hpp).
//
// Threads: any; no state.

#include <string>
#include <vector>

#include "v2x/station/roadside.hpp"

namespace isochron::v2x {

struct MappedIntersection {
  IntersectionShape shape;
  std::vector<std::string> left_out;  // what of it a scenario cannot say, as sentences
};
/// Lanes of vehicles, also computed ones. `frame`: where the world's origin is.
[[nodiscard]] std::vector<MappedIntersection> shapes_of(const MapData& map, const GeoFrame& frame);

}  // namespace isochron::v2x
