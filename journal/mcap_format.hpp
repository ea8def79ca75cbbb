#pragma once
// The records of an MCAP file and their bytes (mcap.dev/spec): each is one byte of kind, eight of length, the content;
// all numbers little endian. The journal is such a file so that Foxglove, PlotJuggler and the mcap tools open it.
//
//     magic  Header  [Schema Channel Metadata Attachment]…  [Chunk MessageIndex…]…  DataEnd
//     Schema… Channel… Statistics ChunkIndex… AttachmentIndex… MetadataIndex… SummaryOffset…  Footer  magic
//                                     the summary: lets a reader find chunks without reading them
//
// Promises: parse(encode(x)) == x. Parsing never reads beyond the bytes given, and allocates no more than they are.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isochron::mcap {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;
using TextMap = std::map<std::string, std::string>;

inline constexpr std::array<std::uint8_t, 8> magic{0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};
inline View magic_bytes() { return std::as_bytes(std::span(magic)); }

enum class Op : std::uint8_t {
  header = 1,
  footer,
  schema,
  channel,
  message,
  chunk,
  message_index,
  chunk_index,
  attachment,
  attachment_index,
  statistics,
  metadata,
  metadata_index,
  summary_offset,
  data_end,
};
inline constexpr std::size_t prefix_size = 9;  // kind and length
inline constexpr std::size_t footer_size = 8 + 8 + 4;
inline constexpr std::size_t message_head_size = 2 + 4 + 8 + 8;

struct Header {
  std::string profile, library;
};
struct Footer {
  std::uint64_t summary_start = 0, summary_offset_start = 0;
  std::uint32_t summary_crc = 0;
};
struct Schema {
  std::uint16_t id = 0;
  std::string name, encoding, text;
  bool operator==(const Schema&) const = default;
};
struct Channel {
  std::uint16_t id = 0, schema_id = 0;
  std::string topic, encoding;
  TextMap metadata;
  bool operator==(const Channel&) const = default;
};
struct Message {
  std::uint16_t channel_id = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0, publish_time = 0;
  View data;
};
struct Chunk {
  std::uint64_t start_time = 0, end_time = 0, uncompressed_size = 0;
  std::uint32_t uncompressed_crc = 0;
  std::string compression;
  View records;
};
struct MessageIndex {
  std::uint16_t channel_id = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;  // log time, offset in the uncompressed chunk
};
struct ChunkIndex {
  std::uint64_t start_time = 0, end_time = 0, chunk_offset = 0, chunk_length = 0;
  std::map<std::uint16_t, std::uint64_t> message_index_offsets;
  std::uint64_t message_index_length = 0;
  std::string compression;
  std::uint64_t compressed_size = 0, uncompressed_size = 0;
};
struct Attachment {
  std::uint64_t log_time = 0, create_time = 0;
  std::string name, media_type;
  View data;
};
struct AttachmentIndex {
  std::uint64_t offset = 0, length = 0, log_time = 0, create_time = 0, data_size = 0;
  std::string name, media_type;
};
struct Statistics {
  std::uint64_t message_count = 0;
  std::uint16_t schema_count = 0;
  std::uint32_t channel_count = 0, attachment_count = 0, metadata_count = 0, chunk_count = 0;
  std::uint64_t start_time = 0, end_time = 0;
  std::map<std::uint16_t, std::uint64_t> channel_message_counts;
};
struct Metadata {
  std::string name;
  TextMap entries;
};
struct MetadataIndex {
  std::uint64_t offset = 0, length = 0;
  std::string name;
};
struct SummaryOffset {
  Op group = Op::schema;
  std::uint64_t start = 0, length = 0;
};
struct DataEnd {
  std::uint32_t data_crc = 0;
};

/// Appends the whole record.
void encode(Bytes& out, const Header& record);
void encode(Bytes& out, const Footer& record);
void encode(Bytes& out, const Schema& record);
void encode(Bytes& out, const Channel& record);
void encode(Bytes& out, const Message& record);
void encode(Bytes& out, const MessageIndex& record);
void encode(Bytes& out, const ChunkIndex& record);
void encode(Bytes& out, const Attachment& record);
void encode(Bytes& out, const AttachmentIndex& record);
void encode(Bytes& out, const Statistics& record);
void encode(Bytes& out, const Metadata& record);
void encode(Bytes& out, const MetadataIndex& record);
void encode(Bytes& out, const SummaryOffset& record);
void encode(Bytes& out, const DataEnd& record);
/// All of a chunk's record up to its compressed bytes, which follow.
void encode_chunk_head(Bytes& out, const Chunk& record);

/// False: the content (what follows the prefix) is not such a record.
bool parse(View content, Header& record);
bool parse(View content, Footer& record);
bool parse(View content, Schema& record);
bool parse(View content, Channel& record);
bool parse(View content, Message& record);
bool parse(View content, Chunk& record);
bool parse(View content, ChunkIndex& record);
/// Also false when its checksum is wrong.
bool parse(View content, Attachment& record);
bool parse(View content, AttachmentIndex& record);
bool parse(View content, Statistics& record);
bool parse(View content, Metadata& record);
bool parse(View content, MetadataIndex& record);

/// Splits the first record off `rest`. False: what is left is not a whole record; `rest` stays.
struct Record {
  Op op = Op::header;
  View content;
};
bool next_record(View& rest, Record& record);

}  // namespace isochron::mcap
