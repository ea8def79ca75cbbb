#pragma once
// roscpp is started once in a process, whoever needs it first.

#include <string>

namespace isochron::link {

/// Throws std::runtime_error if there is no master.
void start_ros(const std::string& node);

}  // namespace isochron::link
