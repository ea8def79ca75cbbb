#pragma once
// Where in DDS somebody takes part: the domain, by which interface, and how others are found.

#include <cstdint>
#include <string>
#include <vector>

namespace isochron::link {

struct DdsOptions {
  std::uint32_t domain = 0;
  std::string interface;           // "lo", "eth0", "10.0.0.1"; "" = as Cyclone chooses or CYCLONEDDS_URI says
  std::vector<std::string> hosts;  // where to look for others if there is no multicast; "" = multicast
};

/// Cyclone's configuration for that, as CYCLONEDDS_URI takes it; "" if it says nothing.
std::string cyclone_configuration(DdsOptions options);

}  // namespace isochron::link
