#include <gtest/gtest.h>

#include <thread>

#include "rt/histogram.hpp"

namespace isochron::rt {
namespace {

TEST(HistogramStress, MayBeReadWhileItRecords) {
  Histogram h;
  std::thread writer([&] {
    for (int i = 0; i < 100'000; ++i) h.record(1000 + i % 100);
  });
  std::uint64_t last = 0;
  while (last < 100'000) {
    const std::uint64_t now = h.count();
    ASSERT_GE(now, last);
    if (now > 0) {
      const std::int64_t p50 = h.percentile(50);
      ASSERT_TRUE(p50 == 0 || (p50 >= 1000 && p50 < 1120)) << p50;
    }
    last = now;
  }
  writer.join();
  EXPECT_EQ(h.max(), 1099);
}

}  // namespace
}  // namespace isochron::rt
