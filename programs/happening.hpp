#pragma once
// Something that happened to a program, in simulated time. What a run's programs did is the list of these.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/time.hpp"

namespace isochron::programs {

struct Happening {
  enum class Kind : std::uint8_t { start, release, read, write, send, receive, log, fault, end, output };
  Kind kind = Kind::start;
  SimTime at;
  std::uint32_t program = 0;         // declared index over all robots
  std::uint32_t about = UINT32_MAX;  // variable, or the other program
  SimTime stamp;                     // receive: when it was sent; release: the release time
  std::vector<std::byte> bytes;      // value, message or text
};
const char* to_string(Happening::Kind kind);

}  // namespace isochron::programs
