// Many producers on threads of their own into one journal, on the real clock.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "journal/journal.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::MemoryDisk;
using test::Point;
using test::SteadyClock;

struct StressFigures {
  JournalSummary summary;
  std::uint64_t read = 0;
  std::uint64_t refused = 0;
  bool in_order = true;
};

StressFigures run(WhenFull when_full, std::size_t ring_bytes, int threads, int records,
                  std::size_t disk_room = SIZE_MAX) {
  MemoryDisk disk;
  SteadyClock clock;
  JournalOptions options;
  options.when_full = when_full;
  options.chunk_bytes = 64U << 10U;
  auto created = Journal::create(disk, clock, "j", options);
  Journal& journal = **created;
  disk.room = disk_room;
  std::vector<ChannelId> channels;
  std::vector<Producer*> producers;
  for (int t = 0; t < threads; ++t) {
    channels.push_back(journal.channel<Point>("/" + std::to_string(t)));
    producers.push_back(&journal.producer(std::to_string(t), ring_bytes));
  }
  std::atomic<std::uint64_t> refused{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (int i = 0; i < records; ++i) {
        const bool taken = producers[t]->write(channels[t], SimTime::from_ns(i), Point{1.0 * i, 1.0 * t});
        if (!taken) refused.fetch_add(1);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  StressFigures outcome;
  outcome.summary = journal.close();
  outcome.refused = refused;
  auto reader = McapReader::open(disk, "j");
  std::map<std::string, double> last;
  MessageCursor cursor = reader->messages_as_written();
  while (const auto message = cursor.next()) {
    const double x = cdr_read<Point>(message->data)->x;
    auto [known, first] = last.try_emplace(message->channel->topic, x);
    if (!first && x <= known->second) outcome.in_order = false;
    known->second = x;
    ++outcome.read;
  }
  return outcome;
}

TEST(JournalStress, LosesNothingWhenProducersWait) {
  const StressFigures outcome = run(WhenFull::block, 4096, 4, 5000);
  EXPECT_EQ(outcome.refused, 0U);
  EXPECT_EQ(outcome.summary.messages, 20'000U);
  EXPECT_EQ(outcome.read, 20'000U);
  EXPECT_TRUE(outcome.in_order);
  EXPECT_TRUE(outcome.summary.digest.complete);
}

TEST(JournalStress, AccountsForEachRecordWhenProducersDoNotWait) {
  const StressFigures outcome = run(WhenFull::drop, 4096, 4, 5000);
  EXPECT_EQ(outcome.summary.messages + outcome.summary.dropped, 20'000U);
  EXPECT_EQ(outcome.refused, outcome.summary.dropped);
  EXPECT_EQ(outcome.read, outcome.summary.messages);
  EXPECT_TRUE(outcome.in_order);
}

TEST(JournalStress, HasTheSameDigestHoweverThreadsInterleave) {
  const Digest digest = run(WhenFull::block, 4096, 3, 2000).summary.digest;
  EXPECT_EQ(run(WhenFull::block, 1U << 20U, 3, 2000).summary.digest, digest);
  EXPECT_EQ(run(WhenFull::block, 8192, 3, 2000).summary.digest, digest);
}

TEST(JournalStress, BlocksNobodyForeverWhenTheDiskIsFull) {
  const StressFigures outcome = run(WhenFull::block, 4096, 2, 20'000, 100'000);
  ASSERT_TRUE(outcome.summary.error);
  EXPECT_EQ(outcome.summary.error->fault, DiskFault::full);
  EXPECT_EQ(outcome.summary.messages + outcome.summary.dropped, 40'000U);
  EXPECT_EQ(outcome.read, outcome.summary.messages);
}

TEST(JournalStress, TakesChannelsAndProducersWhileItRuns) {
  MemoryDisk disk;
  SteadyClock clock;
  JournalOptions options;
  options.when_full = WhenFull::block;
  auto journal = std::move(*Journal::create(disk, clock, "j", options));
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t) {
    workers.emplace_back([&, t] {
      Producer& producer = journal->producer("p" + std::to_string(t), 4096);
      for (int c = 0; c < 10; ++c) {
        const ChannelId channel = journal->channel<Point>("/" + std::to_string(t) + "/" + std::to_string(c));
        for (int i = 0; i < 50; ++i) producer.write(channel, SimTime::from_ns(i), Point{1.0 * c, 1.0 * t});
      }
      journal->note("note " + std::to_string(t), {{"a", "b"}});
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(journal->close().messages, 2000U);
  auto reader = McapReader::open(disk, "j");
  EXPECT_EQ(reader->channels().size(), 40U);
  EXPECT_EQ(reader->metadata().size(), 5U);
  MessageCursor cursor = reader->messages();
  while (const auto message = cursor.next()) {
    const Point point = *cdr_read<Point>(message->data);
    const std::string topic = "/" + std::to_string(int(point.y)) + "/" + std::to_string(int(point.x));
    EXPECT_EQ(message->channel->topic, topic);
  }
}

}  // namespace
}  // namespace isochron
