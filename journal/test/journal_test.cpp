#include "journal/journal.hpp"

#include <gtest/gtest.h>

#include "journal/journal_metadata.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::HandClock;
using test::MemoryDisk;
using test::Point;
using test::Pose;
using test::pose_at;

SimTime ms(std::int64_t n) { return SimTime::from_ns(n * 1'000'000); }

JournalOptions stepped() {
  JournalOptions options;
  options.threaded = false;
  options.when_full = WhenFull::block;
  return options;
}

std::unique_ptr<Journal> make(MemoryDisk& disk, Clock& clock, JournalOptions options, const std::string& path = "j") {
  auto journal = Journal::create(disk, clock, path, std::move(options));
  EXPECT_TRUE(journal.ok());
  return std::move(*journal);
}

McapReader read(Disk& disk, const std::string& path = "j") {
  auto reader = McapReader::open(disk, path);
  EXPECT_TRUE(reader.ok());
  return std::move(*reader);
}

TEST(Journal, GivesBackWhatWasWritten) {
  MemoryDisk disk;
  HandClock clock;
  JournalOptions options = stepped();
  options.chunk_bytes = 2000;
  options.about_the_run = {{"seed", "7"}};
  auto journal = make(disk, clock, options);
  const ChannelId pose = journal->channel<Pose>("/pose");
  const ChannelId point = journal->channel<Point>("/point", {.metadata = {{journal_metadata::participant, "ship"}}});
  Producer& producer = journal->producer("a");
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(producer.write(pose, ms(i), pose_at(i)));
    if (i % 10 == 0) producer.write(point, ms(i), Point{1.0 * i, 2});
  }
  const std::string scenario = "name: x";
  journal->attach("scenario.yaml", "application/yaml", std::as_bytes(std::span(scenario)));
  const JournalSummary summary = journal->close();
  EXPECT_EQ(summary.messages, 110U);
  EXPECT_EQ(summary.dropped, 0U);
  EXPECT_FALSE(summary.error);
  EXPECT_EQ(summary.bytes, disk.files["j"]->size());

  McapReader reader = read(disk);
  EXPECT_TRUE(reader.indexed());
  EXPECT_EQ(reader.ending(), Ending::whole);
  EXPECT_GT(reader.blocks().size(), 3U);
  EXPECT_EQ(reader.statistics().message_count, 110U);
  EXPECT_EQ(reader.header().library, "isochron");
  EXPECT_EQ(reader.schema_of(*reader.channel("/pose"))->text, ros2msg_schema<Pose>());
  EXPECT_EQ(reader.channel("/point")->metadata.at(journal_metadata::participant), "ship");
  int i = 0;
  MessageCursor cursor = reader.messages({.topics = {"/pose"}});
  while (const auto message = cursor.next()) {
    const auto back = cdr_read<Pose>(message->data);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(cdr_bytes(*back), cdr_bytes(pose_at(i)));
    EXPECT_EQ(message->time, ms(i));
    EXPECT_EQ(message->sequence, static_cast<std::uint32_t>(i));
    ++i;
  }
  EXPECT_EQ(i, 100);
  ASSERT_EQ(reader.attachments().size(), 1U);
  const auto attached = reader.attachment(reader.attachments()[0]);
  ASSERT_TRUE(attached.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(attached->data()), attached->size()), scenario);
  const mcap::TextMap notes = reader.metadata(journal_metadata::record);
  EXPECT_EQ(notes.at("seed"), "7");
  EXPECT_EQ(notes.at(journal_metadata::digest), summary.digest.hex);
  EXPECT_EQ(digest_of(reader), summary.digest);
  EXPECT_TRUE(reader.damage().empty());
}

TEST(Journal, ReadsATimeRangeInOrderAcrossChunks) {
  MemoryDisk disk;
  HandClock clock;
  JournalOptions options = stepped();
  options.chunk_bytes = 500;
  auto journal = make(disk, clock, options);
  const ChannelId early = journal->channel<Point>("/early");
  const ChannelId late = journal->channel<Point>("/late");
  Producer& producer = journal->producer("a");
  // /late runs 50 ms ahead in the file: chunks overlap in time.
  for (int i = 0; i < 100; ++i) {
    producer.write(late, ms(i + 50), Point{1.0 * i, 0});
    producer.write(early, ms(i), Point{1.0 * i, 0});
  }
  journal->close();
  McapReader reader = read(disk);
  MessageCursor cursor = reader.messages({.from = ms(40), .to = ms(120)});
  SimTime last = SimTime::zero();
  int n = 0;
  while (const auto message = cursor.next()) {
    EXPECT_GE(message->time, last);
    last = message->time;
    ++n;
  }
  EXPECT_EQ(n, 60 + 70);
  EXPECT_EQ(last, ms(119));
}

TEST(Journal, CountsWhatDidNotFitIntoTheRing) {
  MemoryDisk disk;
  HandClock clock;
  JournalOptions options = stepped();
  options.when_full = WhenFull::drop;
  auto journal = make(disk, clock, options);
  const ChannelId point = journal->channel<Point>("/point");
  const ChannelId other = journal->channel<Point>("/other", {.in_digest = false});
  Producer& producer = journal->producer("a", 4096);
  std::uint64_t accepted = 0;
  for (int i = 0; i < 1000; ++i) accepted += producer.write(point, ms(i), Point{}) ? 1 : 0;
  EXPECT_FALSE(producer.write(other, ms(1000), Point{}));
  EXPECT_GT(accepted, 50U);
  EXPECT_EQ(producer.dropped(point), 1000 - accepted);
  EXPECT_EQ(producer.dropped(other), 1U);
  EXPECT_EQ(journal->dropped(), 1001 - accepted);
  const JournalSummary summary = journal->close();
  EXPECT_EQ(summary.messages, accepted);
  EXPECT_EQ(summary.channels[0].dropped, 1000 - accepted);
  EXPECT_EQ(summary.channels[1].dropped, 1U);
  EXPECT_FALSE(summary.digest.complete);
  McapReader reader = read(disk);
  EXPECT_EQ(reader.metadata("isochron.dropped").at("/other"), "1");
  EXPECT_FALSE(recorded_digest(reader).complete);
  EXPECT_FALSE(digest_of(reader).complete);
}

TEST(Journal, DropsARecordThatNoRingCouldHoldEvenWhenItBlocks) {
  MemoryDisk disk;
  HandClock clock;
  auto journal = make(disk, clock, stepped());
  const ChannelId raw = journal->channel("/raw", {}, {.message_encoding = "raw"});
  Producer& producer = journal->producer("a", 4096);
  EXPECT_EQ(producer.reserve(raw, ms(0), 5000).data(), nullptr);
  EXPECT_EQ(producer.dropped(raw), 1U);
  EXPECT_EQ(journal->close().dropped, 1U);
}

TEST(Journal, BlocksInsteadOfDroppingWhenToldSo) {
  MemoryDisk disk;
  HandClock clock;
  auto journal = make(disk, clock, stepped());
  const ChannelId point = journal->channel<Point>("/point");
  Producer& producer = journal->producer("a", 4096);
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(producer.write(point, ms(i), Point{}));
  const JournalSummary summary = journal->close();
  EXPECT_EQ(summary.messages, 10'000U);
  EXPECT_TRUE(summary.digest.complete);
}

TEST(Journal, FinishesAChunkEachHalfSecondOfWallTime) {
  MemoryDisk disk;
  HandClock clock;
  auto journal = make(disk, clock, stepped());
  const ChannelId point = journal->channel<Point>("/point");
  Producer& producer = journal->producer("a");
  producer.write(point, ms(0), Point{});
  journal->pump();
  EXPECT_EQ(read(disk).statistics().message_count, 0U);
  clock.pass(std::chrono::milliseconds(500));
  journal->pump();
  EXPECT_EQ(read(disk).statistics().message_count, 1U);
  EXPECT_EQ(read(disk).ending(), Ending::cut);
}

TEST(Journal, KeepsWhatWasRecordedWhenTheDiskIsFull) {
  MemoryDisk disk;
  HandClock clock;
  JournalOptions options = stepped();
  options.chunk_bytes = 1000;
  auto journal = make(disk, clock, options);
  const ChannelId pose = journal->channel<Pose>("/pose");
  Producer& producer = journal->producer("a", 4096);
  disk.room = 10'000;
  int written = 0;
  for (; written < 1000; ++written) ASSERT_TRUE(producer.write(pose, ms(written), pose_at(written)));
  EXPECT_TRUE(journal->failed());
  ASSERT_TRUE(journal->error());
  EXPECT_EQ(journal->error()->fault, DiskFault::full);
  const JournalSummary summary = journal->close();
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.messages + summary.dropped, 1000U);
  EXPECT_GT(summary.messages, 10U);
  EXPECT_GT(summary.dropped, 10U);

  McapReader reader = read(disk);
  EXPECT_EQ(reader.ending(), Ending::cut);
  std::uint64_t n = 0;
  MessageCursor cursor = reader.messages();
  while (cursor.next()) ++n;
  EXPECT_EQ(n, summary.messages);
}

TEST(Journal, SurvivesADiskThatWritesAndReadsOneByteAtATime) {
  MemoryDisk disk;
  HandClock clock;
  disk.most = 1;
  auto journal = make(disk, clock, stepped());
  const ChannelId pose = journal->channel<Pose>("/pose");
  Producer& producer = journal->producer("a");
  for (int i = 0; i < 10; ++i) producer.write(pose, ms(i), pose_at(i));
  EXPECT_EQ(journal->close().messages, 10U);
  McapReader reader = read(disk);
  EXPECT_TRUE(reader.indexed());
  EXPECT_TRUE(digest_of(reader).complete);
}

TEST(Journal, FailsToBeCreatedOnAFullDisk) {
  MemoryDisk disk;
  HandClock clock;
  disk.room = 5;
  const auto journal = Journal::create(disk, clock, "j", stepped());
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().fault, DiskFault::full);
}

TEST(Journal, IsFinishedByItsDestructor) {
  MemoryDisk disk;
  HandClock clock;
  {
    auto journal = make(disk, clock, stepped());
    const ChannelId point = journal->channel<Point>("/point");
    journal->producer("a").write(point, ms(1), Point{});
  }
  EXPECT_EQ(read(disk).ending(), Ending::whole);
}

/// Runs the same two producers, one before the other or in turns.
Digest digest_with(bool in_turns, double last_value, bool note_wall_time) {
  MemoryDisk disk;
  HandClock clock;
  auto journal = make(disk, clock, stepped());
  const ChannelId b = journal->channel<Point>("/b");
  const ChannelId a = journal->channel<Point>("/a");
  const ChannelId wall = journal->channel<Point>("/wall", {.in_digest = false});
  Producer& first = journal->producer("first");
  Producer& second = journal->producer("second");
  for (int i = 0; i < 50; ++i) {
    first.write(a, ms(i), Point{1.0 * i, 0});
    if (in_turns) journal->pump();
    second.write(b, ms(i), Point{i == 49 ? last_value : 0, 1});
    if (in_turns) journal->pump();
    if (note_wall_time) first.write(wall, ms(i), Point{3, 3});
  }
  const Digest digest = journal->close().digest;
  McapReader reader = read(disk);
  EXPECT_EQ(digest_of(reader), digest);
  return digest;
}

TEST(Digest, DependsOnWhatHappenedAndNotOnTheInterleaving) {
  const Digest digest = digest_with(false, 0, false);
  EXPECT_TRUE(digest.complete);
  EXPECT_EQ(digest.hex.size(), 32U);
  EXPECT_EQ(digest_with(true, 0, false), digest);
  EXPECT_EQ(digest_with(true, 0, true), digest);
  EXPECT_NE(digest_with(false, 1e-300, false).hex, digest.hex);
}

TEST(Digest, DependsOnTheOrderWithinAChannel) {
  const auto run = [](int first, int second) {
    MemoryDisk disk;
    HandClock clock;
    auto journal = make(disk, clock, stepped());
    const ChannelId a = journal->channel<Point>("/a");
    Producer& producer = journal->producer("p");
    producer.write(a, ms(first), Point{1.0 * first, 0});
    producer.write(a, ms(second), Point{1.0 * second, 0});
    const Digest digest = journal->close().digest;
    McapReader reader = read(disk);
    EXPECT_EQ(digest_of(reader), digest);
    return digest.hex;
  };
  EXPECT_NE(run(1, 2), run(2, 1));
}

TEST(Digest, IsMarkedWhenTwoProducersWriteOneChannel) {
  MemoryDisk disk;
  HandClock clock;
  auto journal = make(disk, clock, stepped());
  const ChannelId a = journal->channel<Point>("/a");
  journal->producer("first").write(a, ms(1), Point{});
  journal->producer("second").write(a, ms(2), Point{});
  const Digest digest = journal->close().digest;
  EXPECT_FALSE(digest.complete);
  EXPECT_NE(digest.why_incomplete.find("/a"), std::string::npos);
}

}  // namespace
}  // namespace isochron
