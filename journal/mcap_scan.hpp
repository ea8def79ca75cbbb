#pragma once
// Finds out what is in an MCAP file without its summary, from the front, record by record. Used for files whose writer
// was killed, that were cut or damaged, and for those that never had a summary. Where the records stop making sense it
// looks for the next bytes that are a chunk (lengths within it agree, then its checksum) and goes on there.
//
// Promises: fills the reader's schemas, channels, blocks, metadata, attachments and statistics with what is there.

#include "journal/mcap_reader.hpp"

namespace isochron {

class McapScan {
 public:
  explicit McapScan(McapReader& reader) : reader_(reader) {}
  void run();

 private:
  /// False: no further record can be found.
  bool step();
  bool read_prefix(mcap::Op& op, std::uint64_t& length);
  /// Nothing: larger than the limit, or the disk failed; noted.
  std::optional<mcap::Bytes> content(std::uint64_t length);
  void take(mcap::Op op, std::uint64_t length);
  void take_chunk(std::uint64_t length);
  void take_loose_message(std::uint64_t length);
  void take_metadata(std::uint64_t length);
  void take_attachment(std::uint64_t length);
  template <class Record>
  void take_definition(std::uint64_t length, const char* kind);
  void take_inner(mcap::View records, MessageBlock& block);
  void count(const mcap::Message& message, MessageBlock& block);
  void finish(bool footer);
  /// Goes to the next chunk behind bytes that make no sense. False: there is none.
  bool resume();
  [[nodiscard]] std::optional<std::uint64_t> find_chunk(std::uint64_t from);

  McapReader& reader_;
  std::uint64_t at_ = 0;
  bool data_ended_ = false;
  std::optional<std::uint64_t> doubtful_since_;  // from here on nothing was sure to be a record
  int resumed_ = 0;
};

}  // namespace isochron
