#include "rt/histogram.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

TEST(Histogram, EveryValueLiesInItsBucket) {
  for (std::int64_t v = 0; v < 100'000; ++v) {
    const std::size_t b = Histogram::bucket_of(v);
    ASSERT_LE(v, Histogram::last_of(b));
    ASSERT_GT(v, b == 0 ? -1 : Histogram::last_of(b - 1));
  }
}

TEST(Histogram, BucketsAreNoWiderThanOnePartIn64) {
  for (std::size_t b = 1; b < Histogram::buckets; ++b) {
    const double width = static_cast<double>(Histogram::last_of(b) - Histogram::last_of(b - 1));
    ASSERT_LE(width, std::max(1.0, static_cast<double>(Histogram::last_of(b)) / 64));
  }
}

TEST(Histogram, PercentilesAgreeWithSorting) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(9, 1.5);
  std::vector<std::int64_t> values;
  Histogram h;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::int64_t>(latency(random)));
    h.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double p : {0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(p / 100 * 20'000))) - 1;
    const auto exact = static_cast<double>(values[rank]);
    EXPECT_NEAR(static_cast<double>(h.percentile(p)), exact, exact / 64 + 1) << p;
  }
  EXPECT_EQ(h.min(), values.front());
  EXPECT_EQ(h.max(), values.back());
  EXPECT_EQ(h.percentile(100), h.max());
}

TEST(Histogram, IsEmptyAtFirstAndAfterClear) {
  Histogram h;
  EXPECT_EQ(h.percentile(99), 0);
  EXPECT_EQ(h.max(), 0);
  h.record(5us);
  h.clear();
  EXPECT_EQ(h.count(), 0U);
  EXPECT_EQ(h.min(), 0);
}

TEST(Histogram, MergesAsIfOneHadRecordedAll) {
  Histogram a, b, both;
  for (int i = 1; i < 1000; ++i) {
    (i % 3 == 0 ? a : b).record(i * 17);
    both.record(i * 17);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.mean(), both.mean());
  EXPECT_EQ(a.min(), both.min());
  EXPECT_EQ(a.max(), both.max());
  for (const double p : {10.0, 50.0, 99.0}) EXPECT_EQ(a.percentile(p), both.percentile(p));
}

TEST(Histogram, KeepsExtremesTrue) {
  Histogram h;
  h.record(-5);
  h.record(std::chrono::hours(24));
  EXPECT_EQ(h.min(), -5);
  EXPECT_EQ(h.max(), std::chrono::nanoseconds(std::chrono::hours(24)).count());
  EXPECT_EQ(h.percentile(100), h.max());
  EXPECT_EQ(h.count(), 2U);
}

TEST(Histogram, ListsItsBuckets) {
  Histogram h;
  h.record(3);
  h.record(3);
  h.record(1000);
  std::uint64_t total = 0;
  h.for_each([&](std::int64_t least, std::int64_t last, std::uint64_t n) {
    EXPECT_LE(least, last);
    total += n;
  });
  EXPECT_EQ(total, 3U);
}

}  // namespace
}  // namespace isochron::rt
