#include "journal/merge.hpp"

#include <gtest/gtest.h>

#include "journal/journal.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::HandClock;
using test::MemoryDisk;
using test::Point;

SimTime ms(std::int64_t n) { return SimTime::from_ns(n * 1'000'000); }

/// Records of these topics, one each millisecond; finished, or cut as by a kill.
void record(MemoryDisk& disk, const std::string& path, const std::vector<std::string>& topics) {
  HandClock clock;
  JournalOptions options;
  options.threaded = false;
  options.chunk_bytes = 500;
  auto journal = std::move(*Journal::create(disk, clock, path, options));
  Producer& producer = journal->producer("one");
  std::vector<ChannelId> channels;
  for (const std::string& topic : topics) channels.push_back(journal->channel<Point>(topic));
  for (int i = 0; i < 100; ++i) {
    for (std::size_t c = 0; c < channels.size(); ++c) {
      producer.write(channels[c], ms(i), Point{1.0 * i, static_cast<double>(topics[c].size())});
    }
  }
  journal->close();
}

TEST(Merge, HasTheDigestOfTheRunInOneProcess) {
  MemoryDisk disk;
  record(disk, "whole", {"/a", "/bb", "/ccc"});
  record(disk, "one", {"/bb"});
  record(disk, "two", {"/a", "/ccc"});
  const auto merged = merge_journals(disk, {"one", "two"}, "out", {{"report.json", "application/json", "{}"}});
  ASSERT_TRUE(merged.ok()) << merged.error().what;
  auto whole = std::move(*McapReader::open(disk, "whole"));
  auto out = std::move(*McapReader::open(disk, "out"));
  EXPECT_EQ(merged->digest, digest_of(whole));
  EXPECT_EQ(digest_of(out), digest_of(whole));
  EXPECT_EQ(recorded_digest(out).hex, digest_of(whole).hex);
  EXPECT_EQ(out.ending(), Ending::whole);
  ASSERT_EQ(out.attachments().size(), 1U);
  EXPECT_EQ(out.attachments()[0].name, "report.json");
}

TEST(Merge, OfACutJournalIsNotComplete) {
  MemoryDisk disk;
  record(disk, "one", {"/a"});
  record(disk, "two", {"/bb"});
  disk.files["two"]->resize(disk.files["two"]->size() / 2);
  const auto merged = merge_journals(disk, {"one", "two"}, "out");
  ASSERT_TRUE(merged.ok());
  EXPECT_FALSE(merged->digest.complete);
  EXPECT_GT(merged->messages, 100U);
}

TEST(Merge, WithoutAnInputThereIsNoOutput) {
  MemoryDisk disk;
  EXPECT_FALSE(merge_journals(disk, {}, "out").ok());
  EXPECT_FALSE(merge_journals(disk, {"missing"}, "out").ok());
  EXPECT_TRUE(disk.files.empty());
}

}  // namespace
}  // namespace isochron
