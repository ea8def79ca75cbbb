#pragma once
// Makes a journal whole again whose run was killed, or that was cut or damaged: every readable record is copied into a
// new file with indexes, summary and footer, which then takes the place of `out` in one step.
//
//     recover(disk, "run.mcap", "run.mcap");     // in place; the old file is kept until the new one is complete
//
// Promises: `out` is the old file or the whole new one, never something between. Messages, channels, attachments and
//           metadata that can be read are there, in the same order; a whole file recovered in place is left alone.
// Fails:    the input stays as it is; the half-written copy is removed.

#include "journal/digest.hpp"

namespace isochron {

struct RecoverSummary {
  bool was_whole = false;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  // of the new file
  std::vector<Damage> damage;
  Digest digest;
};

Result<RecoverSummary, JournalError> recover(Disk& disk, const std::string& in, const std::string& out);

}  // namespace isochron
