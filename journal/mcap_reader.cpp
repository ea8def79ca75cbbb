#include "journal/mcap_reader.hpp"

#include <algorithm>

#include "journal/compression.hpp"
#include "journal/crc32.hpp"
#include "journal/mcap_scan.hpp"

namespace isochron {

std::string to_string(const Damage& damage) { return "at byte " + std::to_string(damage.offset) + ": " + damage.what; }

McapReader::McapReader(std::unique_ptr<File> file, std::string name, ReaderLimits limits)
    : file_(std::move(file)), name_(std::move(name)), limits_(limits) {}
McapReader::McapReader(McapReader&&) noexcept = default;
McapReader& McapReader::operator=(McapReader&&) noexcept = default;
McapReader::~McapReader() = default;

Result<McapReader, JournalError> McapReader::open(Disk& disk, const std::string& path, ReaderLimits limits) {
  auto file = disk.open(path);
  if (!file) return fail(JournalError{file.error().what});
  return open(std::move(*file), path, limits);
}

Result<McapReader, JournalError> McapReader::open(std::unique_ptr<File> file, std::string name, ReaderLimits limits) {
  McapReader reader(std::move(file), std::move(name), limits);
  if (auto opened = reader.open_file(); !opened) return fail(opened.error());
  return reader;
}

Result<Done, JournalError> McapReader::open_file() {
  auto size = file_->size();
  if (!size) return fail(JournalError{size.error().what});
  size_ = *size;
  std::array<std::byte, mcap::magic.size()> start{};
  if (size_ < start.size() || !read(0, start) || !std::ranges::equal(start, mcap::magic_bytes())) {
    return fail(JournalError{name_ + " is not a journal: it does not start as an MCAP file does"});
  }
  if (const auto content = record_at(start.size(), mcap::Op::header)) mcap::parse(*content, header_);
  indexed_ = read_summary();
  if (indexed_) {
    ending_ = Ending::whole;
    return done();
  }
  schemas_.clear();
  channels_.clear();
  channel_places_.clear();
  metadata_.clear();
  attachments_.clear();
  blocks_.clear();
  statistics_ = {};
  McapScan(*this).run();
  return done();
}

bool McapReader::read(std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const auto n = file_->read_at(offset, into);
    if (!n || *n == 0) return false;
    offset += *n;
    into = into.subspan(*n);
  }
  return true;
}

std::optional<mcap::Bytes> McapReader::record_at(std::uint64_t offset, mcap::Op op) {
  std::array<std::byte, mcap::prefix_size> prefix{};
  if (offset > size_ || size_ - offset < prefix.size() || !read(offset, prefix)) return std::nullopt;
  std::uint64_t length = 0;
  std::memcpy(&length, prefix.data() + 1, sizeof length);
  const bool fits = length <= size_ - offset - prefix.size() && length <= limits_.record_bytes;
  if (static_cast<mcap::Op>(prefix[0]) != op || !fits) return std::nullopt;
  mcap::Bytes content(length);
  if (!read(offset + prefix.size(), content)) return std::nullopt;
  return content;
}

bool McapReader::learn(const mcap::Schema& schema) {
  const auto known = std::ranges::find(schemas_, schema.id, &mcap::Schema::id);
  if (known != schemas_.end()) return *known == schema;
  schemas_.push_back(schema);
  statistics_.schema_count = static_cast<std::uint16_t>(schemas_.size());
  return true;
}

bool McapReader::learn(const mcap::Channel& channel) {
  if (const std::size_t known = place_of(channel.id); known != unknown) return channels_[known] == channel;
  if (channel_places_.size() <= channel.id) channel_places_.resize(std::size_t{channel.id} + 1, unknown);
  channel_places_[channel.id] = channels_.size();
  channels_.push_back(channel);
  statistics_.channel_count = static_cast<std::uint32_t>(channels_.size());
  return true;
}

bool McapReader::read_summary() {
  constexpr std::uint64_t tail = mcap::prefix_size + mcap::footer_size + mcap::magic.size();
  if (size_ < mcap::magic.size() + tail) return false;
  std::array<std::byte, mcap::magic.size()> end{};
  if (!read(size_ - end.size(), end) || !std::ranges::equal(end, mcap::magic_bytes())) return false;
  const auto content = record_at(size_ - tail, mcap::Op::footer);
  mcap::Footer footer;
  if (!content || content->size() != mcap::footer_size || !mcap::parse(*content, footer)) return false;
  const std::uint64_t summary_end = size_ - tail;
  if (footer.summary_start == 0 || footer.summary_start > summary_end) return false;
  if (footer.summary_offset_start > summary_end) return false;
  if (summary_end - footer.summary_start > limits_.record_bytes) return false;

  // The checksum covers the summary and the footer but for its last four bytes, the checksum itself.
  mcap::Bytes summary(size_ - footer.summary_start - end.size());
  if (!read(footer.summary_start, summary)) return false;
  const mcap::View covered = mcap::View(summary).first(summary.size() - 4);
  if (footer.summary_crc != 0 && crc32(covered) != footer.summary_crc) return false;
  return take_summary(mcap::View(summary).first(summary_end - footer.summary_start));
}

bool McapReader::take_summary(mcap::View summary) {
  mcap::Record record;
  while (mcap::next_record(summary, record)) {
    mcap::Schema schema;
    mcap::Channel channel;
    mcap::ChunkIndex chunk;
    mcap::AttachmentIndex attachment;
    mcap::MetadataIndex metadata;
    switch (record.op) {
      case mcap::Op::schema:
        if (!mcap::parse(record.content, schema) || !learn(schema)) return false;
        break;
      case mcap::Op::channel:
        if (!mcap::parse(record.content, channel) || !learn(channel)) return false;
        break;
      case mcap::Op::statistics:
        if (!mcap::parse(record.content, statistics_)) return false;
        break;
      case mcap::Op::chunk_index: {
        if (!mcap::parse(record.content, chunk)) return false;
        MessageBlock block{chunk.chunk_offset, chunk.chunk_length, chunk.start_time, chunk.end_time, {}, true};
        for (const auto& [id, offset] : chunk.message_index_offsets) block.channels.push_back(id);
        blocks_.push_back(std::move(block));
        break;
      }
      case mcap::Op::attachment_index:
        if (!mcap::parse(record.content, attachment)) return false;
        attachments_.push_back(attachment);
        break;
      case mcap::Op::metadata_index:
        if (!mcap::parse(record.content, metadata)) return false;
        metadata_index_.push_back(metadata);
        break;
      default:
        break;
    }
  }
  std::ranges::sort(blocks_, {}, &MessageBlock::offset);
  return summary.empty() && counts_agree() && read_metadata_records();
}

/// A summary may leave things out (its writer chose so); then only a scan finds them.
bool McapReader::counts_agree() const {
  std::uint64_t messages = 0;
  for (const auto& [id, count] : statistics_.channel_message_counts) {
    if (count > 0 && channel(id) == nullptr) return false;
    messages += count;
  }
  // Without message indexes a block does not say whose messages it has.
  const bool says_whose = std::ranges::none_of(blocks_, [](const auto& block) { return block.channels.empty(); });
  return says_whose && messages == statistics_.message_count && statistics_.channel_count == channels_.size() &&
         statistics_.schema_count == schemas_.size() && statistics_.chunk_count == blocks_.size() &&
         statistics_.metadata_count == metadata_index_.size() && statistics_.attachment_count == attachments_.size() &&
         (messages == 0 || !blocks_.empty());
}

bool McapReader::read_metadata_records() {
  for (const mcap::MetadataIndex& index : metadata_index_) {
    const auto content = record_at(index.offset, mcap::Op::metadata);
    mcap::Metadata metadata;
    if (!content || !mcap::parse(*content, metadata)) return false;
    metadata_.push_back(std::move(metadata));
  }
  return true;
}

void McapReader::note_damage(std::uint64_t offset, std::string what) {
  const bool known =
      std::ranges::any_of(damage_, [&](const Damage& old) { return old.offset == offset && old.what == what; });
  if (known) return;
  ++damage_noted_;
  if (damage_.size() < limits_.damage) damage_.push_back({offset, std::move(what)});
  if (damage_.size() == limits_.damage && damage_noted_ == limits_.damage + 1) {
    damage_.push_back({offset, "and more after this, which is not listed"});
  }
}

std::size_t McapReader::place_of(std::uint16_t channel) const {
  return channel < channel_places_.size() ? channel_places_[channel] : unknown;
}

std::optional<mcap::Bytes> McapReader::unpack(const MessageBlock& block) {
  if (block.chunk) {
    if (const auto content = record_at(block.offset, mcap::Op::chunk)) return unpack_chunk(block.offset, *content);
    note_damage(block.offset, "there is no readable chunk where the summary says that one is");
    return std::nullopt;
  }
  mcap::Bytes bytes(block.length);
  if (read(block.offset, bytes)) return bytes;
  note_damage(block.offset, "the disk could not read these messages");
  return std::nullopt;
}

std::optional<mcap::Bytes> McapReader::unpack_chunk(std::uint64_t offset, mcap::View content) {
  mcap::Chunk chunk;
  const auto refuse = [&](std::string why) {
    note_damage(offset, "this chunk is left out: " + std::move(why));
    return std::nullopt;
  };
  if (!mcap::parse(content, chunk)) return refuse("its head is damaged");
  if (!known_compression(chunk.compression)) return refuse("its compression `" + chunk.compression + "` is unknown");
  if (chunk.uncompressed_size > limits_.chunk_bytes) {
    return refuse("it claims to hold " + std::to_string(chunk.uncompressed_size) + " bytes");
  }
  auto bytes = decompress(chunk.compression, chunk.records, chunk.uncompressed_size);
  if (!bytes) return refuse("it cannot be unpacked");
  if (chunk.uncompressed_crc != 0 && crc32(*bytes) != chunk.uncompressed_crc) return refuse("its checksum is wrong");
  return bytes;
}

const mcap::Channel* McapReader::channel(std::string_view topic) const {
  const auto found = std::ranges::find(channels_, topic, &mcap::Channel::topic);
  return found == channels_.end() ? nullptr : &*found;
}

const mcap::Channel* McapReader::channel(std::uint16_t id) const {
  const std::size_t place = place_of(id);
  return place == unknown ? nullptr : &channels_[place];
}

std::size_t McapReader::channel_id_end() const {
  std::size_t end = 0;
  for (const mcap::Channel& channel : channels_) end = std::max(end, std::size_t{channel.id} + 1);
  return end;
}

const mcap::Schema* McapReader::schema_of(const mcap::Channel& channel) const {
  const auto found = std::ranges::find(schemas_, channel.schema_id, &mcap::Schema::id);
  return found == schemas_.end() ? nullptr : &*found;
}

mcap::TextMap McapReader::metadata(std::string_view record) const {
  mcap::TextMap all;
  for (const mcap::Metadata& metadata : metadata_) {
    if (metadata.name != record) continue;
    for (const auto& [key, value] : metadata.entries) all.insert_or_assign(key, value);
  }
  return all;
}

Result<mcap::Bytes, JournalError> McapReader::attachment(const mcap::AttachmentIndex& index) {
  const auto content = record_at(index.offset, mcap::Op::attachment);
  mcap::Attachment found;
  if (!content || !mcap::parse(*content, found)) {
    return fail(JournalError{name_ + ": attachment " + index.name + " is damaged"});
  }
  return mcap::Bytes(found.data.begin(), found.data.end());
}

MessageCursor McapReader::messages(Query query) { return {*this, query, MessageCursor::Order::time}; }
MessageCursor McapReader::messages_as_written(Query query) { return {*this, query, MessageCursor::Order::file}; }

}  // namespace isochron
