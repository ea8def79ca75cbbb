#pragma once
// From what a person writes ("robot.local:7410", "localhost:7410", "[::1]:7410") to addresses.
//
// Cost: blocks while names are looked up; for set-up only.

#include <string_view>
#include <vector>

#include "core/network.hpp"

namespace isochron::link {

/// At least one address, best first. Fails: bad_address with a sentence that says what would be right.
Result<std::vector<Address>, NetError> resolve(std::string_view text);

}  // namespace isochron::link
