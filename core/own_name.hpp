#pragma once
// What a robot's programs call things: their own robot's first, then as the name stands. "pose", said by a program of
// prey, is "prey/pose" if there is one.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace isochron {

inline constexpr std::uint32_t no_such_name = UINT32_MAX;

/// The index in `all` of what `name` means to a program of `robot`; `name_of` gives the whole name of an element.
template <class All, class NameOf>
std::uint32_t find_own(const All& all, std::string_view robot, std::string_view name, NameOf name_of) {
  const std::string own = std::string(robot) + "/" + std::string(name);
  for (const std::string_view wanted : {std::string_view(own), name}) {
    const auto found = std::ranges::find_if(all, [&](const auto& one) { return std::invoke(name_of, one) == wanted; });
    if (found != std::ranges::end(all)) return static_cast<std::uint32_t>(found - std::ranges::begin(all));
  }
  return no_such_name;
}

}  // namespace isochron
