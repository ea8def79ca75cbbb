#include "journal/mcap_format.hpp"

#include <concepts>

#include "journal/crc32.hpp"
#include "journal/small_copy.hpp"

namespace isochron::mcap {
namespace {

template <std::unsigned_integral T>
void put(Bytes& out, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}
void put(Bytes& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}
void put(Bytes& out, const std::string& text) { put(out, std::string_view(text)); }
void put_raw(Bytes& out, View bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

/// A map or array stands behind the count of its bytes, known only when it is written.
template <class F>
void put_block(Bytes& out, F&& content) {
  const std::size_t at = out.size();
  put(out, std::uint32_t{0});
  content();
  const auto size = static_cast<std::uint32_t>(out.size() - at - 4);
  std::memcpy(out.data() + at, &size, sizeof size);
}
template <class Map>
void put_map(Bytes& out, const Map& map) {
  put_block(out, [&] {
    for (const auto& [key, value] : map) {
      put(out, key);
      put(out, value);
    }
  });
}

template <class F>
void put_record(Bytes& out, Op op, F&& content) {
  put(out, static_cast<std::uint8_t>(op));
  const std::size_t at = out.size();
  put(out, std::uint64_t{0});
  content();
  const std::uint64_t size = out.size() - at - 8;
  std::memcpy(out.data() + at, &size, sizeof size);
}

/// Takes fields off the front of a record's content; after one that is not there, ok() is false and all are zero.
class Taker {
 public:
  explicit Taker(View rest) : rest_(rest) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] View rest() const { return rest_; }

  View raw(std::uint64_t size) {
    if (!ok_ || size > rest_.size()) return ok_ = false, View{};
    const View taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  template <std::unsigned_integral T>
  Taker& take(T& value) {
    const View bytes = raw(sizeof(T));
    value = 0;
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(T));
    return *this;
  }
  Taker& take(std::string& text) {
    std::uint32_t size = 0;
    take(size);
    const View bytes = raw(size);
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return *this;
  }
  template <class Map>
  Taker& take_map(Map& map) {
    std::uint32_t size = 0;
    take(size);
    Taker inside(raw(size));
    while (ok_ && !inside.rest().empty()) {
      typename Map::key_type key{};
      typename Map::mapped_type value{};
      inside.take(key).take(value);
      if (!inside.ok()) return ok_ = false, *this;
      map.insert_or_assign(std::move(key), std::move(value));
    }
    return *this;
  }

 private:
  View rest_;
  bool ok_ = true;
};

}  // namespace

void encode(Bytes& out, const Header& r) {
  put_record(out, Op::header, [&] {
    put(out, r.profile);
    put(out, r.library);
  });
}
void encode(Bytes& out, const Footer& r) {
  put_record(out, Op::footer, [&] {
    put(out, r.summary_start);
    put(out, r.summary_offset_start);
    put(out, r.summary_crc);
  });
}
void encode(Bytes& out, const Schema& r) {
  put_record(out, Op::schema, [&] {
    put(out, r.id);
    put(out, r.name);
    put(out, r.encoding);
    put(out, r.text);
  });
}
void encode(Bytes& out, const Channel& r) {
  put_record(out, Op::channel, [&] {
    put(out, r.id);
    put(out, r.schema_id);
    put(out, r.topic);
    put(out, r.encoding);
    put_map(out, r.metadata);
  });
}
void encode(Bytes& out, const Message& r) {
  // The one on the fast path: its head in one piece, no second look at the length, and what is small goes in at once.
  constexpr std::size_t head_size = prefix_size + message_head_size, small = 96;
  std::array<std::byte, head_size + small> piece;
  const std::uint64_t length = message_head_size + r.data.size();
  piece[0] = static_cast<std::byte>(Op::message);
  std::memcpy(piece.data() + 1, &length, 8);
  std::memcpy(piece.data() + 9, &r.channel_id, 2);
  std::memcpy(piece.data() + 11, &r.sequence, 4);
  std::memcpy(piece.data() + 15, &r.log_time, 8);
  std::memcpy(piece.data() + 23, &r.publish_time, 8);
  const std::size_t with_head = r.data.size() <= small ? r.data.size() : 0;
  small_copy(piece.data() + head_size, r.data.data(), with_head);
  put_raw(out, View(piece).first(head_size + with_head));
  if (with_head != r.data.size()) put_raw(out, r.data);
}
void encode_chunk_head(Bytes& out, const Chunk& r) {
  put(out, static_cast<std::uint8_t>(Op::chunk));
  put(out, std::uint64_t{8 + 8 + 8 + 4 + 4 + r.compression.size() + 8 + r.records.size()});
  put(out, r.start_time);
  put(out, r.end_time);
  put(out, r.uncompressed_size);
  put(out, r.uncompressed_crc);
  put(out, r.compression);
  put(out, std::uint64_t{r.records.size()});
}
void encode(Bytes& out, const MessageIndex& r) {
  put_record(out, Op::message_index, [&] {
    put(out, r.channel_id);
    put_block(out, [&] {
      static_assert(sizeof r.entries[0] == 16, "a time and an offset, as they stand in the file");
      put_raw(out, std::as_bytes(std::span(r.entries)));
    });
  });
}
void encode(Bytes& out, const ChunkIndex& r) {
  put_record(out, Op::chunk_index, [&] {
    put(out, r.start_time);
    put(out, r.end_time);
    put(out, r.chunk_offset);
    put(out, r.chunk_length);
    put_map(out, r.message_index_offsets);
    put(out, r.message_index_length);
    put(out, r.compression);
    put(out, r.compressed_size);
    put(out, r.uncompressed_size);
  });
}
void encode(Bytes& out, const Attachment& r) {
  put_record(out, Op::attachment, [&] {
    const std::size_t start = out.size();
    put(out, r.log_time);
    put(out, r.create_time);
    put(out, r.name);
    put(out, r.media_type);
    put(out, std::uint64_t{r.data.size()});
    put_raw(out, r.data);
    put(out, crc32(View(out).subspan(start)));
  });
}
void encode(Bytes& out, const AttachmentIndex& r) {
  put_record(out, Op::attachment_index, [&] {
    put(out, r.offset);
    put(out, r.length);
    put(out, r.log_time);
    put(out, r.create_time);
    put(out, r.data_size);
    put(out, r.name);
    put(out, r.media_type);
  });
}
void encode(Bytes& out, const Statistics& r) {
  put_record(out, Op::statistics, [&] {
    put(out, r.message_count);
    put(out, r.schema_count);
    put(out, r.channel_count);
    put(out, r.attachment_count);
    put(out, r.metadata_count);
    put(out, r.chunk_count);
    put(out, r.start_time);
    put(out, r.end_time);
    put_map(out, r.channel_message_counts);
  });
}
void encode(Bytes& out, const Metadata& r) {
  put_record(out, Op::metadata, [&] {
    put(out, r.name);
    put_map(out, r.entries);
  });
}
void encode(Bytes& out, const MetadataIndex& r) {
  put_record(out, Op::metadata_index, [&] {
    put(out, r.offset);
    put(out, r.length);
    put(out, r.name);
  });
}
void encode(Bytes& out, const SummaryOffset& r) {
  put_record(out, Op::summary_offset, [&] {
    put(out, static_cast<std::uint8_t>(r.group));
    put(out, r.start);
    put(out, r.length);
  });
}
void encode(Bytes& out, const DataEnd& r) {
  put_record(out, Op::data_end, [&] { put(out, r.data_crc); });
}

bool parse(View content, Header& r) { return Taker(content).take(r.profile).take(r.library).ok(); }
bool parse(View content, Footer& r) {
  return Taker(content).take(r.summary_start).take(r.summary_offset_start).take(r.summary_crc).ok();
}
bool parse(View content, Schema& r) {
  return Taker(content).take(r.id).take(r.name).take(r.encoding).take(r.text).ok() && r.id != 0;
}
bool parse(View content, Channel& r) {
  return Taker(content).take(r.id).take(r.schema_id).take(r.topic).take(r.encoding).take_map(r.metadata).ok();
}
bool parse(View content, Message& r) {
  Taker taker(content);
  taker.take(r.channel_id).take(r.sequence).take(r.log_time).take(r.publish_time);
  r.data = taker.rest();
  return taker.ok();
}
bool parse(View content, Chunk& r) {
  Taker taker(content);
  taker.take(r.start_time).take(r.end_time).take(r.uncompressed_size).take(r.uncompressed_crc).take(r.compression);
  std::uint64_t size = 0;
  taker.take(size);
  r.records = taker.raw(size);
  return taker.ok();
}
bool parse(View content, ChunkIndex& r) {
  Taker taker(content);
  taker.take(r.start_time).take(r.end_time).take(r.chunk_offset).take(r.chunk_length);
  taker.take_map(r.message_index_offsets).take(r.message_index_length).take(r.compression);
  return taker.take(r.compressed_size).take(r.uncompressed_size).ok();
}
bool parse(View content, Attachment& r) {
  Taker taker(content);
  taker.take(r.log_time).take(r.create_time).take(r.name).take(r.media_type);
  std::uint64_t size = 0;
  taker.take(size);
  r.data = taker.raw(size);
  const std::size_t covered = content.size() - taker.rest().size();
  std::uint32_t crc = 0;
  return taker.take(crc).ok() && (crc == 0 || crc == crc32(content.first(covered)));
}
bool parse(View content, AttachmentIndex& r) {
  Taker taker(content);
  taker.take(r.offset).take(r.length).take(r.log_time).take(r.create_time);
  return taker.take(r.data_size).take(r.name).take(r.media_type).ok();
}
bool parse(View content, Statistics& r) {
  Taker taker(content);
  taker.take(r.message_count).take(r.schema_count).take(r.channel_count).take(r.attachment_count);
  taker.take(r.metadata_count).take(r.chunk_count).take(r.start_time).take(r.end_time);
  return taker.take_map(r.channel_message_counts).ok();
}
bool parse(View content, Metadata& r) { return Taker(content).take(r.name).take_map(r.entries).ok(); }
bool parse(View content, MetadataIndex& r) { return Taker(content).take(r.offset).take(r.length).take(r.name).ok(); }

bool next_record(View& rest, Record& record) {
  if (rest.size() < prefix_size) return false;
  std::uint64_t length = 0;
  std::memcpy(&length, rest.data() + 1, sizeof length);
  if (length > rest.size() - prefix_size) return false;
  record = {static_cast<Op>(rest[0]), rest.subspan(prefix_size, length)};
  rest = rest.subspan(prefix_size + length);
  return true;
}

}  // namespace isochron::mcap
