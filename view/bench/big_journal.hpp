#pragma once
// A journal of any size that looks like a run: thirty bodies that move, their scene, the drift, one busy program, and
// the bulk of it raw data that does not pack, as pictures are.

#include <cstdint>
#include <string>

namespace isochron::bench {

/// Of 100 simulated seconds.
void make_big_journal(const std::string& path, std::uint64_t bytes);

}  // namespace isochron::bench
