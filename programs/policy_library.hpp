#pragma once
// A user's own policy in a shared library with a C interface; see programs/isochron_policy.h.

#include <string>
#include <vector>

#include "programs/policy.hpp"

namespace isochron::programs {

/// Loads the library once and opens a policy for each call. Throws InputError when it cannot be used.
MakePolicy policy_of_library(const std::string& library, std::string robot, std::vector<std::string> programs,
                             SimSpan quantum);

}  // namespace isochron::programs
