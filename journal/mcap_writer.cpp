#include "journal/mcap_writer.hpp"

#include <algorithm>

#include "core/ensure.hpp"
#include "journal/crc32.hpp"

namespace isochron {

McapWriter::McapWriter(File& file, McapWriterOptions options)
    : file_(file), options_(std::move(options)), compressor_(options_.zstd_level) {}

void McapWriter::put(mcap::View bytes) {
  if (error_) return;
  if (auto put = append_all(file_, bytes); !put) {
    error_ = put.error();
    return;
  }
  position_ += bytes.size();
  data_crc_ = crc32(bytes, data_crc_);
}

template <class Record>
void McapWriter::put_record(const Record& record) {
  scratch_.clear();
  mcap::encode(scratch_, record);
  put(scratch_);
}

void McapWriter::start() {
  ENSURE(position_ == 0, "a journal starts once");
  put(mcap::magic_bytes());
  put_record(mcap::Header{options_.profile, options_.library});
}

std::uint16_t McapWriter::schema(const std::string& name, const std::string& encoding, const std::string& text) {
  for (const mcap::Schema& known : schemas_) {
    if (known.name == name && known.encoding == encoding && known.text == text) return known.id;
  }
  ENSURE(schemas_.size() < 0xFFFF, "more schemas than MCAP has numbers for");
  schemas_.push_back({static_cast<std::uint16_t>(schemas_.size() + 1), name, encoding, text});
  put_record(schemas_.back());
  return schemas_.back().id;
}

std::uint16_t McapWriter::channel(const std::string& topic, const std::string& encoding, std::uint16_t schema,
                                  const mcap::TextMap& metadata) {
  ENSURE(channels_.size() < 0xFFFF, "more channels than MCAP has numbers for");
  ENSURE(schema <= schemas_.size(), "a channel of an unknown schema");
  const auto id = static_cast<std::uint16_t>(channels_.size());
  channels_.push_back({id, schema, topic, encoding, metadata});
  chunk_entries_.push_back({id, {}});
  statistics_.channel_message_counts[id] = 0;
  put_record(channels_.back());
  return id;
}

void McapWriter::message(const mcap::Message& message) {
  ENSURE(message.channel_id < channels_.size(), "a message of an unknown channel");
  if (error_) return;
  index_message(message);
  mcap::encode(chunk_, message);
}

void McapWriter::index_message(const mcap::Message& message) {
  chunk_start_ = chunk_.empty() ? message.log_time : std::min(chunk_start_, message.log_time);
  chunk_end_ = chunk_.empty() ? message.log_time : std::max(chunk_end_, message.log_time);
  chunk_entries_[message.channel_id].entries.emplace_back(message.log_time, chunk_.size());
}

void McapWriter::attachment(const mcap::Attachment& attachment) {
  const std::uint64_t offset = position_;
  put_record(attachment);
  if (error_) return;
  attachments_.push_back({offset, position_ - offset, attachment.log_time, attachment.create_time,
                          attachment.data.size(), attachment.name, attachment.media_type});
}

void McapWriter::metadata(const mcap::Metadata& metadata) {
  const std::uint64_t offset = position_;
  put_record(metadata);
  if (error_) return;
  metadata_.push_back({offset, position_ - offset, metadata.name});
}

void McapWriter::finish_chunk(Compress compress) {
  if (chunk_.empty()) return;
  mcap::ChunkIndex index = put_chunk(compress);
  // The chunk counts as soon as it is there: its indexes can be made again from it.
  if (!error_) count_chunk(index);
  put_message_indexes(index);
  if (!error_) chunks_.push_back(std::move(index));
  forget_chunk();
}

mcap::ChunkIndex McapWriter::put_chunk(Compress compress) {
  mcap::Chunk chunk{chunk_start_, chunk_end_, chunk_.size(), crc32(chunk_), "", chunk_};
  if (compress != Compress::no) {
    const mcap::View packed = compressor_.compress(chunk_, compress == Compress::quick);
    // Noise does not get smaller; as it is, it is at least quick to read.
    if (packed.size() < chunk_.size()) {
      chunk.compression = "zstd";
      chunk.records = packed;
    }
  }
  const std::uint64_t offset = position_;
  scratch_.clear();
  mcap::encode_chunk_head(scratch_, chunk);
  put(scratch_);
  put(chunk.records);
  return {chunk_start_,      chunk_end_,           offset,       position_ - offset, {}, 0,
          chunk.compression, chunk.records.size(), chunk_.size()};
}

void McapWriter::put_message_indexes(mcap::ChunkIndex& index) {
  scratch_.clear();
  for (mcap::MessageIndex& entries : chunk_entries_) {
    if (entries.entries.empty()) continue;
    // Readers expect the entries in the order of time; one producer's mostly are already.
    if (!std::is_sorted(entries.entries.begin(), entries.entries.end())) {
      std::stable_sort(entries.entries.begin(), entries.entries.end());
    }
    index.message_index_offsets[entries.channel_id] = position_ + scratch_.size();
    mcap::encode(scratch_, entries);
  }
  index.message_index_length = scratch_.size();
  put(scratch_);
}

void McapWriter::count_chunk(const mcap::ChunkIndex& index) {
  const bool first = statistics_.message_count == 0;
  statistics_.start_time = first ? index.start_time : std::min(statistics_.start_time, index.start_time);
  statistics_.end_time = first ? index.end_time : std::max(statistics_.end_time, index.end_time);
  for (const mcap::MessageIndex& entries : chunk_entries_) {
    statistics_.channel_message_counts[entries.channel_id] += entries.entries.size();
    statistics_.message_count += entries.entries.size();
  }
}

void McapWriter::forget_chunk() {
  chunk_.clear();
  for (mcap::MessageIndex& entries : chunk_entries_) entries.entries.clear();
}

Result<Done, DiskError> McapWriter::finish() {
  finish_chunk();
  const mcap::DataEnd data_end{data_crc_};
  put_record(data_end);
  put_summary();
  if (error_) return fail(*error_);
  return done();
}

void McapWriter::put_summary() {
  statistics_.schema_count = static_cast<std::uint16_t>(schemas_.size());
  statistics_.channel_count = static_cast<std::uint32_t>(channels_.size());
  statistics_.attachment_count = static_cast<std::uint32_t>(attachments_.size());
  statistics_.metadata_count = static_cast<std::uint32_t>(metadata_.size());
  statistics_.chunk_count = static_cast<std::uint32_t>(chunks_.size());

  mcap::Bytes summary;
  std::vector<mcap::SummaryOffset> groups;
  const auto group = [&](mcap::Op op, const auto& records) {
    const std::size_t before = summary.size();
    for (const auto& record : records) mcap::encode(summary, record);
    if (summary.size() > before) groups.push_back({op, position_ + before, summary.size() - before});
  };
  group(mcap::Op::schema, schemas_);
  group(mcap::Op::channel, channels_);
  group(mcap::Op::statistics, std::span(&statistics_, 1));
  group(mcap::Op::chunk_index, chunks_);
  group(mcap::Op::attachment_index, attachments_);
  group(mcap::Op::metadata_index, metadata_);

  mcap::Footer footer{position_, position_ + summary.size(), 0};
  for (const mcap::SummaryOffset& offset : groups) mcap::encode(summary, offset);
  mcap::encode(summary, footer);
  // The checksum covers the summary and the footer up to the checksum itself, its last field.
  footer.summary_crc = crc32(mcap::View(summary).first(summary.size() - sizeof footer.summary_crc));
  std::memcpy(summary.data() + summary.size() - sizeof footer.summary_crc, &footer.summary_crc,
              sizeof footer.summary_crc);
  put(summary);
  put(mcap::magic_bytes());
}

std::uint64_t McapWriter::written_messages(std::uint16_t channel) const {
  const auto found = statistics_.channel_message_counts.find(channel);
  return found == statistics_.channel_message_counts.end() ? 0 : found->second;
}

}  // namespace isochron
