#pragma once
// Which parts this build of Isochron has, of those that need a library which not everybody has (ROS 1, DDS, …). The
// list is made by cmake/IsochronParts.cmake. A scenario that needs a part which was left out is refused at its place,
// with the packages to install; everything else works without it.
//
// Threads: any; constant.

#include <span>
#include <string>
#include <string_view>

#include "core/input_error.hpp"

namespace isochron {

struct BuildPart {
  std::string_view name;  // "ROS 1"
  bool here = false;
  std::string_view gives;     // "nodes of ROS 1"
  std::string_view packages;  // of Debian, separated by spaces
};

std::span<const BuildPart> build_parts();
[[nodiscard]] bool has_part(std::string_view name);
/// Throws InputError at `place` if this build does not have the part. `other` is another way out, if there is one.
void need_part(std::string_view name, const Place& place, const std::string& other = "");
/// What need_part throws, for any part, whether this build has it or not.
InputError part_missing(const BuildPart& part, const Place& place, const std::string& other = "");

}  // namespace isochron
