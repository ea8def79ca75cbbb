// We do not write lz4, but others do: a file made here by hand is read.
#include <gtest/gtest.h>
#include <lz4frame.h>

#include "journal/crc32.hpp"
#include "journal/mcap_reader.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

mcap::Bytes lz4(mcap::View bytes) {
  mcap::Bytes frame(LZ4F_compressFrameBound(bytes.size(), nullptr));
  frame.resize(LZ4F_compressFrame(frame.data(), frame.size(), bytes.data(), bytes.size(), nullptr));
  return frame;
}

/// One chunk with 100 messages, packed and called as given.
mcap::Bytes file_with_chunk(const std::string& compression, std::uint32_t crc_error, std::uint64_t size_error) {
  mcap::Bytes records;
  const std::array<std::byte, 50> payload{};
  mcap::encode(records, mcap::Channel{7, 0, "/raw", "raw", {}});
  for (std::uint64_t i = 0; i < 100; ++i) mcap::encode(records, mcap::Message{7, 0, i, i, payload});
  const mcap::Bytes packed = lz4(records);
  mcap::Bytes file(mcap::magic_bytes().begin(), mcap::magic_bytes().end());
  mcap::encode(file, mcap::Header{});
  mcap::encode_chunk_head(file, {0, 99, records.size() + size_error, crc32(records) + crc_error, compression, packed});
  file.insert(file.end(), packed.begin(), packed.end());
  return file;
}

std::string outcome(mcap::Bytes file) {
  test::MemoryDisk disk;
  disk.put("j", std::move(file));
  auto reader = McapReader::open(disk, "j");
  MessageCursor cursor = reader->messages();
  int n = 0;
  while (cursor.next()) ++n;
  return std::to_string(n) + " messages; " + reader->damage().front().what;
}

TEST(Lz4, IsRead) { EXPECT_TRUE(outcome(file_with_chunk("lz4", 0, 0)).starts_with("100 messages")); }

TEST(Lz4, IsLeftOutWhenItIsDamaged) {
  EXPECT_EQ(outcome(file_with_chunk("lz4", 1, 0)), "0 messages; this chunk is left out: its checksum is wrong");
  EXPECT_EQ(outcome(file_with_chunk("lz4", 0, 1)), "0 messages; this chunk is left out: it cannot be unpacked");
  EXPECT_EQ(outcome(file_with_chunk("lz4", 0, 1ULL << 40U)),
            "0 messages; this chunk is left out: it claims to hold 1099511635908 bytes");
  EXPECT_EQ(outcome(file_with_chunk("bz2", 0, 0)),
            "0 messages; this chunk is left out: its compression `bz2` is unknown");
}

TEST(Crc32, IsTheOneOfZip) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(text))), 0xCBF43926U);
  std::string longer;
  for (int i = 0; i < 1000; ++i) longer += static_cast<char>(i * 7);
  const auto bytes = std::as_bytes(std::span(longer));
  for (std::size_t cut = 0; cut < 40; ++cut)
    EXPECT_EQ(crc32(bytes.subspan(cut), crc32(bytes.first(cut))), crc32(bytes));
}

}  // namespace
}  // namespace isochron
