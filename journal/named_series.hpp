#pragma once
// The names of a whole journal (journal/names.hpp), and what is called so, over time.
//
// Threads: owner thread. Cost: names_of() reads the first record of channels whose names stand in their records;
// read_named() all records of one topic.

#include "core/time.hpp"
#include "journal/decode.hpp"
#include "journal/mcap_reader.hpp"
#include "journal/names.hpp"

namespace isochron {

/// Channels have the numbers that they have in the file.
Names names_of(McapReader& reader);

/// Fails: the journal has no number of that name; the sentence says which is near.
Result<Series, std::string> read_named(McapReader& reader, const Names& names, const std::string& name,
                                       SimTime from = SimTime::zero(), SimTime to = SimTime::never());
/// The number of that name. Fails as above, and for text.
Result<NamedNumber, std::string> find_number(const McapReader& reader, const Names& names, const std::string& name);

}  // namespace isochron
