#pragma once
// Writes an MCAP file, chunk by chunk, at the end of a File. Schemas, channels, metadata and attachments go to the file
// at once, outside of chunks, so that a file whose writer was killed still says what its channels are. Messages gather
// in a chunk; a finished chunk and its message indexes are appended and never touched again.
//
// Promises: after any call, the file up to the last finished chunk is readable, even if the process is killed.
// Requires: start() first; finish() last; schema and channel ids come from this writer.
// Threads:  owner thread.
// Cost:     message() copies into the chunk and allocates only while the buffers grow to their size.
// Fails:    the first disk error is kept in error(); from then on every call does nothing, and written_messages() says
//           what had reached the file.

#include <optional>

#include "core/disk.hpp"
#include "journal/compression.hpp"
#include "journal/mcap_format.hpp"

namespace isochron {

struct McapWriterOptions {
  std::string profile;
  std::string library = "isochron";
  std::size_t chunk_bytes = 4U << 20U;  // of messages, before compression
  int zstd_level = 1;
};

enum class Compress { yes, quick, no };

class McapWriter {
 public:
  McapWriter(File& file, McapWriterOptions options);

  void start();
  /// Equal schemas get one id.
  std::uint16_t schema(const std::string& name, const std::string& encoding, const std::string& text);
  /// schema 0: messages without one.
  std::uint16_t channel(const std::string& topic, const std::string& encoding, std::uint16_t schema,
                        const mcap::TextMap& metadata);
  void message(const mcap::Message& message);
  void attachment(const mcap::Attachment& attachment);
  void metadata(const mcap::Metadata& metadata);

  [[nodiscard]] std::size_t chunk_size() const { return chunk_.size(); }
  [[nodiscard]] bool chunk_is_full() const { return chunk_.size() >= options_.chunk_bytes; }
  void finish_chunk(Compress compress = Compress::yes);

  /// The last chunk, summary and footer. Returns the first error, if there was one.
  Result<Done, DiskError> finish();

  [[nodiscard]] const std::optional<DiskError>& error() const { return error_; }
  [[nodiscard]] std::uint64_t file_size() const { return position_; }
  /// Those in finished chunks, for all channels and for one.
  [[nodiscard]] const mcap::Statistics& statistics() const { return statistics_; }
  [[nodiscard]] std::uint64_t written_messages(std::uint16_t channel) const;

 private:
  void put(mcap::View bytes);
  template <class Record>
  void put_record(const Record& record);
  void index_message(const mcap::Message& message);
  mcap::ChunkIndex put_chunk(Compress compress);
  void put_message_indexes(mcap::ChunkIndex& index);
  void count_chunk(const mcap::ChunkIndex& index);
  void forget_chunk();
  void put_summary();

  File& file_;
  McapWriterOptions options_;
  Compressor compressor_;
  std::optional<DiskError> error_;
  std::uint64_t position_ = 0;
  std::uint32_t data_crc_ = 0;

  mcap::Bytes chunk_;
  std::uint64_t chunk_start_ = 0, chunk_end_ = 0;
  std::vector<mcap::MessageIndex> chunk_entries_;  // one for each channel, by id
  mcap::Bytes scratch_;

  std::vector<mcap::Schema> schemas_;
  std::vector<mcap::Channel> channels_;
  std::vector<mcap::ChunkIndex> chunks_;
  std::vector<mcap::AttachmentIndex> attachments_;
  std::vector<mcap::MetadataIndex> metadata_;
  mcap::Statistics statistics_;
};

}  // namespace isochron
