#pragma once
// A tap sees every record on its way into the file, for a live view of a run. It is called by the journal's writer
// thread, after the record left its producer's ring: the run itself never waits for it, unless the tap is so slow that
// the writer thread cannot follow.
//
// Requires: a tap copies what it wants and returns; it never blocks.
// Threads:  the writer thread alone.

#include <span>

#include "core/time.hpp"
#include "journal/journal_file.hpp"

namespace isochron {

class JournalTap {
 public:
  virtual ~JournalTap() = default;
  /// Channels come in the order of their numbers, each before its first record.
  virtual void defined(std::size_t channel, const ChannelDefinition& definition) = 0;
  virtual void recorded(std::size_t channel, SimTime time, std::span<const std::byte> payload) = 0;
};

}  // namespace isochron
