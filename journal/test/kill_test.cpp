// A run is killed with -9 at a moment that nobody chose. What its journal then still has is compared with what the run
// had been told it wrote, and when.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "core/random.hpp"
#include "journal/disk.hpp"
#include "journal/journal.hpp"
#include "journal/recover.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::Point;
using test::SteadyClock;

constexpr std::int64_t moments = 4096;  // milliseconds, at most

/// Shared with the child: how many records it has written.
struct Told {
  std::atomic<std::uint64_t> count;
};

[[noreturn]] void write_until_killed(const std::string& path, std::size_t chunk_bytes, Told& told) {
  PosixDisk disk;
  SteadyClock clock;
  JournalOptions options;
  options.chunk_bytes = chunk_bytes;
  options.when_full = WhenFull::block;
  auto journal = std::move(*Journal::create(disk, clock, path, options));
  const ChannelId channel = journal->channel<Point>("/point");
  Producer& producer = journal->producer("p");
  const WallTime start = clock.now();
  std::uint64_t n = 0;
  for (std::int64_t moment = 0; moment < moments; ++moment) {
    for (int i = 0; i < 20; ++i, ++n)
      producer.write(channel, SimTime::from_ns(static_cast<std::int64_t>(n)), Point{double(n), 0});
    told.count.store(n);
    clock.sleep_until(start + WallSpan(std::chrono::milliseconds(moment + 1)));
  }
  _exit(0);
}

/// The records in the file; each must be the one that belongs there.
std::uint64_t check_records(McapReader& reader, std::uint64_t seed) {
  std::uint64_t n = 0;
  MessageCursor cursor = reader.messages();
  while (const auto message = cursor.next()) {
    EXPECT_EQ(cdr_read<Point>(message->data)->x, double(n)) << "seed " << seed;
    ++n;
  }
  return n;
}

void kill_once(std::uint64_t seed, Told& told) {
  RandomStream random(seed, "kill");
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("isochron_kill_" + std::to_string(getpid()) + "_" + std::to_string(seed)))
                               .string();
  told.count.store(0);
  const std::size_t chunk_bytes = random.chance(0.5) ? 20'000 : 4U << 20U;
  const auto life_us = static_cast<useconds_t>(random.below(1'800'000));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) write_until_killed(path, chunk_bytes, told);
  while (told.count.load() == 0) usleep(1000);
  usleep(life_us);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);

  const std::uint64_t written = told.count.load();
  PosixDisk disk;
  std::uint64_t found = 0;
  {
    auto reader = McapReader::open(disk, path);
    ASSERT_TRUE(reader.ok()) << "seed " << seed << ": " << reader.error().what;
    EXPECT_EQ(reader->ending(), Ending::cut);
    found = check_records(*reader, seed);
  }
  // 20 records a millisecond: what is missing was written in the last second (and the machine may be slow).
  EXPECT_GE(found + 20 * 1000, written) << "seed " << seed;
  if (chunk_bytes == 20'000 && written > 4000) {
    EXPECT_GT(found, 0U) << "seed " << seed;
  }
  const auto summary = recover(disk, path, path);
  ASSERT_TRUE(summary.ok()) << "seed " << seed << ": " << summary.error().what;
  EXPECT_EQ(summary->messages, found);
  auto whole = McapReader::open(disk, path);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->indexed());
  EXPECT_EQ(check_records(*whole, seed), found);
  std::filesystem::remove(path);
}

TEST(KilledRun, LosesAtMostTheLastSecondAndIsRecovered) {
  void* shared = mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Told& told = *new (shared) Told;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) kill_once(seed, told);
  munmap(shared, sizeof(Told));
}

}  // namespace
}  // namespace isochron
