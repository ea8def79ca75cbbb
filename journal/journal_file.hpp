#pragma once
// The writing side of a journal: what the writer thread does with each record that comes out of a ring. It numbers it,
// adds it to the digest and to the chunk. Without thread or ring of its own, so that it can be tested alone.
//
// Promises: sequence numbers count each channel's records from 0. The digest counts every record handed in, whether or
//           not the disk took it: it says what happened, and written() what the file has of it.
// Threads:  owner thread.
// Fails:    a disk error is kept (error()); everything goes on but the writing.

#include <memory>

#include "journal/digest.hpp"
#include "journal/mcap_writer.hpp"

namespace isochron {

/// How the bytes of a channel are to be understood.
struct SchemaText {
  std::string name;  // "package/msg/Name"
  std::string text;
  std::string encoding = "ros2msg";
};

struct ChannelOptions {
  bool in_digest = true;  // false for what is never the same twice, as wall times
  mcap::TextMap metadata = {};
  std::string message_encoding = "cdr";
};

struct ChannelDefinition {
  std::string topic;
  SchemaText schema;
  ChannelOptions options;
};

class JournalFile {
 public:
  JournalFile(std::unique_ptr<File> file, McapWriterOptions options, const mcap::TextMap& about_the_run);

  /// Channels get the numbers 0, 1, … in the order of these calls.
  void define(const ChannelDefinition& channel);
  [[nodiscard]] std::size_t channels() const { return channels_.size(); }
  /// `producer` is any number that tells producers apart.
  void accept(std::size_t producer, std::size_t channel, SimTime time, std::span<const std::byte> payload);
  void attach(const mcap::Attachment& attachment) { writer_.attachment(attachment); }
  void note(const mcap::Metadata& metadata) { writer_.metadata(metadata); }

  [[nodiscard]] bool chunk_is_open() const { return writer_.chunk_size() > 0; }
  [[nodiscard]] bool chunk_is_full() const { return writer_.chunk_is_full(); }
  void finish_chunk(Compress compress) { writer_.finish_chunk(compress); }

  /// Of all that was accepted. `dropped` counts, for each channel, the records that never came here.
  [[nodiscard]] Digest digest(const std::vector<std::uint64_t>& dropped);
  /// Ends the file.
  Digest finish(const std::vector<std::uint64_t>& dropped, bool sync);

  [[nodiscard]] const std::optional<DiskError>& error() const { return writer_.error(); }
  [[nodiscard]] std::uint64_t accepted(std::size_t channel) const { return channels_[channel].accepted; }
  [[nodiscard]] std::uint64_t written(std::size_t channel) const {
    return writer_.written_messages(channels_[channel].id);
  }
  [[nodiscard]] std::uint64_t file_size() const { return writer_.file_size(); }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct State {
    std::string topic;
    std::uint16_t id = 0;
    std::size_t digest = none;
    std::size_t producer = none;
    std::uint64_t accepted = 0;
  };
  void check_single_producer(State& channel, std::size_t producer);
  void note_end(const Digest& digest, const std::vector<std::uint64_t>& dropped);

  std::unique_ptr<File> file_;
  McapWriter writer_;
  DigestBuilder digest_;
  std::vector<State> channels_;
};

}  // namespace isochron
