// Journals that were cut or damaged: read, compared and recovered without a crash, with what is left of them.
#include <gtest/gtest.h>

#include <chrono>

#include "core/random.hpp"
#include "journal/diff.hpp"
#include "journal/journal.hpp"
#include "journal/journal_metadata.hpp"
#include "journal/mcap_writer.hpp"
#include "journal/recover.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::HandClock;
using test::MemoryDisk;
using test::Point;

SimTime ms(std::int64_t n) { return SimTime::from_ns(n * 1'000'000); }

/// A small journal; the sizes of the file after each finished chunk, and the messages in it by then.
struct Sample {
  mcap::Bytes bytes;
  std::vector<std::pair<std::size_t, std::uint64_t>> finished;
};

Sample make_sample(int chunks, int records) {
  MemoryDisk disk;
  HandClock clock;
  JournalOptions options;
  options.threaded = false;
  options.about_the_run = {{"seed", "1"}};
  auto journal = std::move(*Journal::create(disk, clock, "j", options));
  const ChannelId a = journal->channel<Point>("/a");
  const ChannelId b = journal->channel<Point>("/b");
  Producer& producer = journal->producer("p");
  const std::array<std::byte, 5> text{};
  journal->attach("empty", "text/plain", text);
  Sample sample;
  std::uint64_t count = 0;
  for (int c = 0; c < chunks; ++c) {
    for (int i = 0; i < records; ++i, count += 2) {
      producer.write(a, ms(c * 100 + i), Point{1.0 * c, 1.0 * i});
      producer.write(b, ms(c * 100 + i), Point{1.0 * i, 2});
    }
    journal->pump();
    clock.pass(std::chrono::seconds(1));
    journal->pump();
    // The chunk itself is there before its two message indexes.
    const std::size_t indexes = 2 * (9 + 2 + 4 + 16 * static_cast<std::size_t>(records));
    sample.finished.emplace_back(disk.files["j"]->size() - indexes, count);
  }
  journal->close();
  sample.bytes = *disk.files["j"];
  return sample;
}

std::uint64_t count_messages(McapReader& reader) {
  std::uint64_t n = 0;
  MessageCursor cursor = reader.messages();
  while (const auto message = cursor.next()) {
    EXPECT_TRUE(cdr_read<Point>(message->data).ok());
    ++n;
  }
  return n;
}

TEST(CutJournal, GivesEveryFinishedChunkWhereverItWasCut) {
  const Sample sample = make_sample(3, 4);
  for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
    std::uint64_t finished = 0;
    for (const auto& [at, count] : sample.finished) finished = at <= size ? count : finished;
    MemoryDisk disk;
    disk.put("j", {sample.bytes.begin(), sample.bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    auto reader = McapReader::open(disk, "j");
    ASSERT_EQ(reader.ok(), size >= 8) << size;
    if (!reader) continue;
    EXPECT_EQ(reader->ending(), Ending::cut) << size;
    EXPECT_EQ(count_messages(*reader), finished) << size;
    EXPECT_FALSE(digest_of(*reader).complete);

    const auto summary = recover(disk, "j", "j");
    ASSERT_TRUE(summary.ok()) << size;
    EXPECT_FALSE(summary->was_whole);
    EXPECT_EQ(summary->messages, finished);
    auto whole = McapReader::open(disk, "j");
    ASSERT_TRUE(whole.ok());
    EXPECT_TRUE(whole->indexed()) << size;
    EXPECT_EQ(count_messages(*whole), finished) << size;
    EXPECT_EQ(whole->metadata(journal_metadata::record).at("recovered"), "true");
    EXPECT_EQ(disk.files.size(), 1U);
  }
}

TEST(DamagedJournal, NeverCrashesAReaderAndKeepsTheOtherChunks) {
  const Sample sample = make_sample(4, 5);
  const std::uint64_t all = sample.finished.back().second;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    RandomStream random(seed, "damage");
    mcap::Bytes bytes = sample.bytes;
    const std::uint64_t hits = 1 + random.below(3);
    for (std::uint64_t i = 0; i < hits; ++i) {
      bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
    }
    MemoryDisk disk;
    disk.put("j", bytes);
    auto reader = McapReader::open(disk, "j");
    if (!reader) continue;
    std::uint64_t n = 0;
    MessageCursor cursor = reader->messages();
    while (cursor.next()) ++n;
    EXPECT_LE(n, all) << "seed " << seed;
    const auto summary = recover(disk, "j", "out");
    if (!summary) continue;
    auto whole = McapReader::open(disk, "out");
    ASSERT_TRUE(whole.ok()) << "seed " << seed;
    EXPECT_EQ(whole->ending(), Ending::whole) << "seed " << seed;
    EXPECT_TRUE(whole->indexed()) << "seed " << seed;
    (void)compare(*reader, *whole);
  }
}

TEST(DamagedJournal, LeavesOutOnlyTheChunkThatIsDamaged) {
  const Sample sample = make_sample(4, 5);
  mcap::Bytes bytes = sample.bytes;
  bytes[sample.finished[1].first - 20] ^= std::byte{0x10};  // in the packed bytes of the second chunk
  MemoryDisk disk;
  disk.put("j", bytes);
  auto reader = McapReader::open(disk, "j");
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->indexed());
  EXPECT_EQ(count_messages(*reader), 30U);
  ASSERT_EQ(reader->damage().size(), 1U);
  EXPECT_NE(to_string(reader->damage()[0]).find("this chunk is left out"), std::string::npos);
  EXPECT_FALSE(digest_of(*reader).complete);
  const auto summary = recover(disk, "j", "j");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->messages, 30U);
  EXPECT_EQ(summary->damage.size(), 1U);
}

TEST(DamagedJournal, IsReadOnBehindBytesThatMakeNoSense) {
  const Sample sample = make_sample(5, 5);
  auto reader_of_whole = [&] {
    MemoryDisk disk;
    disk.put("j", sample.bytes);
    return std::move(*McapReader::open(disk, "j"));
  };
  const std::vector<MessageBlock> chunks = reader_of_whole().blocks();
  // Without its summary, and with wrong bytes in the head of the second chunk: its kind, its length, the packed length.
  for (const std::size_t place : {0, 1, 4, 8, 45}) {
    mcap::Bytes bytes(sample.bytes.begin(), sample.bytes.end() - 20);
    bytes[chunks[1].offset + place] ^= std::byte{0x41};
    MemoryDisk disk;
    disk.put("j", bytes);
    auto reader = McapReader::open(disk, "j");
    ASSERT_TRUE(reader.ok());
    EXPECT_FALSE(reader->indexed());
    EXPECT_GE(count_messages(*reader), 40U) << "byte " << place;  // all but the ten of that chunk, at least
    EXPECT_GE(reader->damage().size(), 2U);
  }
}

TEST(Recover, LeavesAWholeJournalAlone) {
  const Sample sample = make_sample(2, 5);
  MemoryDisk disk;
  disk.put("j", sample.bytes);
  const auto summary = recover(disk, "j", "j");
  ASSERT_TRUE(summary.ok());
  EXPECT_TRUE(summary->was_whole);
  EXPECT_TRUE(summary->digest.complete);
  EXPECT_EQ(*disk.files["j"], sample.bytes);
}

TEST(Recover, KeepsTheInputWhenTheDiskIsFull) {
  const Sample sample = make_sample(2, 5);
  MemoryDisk disk;
  const mcap::Bytes cut(sample.bytes.begin(), sample.bytes.end() - 10);
  disk.put("j", cut);
  disk.room = 300;
  EXPECT_FALSE(recover(disk, "j", "j").ok());
  EXPECT_EQ(*disk.files["j"], cut);
  EXPECT_EQ(disk.files.size(), 1U);
}

TEST(Recover, SaysThatAFileIsNoJournal) {
  MemoryDisk disk;
  disk.put("j", mcap::Bytes(100));
  const auto summary = recover(disk, "j", "j");
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().what, "j is not a journal: it does not start as an MCAP file does");
  EXPECT_FALSE(recover(disk, "nothing", "x").ok());
}

/// Chunks of one time, each of many small records that pack well.
mcap::Bytes overlapping_chunks(int chunks) {
  MemoryDisk disk;
  auto file = std::move(*disk.create("j"));
  McapWriter writer(*file, {});
  writer.start();
  const std::uint16_t channel = writer.channel("/a", "", 0, {});
  const mcap::Bytes zeros(1U << 20U);
  for (int c = 0; c < chunks; ++c) {
    for (std::uint32_t i = 0; i < 4; ++i) writer.message({channel, i, i, i, zeros});
    writer.finish_chunk(Compress::yes);
  }
  EXPECT_TRUE(writer.finish().ok());
  return *disk.files["j"];
}

TEST(Damage, AFewBytesThatUnpackToManyAreNotAllHeldAtOnce) {
  MemoryDisk disk;
  disk.files["j"] = std::make_shared<mcap::Bytes>(overlapping_chunks(40));
  EXPECT_LT(disk.files["j"]->size(), 100'000U);
  ReaderLimits limits;
  limits.cursor_bytes = 32U << 20U;
  auto reader = std::move(*McapReader::open(disk, "j", limits));
  MessageCursor cursor = reader.messages();
  std::uint64_t n = 0;
  while (cursor.next()) ++n;
  EXPECT_GE(n, 4U * 7U);
  EXPECT_LE(n, 4U * 8U);
  ASSERT_FALSE(reader.damage().empty());
  EXPECT_NE(reader.damage()[0].what.find("do not fit into memory together"), std::string::npos);
}

TEST(Damage, ManyBadRecordsAreReadInTimeThatGrowsWithTheirNumber) {
  MemoryDisk disk;
  mcap::Bytes bytes(mcap::magic_bytes().begin(), mcap::magic_bytes().end());
  mcap::encode(bytes, mcap::Header{"", ""});
  for (int i = 0; i < 300'000; ++i) {  // records of an unknown kind
    bytes.push_back(std::byte{0x70});
    bytes.insert(bytes.end(), 8, std::byte{0});
  }
  disk.files["j"] = std::make_shared<mcap::Bytes>(bytes);
  const auto start = std::chrono::steady_clock::now();
  const auto reader = std::move(*McapReader::open(disk, "j"));
  EXPECT_LE(reader.damage().size(), ReaderLimits{}.damage + 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace isochron
