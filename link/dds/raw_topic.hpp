#pragma once
// DDS topics whose samples are bytes: CDR with its four bytes of header, under any name of a type. What is in them is
// known to those who write and read, not to DDS. So a topic of any message can be made while the program runs.
//
// Promises: bytes that are written are read as they were, whatever they are. One copy on each side.
// Threads:  any.
// Cost:     writing allocates one block for a sample, which DDS keeps as long as it needs it.

#include <dds/dds.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

struct ddsi_sertype;

namespace isochron::link {

struct RawTopic {
  dds_entity_t entity = 0;
  const ddsi_sertype* type = nullptr;  // lives as long as the topic
};

/// Fails: throws InputError with what DDS says.
RawTopic make_raw_topic(dds_entity_t participant, const std::string& name, const std::string& type);

/// Calls fill(room) with room for `size` bytes, and writes what it put there. False: it could not be written, as to a
/// reader that is too slow.
bool write_raw(dds_entity_t writer, const RawTopic& topic, std::size_t size,
               const std::function<void(std::span<std::byte>)>& fill);

/// Takes up to `most` samples and hands them over; returns how many. Samples that only tell that a writer is gone are
/// counted and not handed over.
std::size_t take_raw(dds_entity_t reader, std::size_t most,
                     const std::function<void(std::span<const std::byte>, const dds_sample_info_t&)>& take);

}  // namespace isochron::link
