#pragma once
// How far apart two bodies were over a run, from its journal alone: the quantity of paper 000's Figure 1.
//
// Cost: reads all of /world/state.

#include <string>
#include <vector>

#include "core/disk.hpp"
#include "core/result.hpp"

namespace isochron::app {

/// Metres, one for each recorded state. Fails: the journal cannot be read, or has no such bodies.
Result<std::vector<double>, std::string> body_distances(Disk& disk, const std::string& journal, const std::string& a,
                                                        const std::string& b);

}  // namespace isochron::app
