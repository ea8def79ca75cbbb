#pragma once
// A road network as a model (MJCF) that cars drive on: a plane as ground where the roads are flat, else lanes as
// ground; lanes, stop lines and signal heads to be seen; and bodies for the vehicles of a traffic simulator.
//
//     ground                 what wheels stand on
//     lane/LANE/SEGMENT      asphalt, not run into; `ground/lane/…` where the roads are not flat
//     stop/LANE              a white line where the lane ends at a signal or gives way
//     signal/LIGHTS/LINK     a body, the head of a signal on its pole
//     traffic_NN             bodies that are moved by others

#include <array>
#include <cstdint>
#include <string>

#include "road/network.hpp"

namespace isochron::road {

struct ModelOptions {
  std::string name = "road";
  std::array<double, 2> origin{};  // becomes the world's origin
  std::uint32_t cars = 0;          // bodies traffic_00 and up
};

std::string model_text(const Network& network, const ModelOptions& options);

/// The middle of all drivable lanes.
std::array<double, 2> centre(const Network& network);

}  // namespace isochron::road
