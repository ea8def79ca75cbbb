#pragma once
// Reads an MCAP file: ours, or anybody's. If the file has a summary it is trusted after its checksum and counts agree,
// and only the chunks asked for are read. If not (the writer was killed, the file was cut or damaged), every record is
// looked at from the front, as far as they make sense; what is found then answers the same questions.
//
// A chunk that is damaged is left out and named in damage(); the others are delivered. So a reader gives all there is,
// and says what there is not.
//
// Promises: no length in the file makes it read beyond the file or allocate more than the limits.
// Requires: a cursor does not outlive its reader; the reader does not move while cursors live.
// Threads:  owner thread.
// Fails:    open() only if the file cannot be read at all or is no MCAP file.

#include <memory>
#include <optional>

#include "core/disk.hpp"
#include "core/time.hpp"
#include "journal/mcap_format.hpp"

namespace isochron {

struct JournalError {
  std::string what;  // names the file
};

/// Something in the file that is not as it should be.
struct Damage {
  std::uint64_t offset = 0;
  std::string what;
};
std::string to_string(const Damage& damage);

struct ReaderLimits {
  std::uint64_t record_bytes = 256U << 20U;  // of one record in the file
  std::uint64_t chunk_bytes = 256U << 20U;   // of one chunk, unpacked
  std::uint64_t cursor_bytes = 512U << 20U;  // of all chunks that a cursor has open, if there are several
  std::size_t damage = 1000;                 // that is told one by one
};

/// How the file ends: finished by its writer, or not.
enum class Ending { whole, cut };

/// Where a run of message records is: a chunk, or messages that stand in the file without one.
struct MessageBlock {
  std::uint64_t offset = 0, length = 0;
  std::uint64_t start_time = 0, end_time = 0;
  std::vector<std::uint16_t> channels;  // sorted
  bool chunk = true;
};

class MessageCursor;

/// Which messages: of these topics (none = all), with from <= log time < to (never() = to the end).
struct Query {
  std::vector<std::string> topics = {};
  SimTime from = SimTime::zero();
  SimTime to = SimTime::never();
};

class McapReader {
 public:
  static Result<McapReader, JournalError> open(Disk& disk, const std::string& path, ReaderLimits limits = {});
  static Result<McapReader, JournalError> open(std::unique_ptr<File> file, std::string name, ReaderLimits limits = {});
  McapReader(McapReader&&) noexcept;
  McapReader& operator=(McapReader&&) noexcept;
  ~McapReader();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const mcap::Header& header() const { return header_; }
  [[nodiscard]] Ending ending() const { return ending_; }
  /// Whether the summary was used (no scan was needed).
  [[nodiscard]] bool indexed() const { return indexed_; }
  /// Grows while cursors meet damaged chunks.
  [[nodiscard]] const std::vector<Damage>& damage() const { return damage_; }

  [[nodiscard]] const std::vector<mcap::Channel>& channels() const { return channels_; }
  [[nodiscard]] const std::vector<mcap::Schema>& schemas() const { return schemas_; }
  /// Null if there is none.
  [[nodiscard]] const mcap::Channel* channel(std::string_view topic) const;
  [[nodiscard]] const mcap::Channel* channel(std::uint16_t id) const;
  /// One more than the greatest channel id.
  [[nodiscard]] std::size_t channel_id_end() const;
  [[nodiscard]] const mcap::Schema* schema_of(const mcap::Channel& channel) const;
  [[nodiscard]] const mcap::Statistics& statistics() const { return statistics_; }

  /// All metadata records in the order of the file.
  [[nodiscard]] const std::vector<mcap::Metadata>& metadata() const { return metadata_; }
  /// The entries of all records of that name; of equal keys the last.
  [[nodiscard]] mcap::TextMap metadata(std::string_view record) const;

  [[nodiscard]] const std::vector<mcap::AttachmentIndex>& attachments() const { return attachments_; }
  /// The data, after its checksum was found right.
  Result<mcap::Bytes, JournalError> attachment(const mcap::AttachmentIndex& index);

  /// In the order of log time; among equals, in that of the file.
  MessageCursor messages(Query query = {});
  /// In the order in which they stand in the file.
  MessageCursor messages_as_written(Query query = {});

  [[nodiscard]] std::uint64_t file_size() const { return size_; }
  [[nodiscard]] const std::vector<MessageBlock>& blocks() const { return blocks_; }

 private:
  friend class MessageCursor;
  friend class McapScan;
  McapReader(std::unique_ptr<File> file, std::string name, ReaderLimits limits);

  Result<Done, JournalError> open_file();
  bool read(std::uint64_t offset, std::span<std::byte> into);
  /// The content of the record at an offset, if it is of that kind and lies within the file and the limits.
  std::optional<mcap::Bytes> record_at(std::uint64_t offset, mcap::Op op);
  /// Schema or channel, once; false: contradicts what is known.
  bool learn(const mcap::Schema& schema);
  bool learn(const mcap::Channel& channel);
  bool read_summary();
  bool take_summary(mcap::View summary);
  bool counts_agree() const;
  bool read_metadata_records();
  /// The message records of a block, unpacked and checked. Nothing: damaged, and noted so.
  std::optional<mcap::Bytes> unpack(const MessageBlock& block);
  std::optional<mcap::Bytes> unpack_chunk(std::uint64_t offset, mcap::View content);
  void note_damage(std::uint64_t offset, std::string what);
  static constexpr std::size_t unknown = SIZE_MAX;
  [[nodiscard]] std::size_t place_of(std::uint16_t channel) const;

  std::unique_ptr<File> file_;
  std::string name_;
  ReaderLimits limits_;
  std::uint64_t size_ = 0;
  mcap::Header header_;
  Ending ending_ = Ending::cut;
  bool indexed_ = false;
  std::vector<Damage> damage_;
  std::uint64_t damage_noted_ = 0;
  std::vector<mcap::Schema> schemas_;
  std::vector<mcap::Channel> channels_;
  std::vector<std::size_t> channel_places_;  // in channels_, by id
  std::vector<mcap::Metadata> metadata_;
  std::vector<mcap::MetadataIndex> metadata_index_;
  std::vector<mcap::AttachmentIndex> attachments_;
  std::vector<MessageBlock> blocks_;
  mcap::Statistics statistics_;
};

/// One message; data is valid until the cursor moves on.
struct MessageView {
  const mcap::Channel* channel = nullptr;
  std::uint32_t sequence = 0;
  SimTime time;
  std::uint64_t publish_time = 0;
  mcap::View data;
};

/// Cost: holds in memory only the chunks whose time spans overlap where it is, and no more than
///       ReaderLimits::cursor_bytes of them: what is beyond is left out, and noted as damage.
class MessageCursor {
 public:
  /// Nothing: the end.
  std::optional<MessageView> next();

 private:
  friend class McapReader;
  enum class Order { time, file };
  MessageCursor(McapReader& reader, const Query& query, Order order);

  struct Entry {
    std::uint64_t key;  // log time, or 0 in file order
    std::size_t at, length;
  };
  struct Open {
    std::size_t block;
    std::uint64_t key;  // of the next entry, or where the block starts while it is not loaded
    bool loaded;
    std::size_t next;
    mcap::Bytes bytes;
    std::vector<Entry> entries;
  };
  static bool later(const Open& a, const Open& b);
  void load(Open& open);
  [[nodiscard]] bool has_room_for(Open& open);
  static std::uint64_t cost_of(const Open& open);
  [[nodiscard]] bool wanted(std::uint16_t channel) const;
  void advance_front();
  void push(Open open);
  Open pop();

  McapReader* reader_;
  Order order_;
  std::uint64_t from_, to_;
  std::vector<const mcap::Channel*> wanted_;  // by channel id; null = not
  std::vector<Open> heap_;
  std::uint64_t held_ = 0;  // bytes of those that are loaded
  mcap::Bytes current_;     // keeps the bytes of the message last given
};

}  // namespace isochron
