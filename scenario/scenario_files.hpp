#pragma once
// The files that a scenario names, as `isochron launch` takes them to other hosts: models and what they include,
// journals, keys, libraries, programs and scripts. What programs open by themselves nobody can know.
//
// Threads: any.

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace isochron {

struct NeededFile {
  std::string path;     // here, absolute
  std::string place;    // where it has to be there, as if that were the root of a file system
  bool secret = false;  // a key: it stays nowhere
  friend bool operator==(const NeededFile&, const NeededFile&) = default;
};

/// For a host that runs `nodes`: the scenario itself, whatever has to be there for it to be read, and the libraries and
/// programs of these nodes.
std::vector<NeededFile> needed_files(const Scenario& scenario, const std::vector<std::string>& nodes);
/// A file, or all files of a folder; relative to the scenario.
std::vector<NeededFile> needed_files(const Scenario& scenario, const std::string& file_or_folder);

}  // namespace isochron
