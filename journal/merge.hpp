#pragma once
// One journal of several that the members of one run left on their hosts. Channels keep their topics; records stand in
// the order of their times, those of one time in the order of the files.
//
// Promises: the digest is that of the same run in one process. `out` appears whole or not at all.
// Fails:    an input that cannot be opened, or the disk; the inputs stay as they are.

#include <string>
#include <vector>

#include "journal/digest.hpp"

namespace isochron {

struct MergeSummary {
  Digest digest;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// A file to keep inside the merged journal, such as the report of the whole run.
struct Enclosed {
  std::string name;
  std::string media_type;
  std::string text;
};

Result<MergeSummary, JournalError> merge_journals(Disk& disk, const std::vector<std::string>& in,
                                                  const std::string& out, const std::vector<Enclosed>& enclosed = {});

}  // namespace isochron
