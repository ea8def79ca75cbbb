#include "journal/digest.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>

#include "core/ensure.hpp"
#include "journal/journal_metadata.hpp"
#include "journal/small_copy.hpp"

namespace isochron {

/// Records gather here until there are enough of them: the hash takes many bytes at once several times as fast as the
/// few bytes of one record, and gives the same.
struct DigestBuilder::Stream {
  std::string topic, schema_name;
  std::uint64_t count = 0;
  XXH3_state_t* state = XXH3_createState();
  std::size_t gathered = 0;
  std::array<std::byte, 2048> gathering;

  Stream(std::string topic_name, std::string schema) : topic(std::move(topic_name)), schema_name(std::move(schema)) {
    ENSURE(state != nullptr, "no memory for a digest");
    XXH3_128bits_reset(state);
  }
  ~Stream() { XXH3_freeState(state); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void add(const void* bytes, std::size_t size) {
    if (size > gathering.size() - gathered) settle();
    if (size > gathering.size()) {
      XXH3_128bits_update(state, bytes, size);
      return;
    }
    small_copy(gathering.data() + gathered, static_cast<const std::byte*>(bytes), size);
    gathered += size;
  }
  void settle() {
    XXH3_128bits_update(state, gathering.data(), gathered);
    gathered = 0;
  }

  [[nodiscard]] XXH128_canonical_t hash() {
    settle();
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state));
    return bytes;
  }
};

namespace {

std::string to_hex(const XXH128_canonical_t& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes.digest) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

}  // namespace

bool in_digest(const mcap::Channel& channel) {
  const auto entry = channel.metadata.find(in_digest_key);
  return entry == channel.metadata.end() || entry->second != "false";
}

DigestBuilder::DigestBuilder() = default;
DigestBuilder::~DigestBuilder() = default;
DigestBuilder::DigestBuilder(DigestBuilder&&) noexcept = default;

std::size_t DigestBuilder::channel(std::string topic, std::string schema_name) {
  streams_.push_back(std::make_unique<Stream>(std::move(topic), std::move(schema_name)));
  return streams_.size() - 1;
}

void DigestBuilder::add(std::size_t channel, SimTime time, std::span<const std::byte> bytes) {
  Stream& stream = *streams_[channel];
  const std::array<std::uint64_t, 2> head{static_cast<std::uint64_t>(time.ns()), bytes.size()};
  stream.add(head.data(), sizeof head);
  if (!bytes.empty()) stream.add(bytes.data(), bytes.size());
  ++stream.count;
}

void DigestBuilder::mark_incomplete(std::string why) {
  if (why_incomplete_.empty()) why_incomplete_ = std::move(why);
}

Digest DigestBuilder::digest() const {
  std::vector<std::pair<Stream*, XXH128_canonical_t>> used;
  for (const auto& stream : streams_) {
    if (stream->count > 0) used.emplace_back(stream.get(), stream->hash());  // a silent channel says nothing
  }
  std::sort(used.begin(), used.end(), [](const auto& a, const auto& b) {
    if (a.first->topic != b.first->topic) return a.first->topic < b.first->topic;
    if (a.first->schema_name != b.first->schema_name) return a.first->schema_name < b.first->schema_name;
    return std::ranges::lexicographical_compare(a.second.digest, b.second.digest);
  });
  Stream all("", "");
  const auto add_text = [&all](const std::string& text) {
    const std::uint64_t size = text.size();
    all.add(&size, sizeof size);
    all.add(text.data(), text.size());
  };
  for (const auto& [stream, hash] : used) {
    add_text(stream->topic);
    add_text(stream->schema_name);
    all.add(&stream->count, sizeof stream->count);
    all.add(&hash, sizeof hash);
  }
  return {to_hex(all.hash()), why_incomplete_.empty(), why_incomplete_};
}

namespace {

/// Of those records that `counts` wants, by topic and time.
template <class Counts>
DigestBuilder digest_where(McapReader& reader, Counts&& counts) {
  DigestBuilder builder;
  std::vector<std::size_t> number_of(reader.channel_id_end(), SIZE_MAX);
  for (const mcap::Channel& channel : reader.channels()) {
    if (!in_digest(channel)) continue;
    const mcap::Schema* schema = reader.schema_of(channel);
    number_of[channel.id] = builder.channel(channel.topic, schema == nullptr ? "" : schema->name);
  }
  MessageCursor cursor = reader.messages_as_written();
  while (const auto message = cursor.next()) {
    const std::size_t number = number_of[message->channel->id];
    if (number != SIZE_MAX && counts(*message)) builder.add(number, message->time, message->data);
  }
  return builder;
}

}  // namespace

Digest digest_of(McapReader& reader) {
  DigestBuilder builder = digest_where(reader, [](const auto&) { return true; });
  if (reader.ending() == Ending::cut) builder.mark_incomplete("the journal was not finished");
  if (!reader.damage().empty()) builder.mark_incomplete("the journal is damaged " + to_string(reader.damage().front()));
  const mcap::TextMap notes = reader.metadata(journal_metadata::record);
  if (const auto why = notes.find(journal_metadata::incomplete); why != notes.end())
    builder.mark_incomplete(why->second);
  return builder.digest();
}

Digest digest_of_beginning(McapReader& reader, const std::map<std::string, std::uint64_t>& counts) {
  std::map<std::string, std::uint64_t> left = counts;
  DigestBuilder builder = digest_where(reader, [&](const auto& message) {
    const auto found = left.find(message.channel->topic);
    if (found == left.end() || found->second == 0) return false;
    --found->second;
    return true;
  });
  for (const auto& [topic, missing] : left) {
    if (missing > 0) builder.mark_incomplete(topic + " has " + std::to_string(missing) + " records fewer");
  }
  return builder.digest();
}

std::map<std::string, std::uint64_t> counts_of(McapReader& reader) {
  std::map<std::string, std::uint64_t> counts;
  (void)digest_where(reader, [&](const auto& message) {
    ++counts[message.channel->topic];
    return false;
  });
  return counts;
}

Digest digest_until(McapReader& reader, SimTime until) {
  return digest_where(reader, [until](const auto& message) { return message.time < until; }).digest();
}

Digest recorded_digest(const McapReader& reader) {
  const mcap::TextMap notes = reader.metadata(journal_metadata::record);
  Digest digest{"", true, ""};
  if (const auto hex = notes.find(journal_metadata::digest); hex != notes.end()) digest.hex = hex->second;
  if (const auto why = notes.find(journal_metadata::incomplete); why != notes.end()) {
    digest.complete = false;
    digest.why_incomplete = why->second;
  }
  return digest;
}

}  // namespace isochron
