#include "journal/mcap_format.hpp"

#include <concepts>
#include <map>
#include <tuple>

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
void put(Bytes& out, Op op) { put(out, static_cast<std::uint8_t>(op)); }
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
template <class Key, class T>
void put(Bytes& out, const std::map<Key, T>& map) {
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
  template <class Key, class T>
  Taker& take(std::map<Key, T>& map) {
    std::uint32_t size = 0;
    take(size);
    Taker inside(raw(size));
    while (ok_ && !inside.rest().empty()) {
      Key key{};
      T value{};
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

template <class R, class Kind>
concept Is = std::same_as<std::remove_const_t<R>, Kind>;

// The fields of a record, in the order in which they stand in the file: it is written and read by these. Those with a
// body of bytes are done by hand.
auto fields(Is<Header> auto& r) { return std::tie(r.profile, r.library); }
auto fields(Is<Footer> auto& r) { return std::tie(r.summary_start, r.summary_offset_start, r.summary_crc); }
auto fields(Is<Schema> auto& r) { return std::tie(r.id, r.name, r.encoding, r.text); }
auto fields(Is<Channel> auto& r) { return std::tie(r.id, r.schema_id, r.topic, r.encoding, r.metadata); }
auto fields(Is<ChunkIndex> auto& r) {
  return std::tie(r.start_time, r.end_time, r.chunk_offset, r.chunk_length, r.message_index_offsets,
                  r.message_index_length, r.compression, r.compressed_size, r.uncompressed_size);
}
auto fields(Is<AttachmentIndex> auto& r) {
  return std::tie(r.offset, r.length, r.log_time, r.create_time, r.data_size, r.name, r.media_type);
}
auto fields(Is<Statistics> auto& r) {
  return std::tie(r.message_count, r.schema_count, r.channel_count, r.attachment_count, r.metadata_count, r.chunk_count,
                  r.start_time, r.end_time, r.channel_message_counts);
}
auto fields(Is<Metadata> auto& r) { return std::tie(r.name, r.entries); }
auto fields(Is<MetadataIndex> auto& r) { return std::tie(r.offset, r.length, r.name); }
auto fields(Is<SummaryOffset> auto& r) { return std::tie(r.group, r.start, r.length); }
auto fields(Is<DataEnd> auto& r) { return std::tie(r.data_crc); }

template <class R>
void put_fields(Bytes& out, Op op, const R& r) {
  put_record(out, op, [&] { std::apply([&](const auto&... field) { (put(out, field), ...); }, fields(r)); });
}
template <class R>
bool take_fields(View content, R& r) {
  Taker taker(content);
  std::apply([&](auto&... field) { (taker.take(field), ...); }, fields(r));
  return taker.ok();
}

}  // namespace

void encode(Bytes& out, const Header& r) { put_fields(out, Op::header, r); }
void encode(Bytes& out, const Footer& r) { put_fields(out, Op::footer, r); }
void encode(Bytes& out, const Schema& r) { put_fields(out, Op::schema, r); }
void encode(Bytes& out, const Channel& r) { put_fields(out, Op::channel, r); }
void encode(Bytes& out, const ChunkIndex& r) { put_fields(out, Op::chunk_index, r); }
void encode(Bytes& out, const AttachmentIndex& r) { put_fields(out, Op::attachment_index, r); }
void encode(Bytes& out, const Statistics& r) { put_fields(out, Op::statistics, r); }
void encode(Bytes& out, const Metadata& r) { put_fields(out, Op::metadata, r); }
void encode(Bytes& out, const MetadataIndex& r) { put_fields(out, Op::metadata_index, r); }
void encode(Bytes& out, const SummaryOffset& r) { put_fields(out, Op::summary_offset, r); }
void encode(Bytes& out, const DataEnd& r) { put_fields(out, Op::data_end, r); }
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

bool parse(View content, Header& r) { return take_fields(content, r); }
bool parse(View content, Footer& r) { return take_fields(content, r); }
bool parse(View content, Channel& r) { return take_fields(content, r); }
bool parse(View content, ChunkIndex& r) { return take_fields(content, r); }
bool parse(View content, AttachmentIndex& r) { return take_fields(content, r); }
bool parse(View content, Statistics& r) { return take_fields(content, r); }
bool parse(View content, Metadata& r) { return take_fields(content, r); }
bool parse(View content, MetadataIndex& r) { return take_fields(content, r); }
bool parse(View content, Schema& r) { return take_fields(content, r) && r.id != 0; }
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
