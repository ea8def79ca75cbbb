#include "journal/mcap_scan.hpp"

#include <algorithm>

namespace isochron {
namespace {

constexpr int resumptions_max = 1000;  // keeps the time bounded for files made to be difficult
constexpr std::size_t chunk_head_max = mcap::prefix_size + 8 + 8 + 8 + 4 + 4 + 4 + 8;

/// Whether these bytes can be the head of a chunk: the length of the record, of the name of its compression and of its
/// packed bytes have to agree, which other bytes hardly ever do.
bool looks_like_chunk(mcap::View bytes, std::uint64_t room) {
  if (bytes.size() < chunk_head_max || static_cast<mcap::Op>(bytes[0]) != mcap::Op::chunk) return false;
  std::uint64_t length = 0;
  std::uint64_t packed = 0;
  std::uint32_t name = 0;
  std::memcpy(&length, bytes.data() + 1, 8);
  std::memcpy(&name, bytes.data() + mcap::prefix_size + 28, 4);
  if (length > room || (name != 0 && name != 3 && name != 4)) return false;
  std::memcpy(&packed, bytes.data() + mcap::prefix_size + 32 + name, 8);
  return packed <= length && packed + 40 + name == length;
}

constexpr std::uint64_t loose_block_bytes = 1U << 20U;

void include_time(std::uint64_t time, bool first, std::uint64_t& start, std::uint64_t& end) {
  start = first ? time : std::min(start, time);
  end = first ? time : std::max(end, time);
}

void include_channel(std::uint16_t id, std::vector<std::uint16_t>& channels) {
  const auto place = std::lower_bound(channels.begin(), channels.end(), id);
  if (place == channels.end() || *place != id) channels.insert(place, id);
}

}  // namespace

void McapScan::run() {
  at_ = mcap::magic.size();
  while (step()) {
  }
}

bool McapScan::read_prefix(mcap::Op& op, std::uint64_t& length) {
  std::array<std::byte, mcap::prefix_size> prefix{};
  if (at_ + prefix.size() > reader_.size_ || !reader_.read(at_, prefix)) return false;
  op = static_cast<mcap::Op>(prefix[0]);
  std::memcpy(&length, prefix.data() + 1, sizeof length);
  return static_cast<std::uint8_t>(prefix[0]) != 0 && length <= reader_.size_ - at_ - prefix.size();
}

bool McapScan::step() {
  mcap::Op op{};
  std::uint64_t length = 0;
  if (!read_prefix(op, length)) {
    if (resume()) return true;
    finish(false);
    return false;
  }
  if (op == mcap::Op::footer) {
    finish(true);
    return false;
  }
  if (op == mcap::Op::data_end) data_ended_ = true;
  // What follows the data is the summary: it repeats what was seen.
  const std::uint64_t damage = reader_.damage_noted_;
  if (!data_ended_) take(op, length);
  if (reader_.damage_noted_ > damage) {
    if (!doubtful_since_) doubtful_since_ = at_;
  } else if (op == mcap::Op::chunk) {
    doubtful_since_.reset();  // its checksum was right: here we are on firm ground again
  }
  at_ += mcap::prefix_size + length;
  return true;
}

bool McapScan::resume() {
  if (data_ended_ || ++resumed_ > resumptions_max) return false;
  const std::uint64_t from = doubtful_since_.value_or(at_);
  const auto chunk = find_chunk(from + 1);
  if (!chunk) return false;
  reader_.note_damage(from, std::to_string(*chunk - from) + " bytes make no sense; reading goes on after them");
  at_ = *chunk;
  doubtful_since_ = at_;
  return true;
}

std::optional<std::uint64_t> McapScan::find_chunk(std::uint64_t from) {
  constexpr std::size_t window = 256U << 10U;
  mcap::Bytes bytes;
  for (; from < reader_.size_ && reader_.size_ - from > chunk_head_max; from += window) {
    bytes.resize(std::min<std::uint64_t>(window + chunk_head_max, reader_.size_ - from));
    if (!reader_.read(from, bytes)) return std::nullopt;
    for (std::size_t i = 0; i < std::min(window, bytes.size()); ++i) {
      const std::uint64_t behind = reader_.size_ - from - i;
      if (behind <= chunk_head_max) break;
      if (looks_like_chunk(mcap::View(bytes).subspan(i), behind - mcap::prefix_size)) return from + i;
    }
  }
  return std::nullopt;
}

void McapScan::finish(bool footer) {
  const std::uint64_t footer_length = mcap::prefix_size + mcap::footer_size + mcap::magic.size();
  if (footer && data_ended_ && reader_.size_ - at_ == footer_length) {
    reader_.ending_ = Ending::whole;
    return;
  }
  reader_.note_damage(at_, "the file ends here without being finished; " + std::to_string(reader_.size_ - at_) +
                               " bytes at its end hold no whole record");
}

std::optional<mcap::Bytes> McapScan::content(std::uint64_t length) {
  if (length > reader_.limits_.record_bytes) {
    reader_.note_damage(at_, "a record of " + std::to_string(length) + " bytes is larger than this reader takes");
    return std::nullopt;
  }
  mcap::Bytes bytes(length);
  if (reader_.read(at_ + mcap::prefix_size, bytes)) return bytes;
  reader_.note_damage(at_, "the disk could not read this record");
  return std::nullopt;
}

void McapScan::take(mcap::Op op, std::uint64_t length) {
  switch (op) {
    case mcap::Op::schema:
      return take_definition<mcap::Schema>(length, "schema");
    case mcap::Op::channel:
      return take_definition<mcap::Channel>(length, "channel");
    case mcap::Op::chunk:
      return take_chunk(length);
    case mcap::Op::message:
      return take_loose_message(length);
    case mcap::Op::metadata:
      return take_metadata(length);
    case mcap::Op::attachment:
      return take_attachment(length);
    default:
      // Indexes can be made again. Kinds that are unknown are to be skipped; those from 0x80 on are private ones.
      if (op > mcap::Op::data_end && static_cast<std::uint8_t>(op) < 0x80) {
        reader_.note_damage(at_, "a record of the unknown kind " + std::to_string(static_cast<int>(op)));
      }
  }
}

template <class Record>
void McapScan::take_definition(std::uint64_t length, const char* kind) {
  const auto bytes = content(length);
  if (!bytes) return;
  Record record;
  if (!mcap::parse(*bytes, record)) {
    reader_.note_damage(at_, std::string("a damaged ") + kind + " record");
  } else if (!reader_.learn(record)) {
    reader_.note_damage(at_, std::string("a ") + kind + " record contradicts an earlier one of its number");
  }
}

void McapScan::take_chunk(std::uint64_t length) {
  const auto bytes = content(length);
  if (!bytes) return;
  const auto records = reader_.unpack_chunk(at_, *bytes);
  if (!records) return;
  MessageBlock block{at_, mcap::prefix_size + length, 0, 0, {}, true};
  take_inner(*records, block);
  reader_.statistics_.chunk_count += 1;
  if (!block.channels.empty()) reader_.blocks_.push_back(std::move(block));
}

void McapScan::take_inner(mcap::View records, MessageBlock& block) {
  mcap::Record record;
  while (mcap::next_record(records, record)) {
    mcap::Schema schema;
    mcap::Channel channel;
    mcap::Message message;
    if (record.op == mcap::Op::schema && mcap::parse(record.content, schema)) {
      if (!reader_.learn(schema)) reader_.note_damage(at_, "a schema contradicts an earlier one of its number");
    } else if (record.op == mcap::Op::channel && mcap::parse(record.content, channel)) {
      if (!reader_.learn(channel)) reader_.note_damage(at_, "a channel contradicts an earlier one of its number");
    } else if (record.op == mcap::Op::message && mcap::parse(record.content, message)) {
      count(message, block);
    }
  }
}

void McapScan::count(const mcap::Message& message, MessageBlock& block) {
  if (reader_.channel(message.channel_id) == nullptr) {
    return reader_.note_damage(block.offset, "messages of channel " + std::to_string(message.channel_id) +
                                                 ", which no record before them defines, are left out");
  }
  mcap::Statistics& all = reader_.statistics_;
  include_time(message.log_time, block.channels.empty(), block.start_time, block.end_time);
  include_time(message.log_time, all.message_count == 0, all.start_time, all.end_time);
  include_channel(message.channel_id, block.channels);
  all.message_count += 1;
  all.channel_message_counts[message.channel_id] += 1;
}

void McapScan::take_loose_message(std::uint64_t length) {
  const auto bytes = content(length);
  mcap::Message message;
  if (!bytes || !mcap::parse(*bytes, message)) return;
  auto& blocks = reader_.blocks_;
  const bool extends = !blocks.empty() && !blocks.back().chunk && blocks.back().offset + blocks.back().length == at_ &&
                       blocks.back().length < loose_block_bytes;
  if (!extends) blocks.push_back({at_, 0, 0, 0, {}, false});
  blocks.back().length += mcap::prefix_size + length;
  count(message, blocks.back());
}

void McapScan::take_metadata(std::uint64_t length) {
  const auto bytes = content(length);
  if (!bytes) return;
  mcap::Metadata metadata;
  if (!mcap::parse(*bytes, metadata)) return reader_.note_damage(at_, "a damaged metadata record");
  reader_.metadata_.push_back(std::move(metadata));
}

void McapScan::take_attachment(std::uint64_t length) {
  const auto bytes = content(length);
  if (!bytes) return;
  mcap::Attachment found;
  if (!mcap::parse(*bytes, found)) return reader_.note_damage(at_, "a damaged attachment");
  reader_.attachments_.push_back({at_, mcap::prefix_size + length, found.log_time, found.create_time, found.data.size(),
                                  found.name, found.media_type});
}

}  // namespace isochron
