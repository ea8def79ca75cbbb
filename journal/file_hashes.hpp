#pragma once
// What a run was made of, so that two runs that differ can say why: the hash of each file that its scenario names, and
// the build of each library in this process.
//
// Cost: files are read at GB/s; libraries are not read, their build ids are in memory.

#include <string>
#include <string_view>
#include <vector>

#include "journal/mcap_format.hpp"

namespace isochron {

/// 32 hexadecimal digits of a text.
std::string hash_of_text(std::string_view text);
/// 32 hexadecimal digits (XXH3-128) of each file, by path. One that cannot be read is left out.
mcap::TextMap hashes_of_files(const std::vector<std::string>& paths);
/// The build id of each library of this process, by file name; libraries without one are left out.
mcap::TextMap builds_of_libraries();

}  // namespace isochron
