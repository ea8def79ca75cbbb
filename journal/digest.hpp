#pragma once
// The digest: 32 hexadecimal digits that say what happened in a run. Two runs with equal digests had the same messages,
// with the same simulated times, in the same order on every channel.
//
//     channel   h = XXH3-128( time, size, bytes, time, size, bytes, … )   in the order of that channel's records
//     digest      = XXH3-128( topic, schema, count, h, …  )               over the channels sorted by topic
//
// So the interleaving of threads on the way to the file does not matter; what each said, and when, does. Channels with
// wall times and other things that are not the same twice are left out by the metadata entry `isochron.in_digest:
// false`.
//
// Threads: owner thread. Cost: several GB/s; memory for each channel at set-up.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "journal/mcap_reader.hpp"

namespace isochron {

inline constexpr const char* in_digest_key = "isochron.in_digest";

struct Digest {
  std::string hex = std::string(32, '0');
  bool complete = true;
  std::string why_incomplete;

  bool operator==(const Digest&) const = default;
};

/// Whether a channel of a file counts; true unless it says otherwise.
[[nodiscard]] bool in_digest(const mcap::Channel& channel);

class DigestBuilder {
 public:
  DigestBuilder();
  ~DigestBuilder();
  DigestBuilder(DigestBuilder&&) noexcept;

  /// Returns the number by which add() knows the channel.
  std::size_t channel(std::string topic, std::string schema_name);
  void add(std::size_t channel, SimTime time, std::span<const std::byte> bytes);
  /// The first reason is kept.
  void mark_incomplete(std::string why);

  [[nodiscard]] Digest digest() const;

 private:
  struct Stream;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::string why_incomplete_;
};

/// Of what is in the file, whatever the file says that its digest is. Incomplete if the file is damaged, or if its
/// writer dropped records.
Digest digest_of(McapReader& reader);
/// Of the first records of each topic, so many as `counts` says: two runs that were the same up to somewhere have equal
/// ones, wherever each of their channels stood then. Incomplete where a topic has fewer.
Digest digest_of_beginning(McapReader& reader, const std::map<std::string, std::uint64_t>& counts);
/// How many records each topic has that count.
std::map<std::string, std::uint64_t> counts_of(McapReader& reader);
/// Of all records whose time is before `until`.
Digest digest_until(McapReader& reader, SimTime until);
/// What the writer noted in the file at its end; hex is empty if there is none.
Digest recorded_digest(const McapReader& reader);

}  // namespace isochron
