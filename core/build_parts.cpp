#include "core/build_parts.hpp"

#include <algorithm>

#include "core/ensure.hpp"

namespace isochron {
namespace {

constexpr BuildPart parts[] = {
#include "build_parts.inc"
};

const BuildPart& part_of(std::string_view name) {
  const auto* const found = std::ranges::find(parts, name, &BuildPart::name);
  ENSURE(found != std::end(parts), "no part of this name is in cmake/IsochronParts.cmake");
  return *found;
}

}  // namespace

std::span<const BuildPart> build_parts() { return parts; }

bool has_part(std::string_view name) { return part_of(name).here; }

void need_part(std::string_view name, const Place& place, const std::string& other) {
  if (!has_part(name)) throw part_missing(part_of(name), place, other);
}

InputError part_missing(const BuildPart& part, const Place& place, const std::string& other) {
  return {
      place, "this build of Isochron has no " + std::string(part.name),
      "install " + std::string(part.packages) + " (Debian) and build again" + (other.empty() ? "" : ", or " + other)};
}

}  // namespace isochron
