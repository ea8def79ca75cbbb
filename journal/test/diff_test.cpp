#include "journal/diff.hpp"

#include <gtest/gtest.h>

#include "journal/journal.hpp"
#include "journal/journal_metadata.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::HandClock;
using test::MemoryDisk;
using test::Point;

SimTime ms(std::int64_t n) { return SimTime::from_ns(n * 1'000'000); }

struct Run {
  int records = 100;
  int other_at = -1;  // this record of /b is another
  double other_value = 0;
  int missing = -1;   // this record of /b is not there
  int shift_at = -1;  // this record of /b is 1 us late
  bool in_turns = false;
  std::string math = "fma";
};

McapReader record(MemoryDisk& disk, const std::string& path, const Run& run) {
  HandClock clock;
  JournalOptions options;
  options.threaded = false;
  options.chunk_bytes = 1000;
  options.about_the_run = {{journal_metadata::cpu_math, run.math}};
  auto journal = std::move(*Journal::create(disk, clock, path, options));
  const ChannelId b = journal->channel<Point>("/b", {.metadata = {{journal_metadata::participant, "planner"}}});
  const ChannelId a = journal->channel<Point>("/a");
  const ChannelId wall = journal->channel<Point>("/wall", {.in_digest = false});
  Producer& first = journal->producer("first");
  Producer& second = journal->producer("second");
  for (int i = 0; i < run.records; ++i) {
    const SimTime time = ms(i) + (i == run.shift_at ? SimSpan(std::chrono::microseconds(1)) : SimSpan());
    if (i != run.missing) second.write(b, time, Point{1.0 * i, i == run.other_at ? run.other_value : 0.5});
    if (run.in_turns) journal->pump();
    first.write(a, ms(i), Point{2.0 * i, 1});
    first.write(wall, ms(i), Point{run.in_turns ? 1.0 : 2.0, 1});
  }
  journal->close();
  return std::move(*McapReader::open(disk, path));
}

Comparison compare_runs(const Run& one, const Run& two) {
  MemoryDisk disk;
  McapReader a = record(disk, "a", one);
  McapReader b = record(disk, "b", two);
  Comparison comparison = compare(a, b);
  EXPECT_EQ(digest_of(a) == digest_of(b), !comparison.first);
  return comparison;
}

TEST(Diff, FindsEqualRunsEqualWhateverTheInterleaving) {
  const Comparison comparison = compare_runs({}, {.in_turns = true});
  EXPECT_FALSE(comparison.first);
  EXPECT_EQ(comparison.equal_records, 200U);
  EXPECT_TRUE(comparison.notes.empty());
}

TEST(Diff, NamesTheFirstRecordWhoseValueDiffers) {
  const Comparison comparison = compare_runs({}, {.other_at = 42, .other_value = -7});
  ASSERT_TRUE(comparison.first);
  EXPECT_EQ(comparison.equal_records, 42U * 2 + 1);
  EXPECT_EQ(comparison.first->topic, "/b");
  EXPECT_EQ(comparison.first->participant, "planner");
  EXPECT_EQ(comparison.first->time, ms(42));
  EXPECT_EQ(comparison.first->sequence, 42U);
  EXPECT_EQ(to_string(*comparison.first), "/b (planner) at 42ms, record 42:\n  y: A 0.5, B -7");
}

TEST(Diff, NamesARecordThatOneLacks) {
  const Comparison comparison = compare_runs({}, {.missing = 10});
  ASSERT_TRUE(comparison.first);
  EXPECT_EQ(to_string(*comparison.first),
            "/b (planner) at 10ms, record 10: missing in B\n  A: x=10 y=0.5\n"
            "  B's next record on this topic is at 11ms");
  const Comparison reversed = compare_runs({.missing = 10}, {});
  EXPECT_EQ(reversed.first->kind, Difference::Kind::only_in_b);
}

TEST(Diff, NamesARecordThatComesAtAnotherTime) {
  const Comparison comparison = compare_runs({}, {.shift_at = 5});
  ASSERT_TRUE(comparison.first);
  EXPECT_EQ(comparison.first->kind, Difference::Kind::only_in_a);
  EXPECT_EQ(comparison.first->elsewhere, ms(5) + SimSpan(std::chrono::microseconds(1)));
}

TEST(Diff, NamesTheFirstRecordAfterTheEndOfTheShorterRun) {
  const Comparison comparison = compare_runs({.records = 100}, {.records = 60});
  ASSERT_TRUE(comparison.first);
  EXPECT_EQ(comparison.first->time, ms(60));
  EXPECT_EQ(comparison.first->topic, "/a");
  EXPECT_FALSE(comparison.first->elsewhere);
}

TEST(Diff, SaysWhenTheMachinesComputeDifferently) {
  const Comparison comparison = compare_runs({.math = "sse2 1"}, {.other_at = 1, .math = "avx2+fma 2"});
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_NE(comparison.notes[0].find("(sse2 1 and avx2+fma 2)"), std::string::npos);
}

}  // namespace
}  // namespace isochron
