#include "core/time_text.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/random.hpp"

namespace isochron {
namespace {

TEST(TimeText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*parse_ns("10ms"), 10'000'000);
  EXPECT_EQ(*parse_ns("1.5s"), 1'500'000'000);
  EXPECT_EQ(*parse_ns("250us"), 250'000);
  EXPECT_EQ(*parse_ns("250\xc2\xb5s"), 250'000);
  EXPECT_EQ(*parse_ns("0.001us"), 1);
  EXPECT_EQ(*parse_ns("2min"), 120'000'000'000);
  EXPECT_EQ(*parse_ns("-3 ms"), -3'000'000);
  EXPECT_EQ(*parse_ns("0"), 0);
}

TEST(TimeText, SaysWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_NE(parse_ns("10").error().find("no unit; write `10ms`"), std::string::npos);
  EXPECT_NE(parse_ns("10 parsecs").error().find("use one of ns us ms s min h"), std::string::npos);
  EXPECT_NE(parse_ns("soon").error().find("write a number and a unit"), std::string::npos);
  EXPECT_NE(parse_ns("0.1ns").error().find("whole number of nanoseconds"), std::string::npos);
  EXPECT_NE(parse_ns("300000000h").error().find("292 years"), std::string::npos);
  EXPECT_NE(parse_ns("99999999999999999999999999999999999999999999s").error().find("too large"), std::string::npos);
  EXPECT_FALSE(parse_ns("1.2.3s").ok());
  EXPECT_FALSE(parse_ns("").ok());
  EXPECT_FALSE(parse_ns(".s").ok());
}

TEST(TimeText, WhatIsPrintedReadsBackTheSame) {
  RandomStream random(7, "time text");
  for (int i = 0; i < 20'000; ++i) {
    const auto ns = static_cast<std::int64_t>(random.bits() >> random.below(63)) * (random.chance(0.5) ? 1 : -1);
    ASSERT_EQ(*parse_ns(format_ns(ns)), ns) << format_ns(ns);
  }
  EXPECT_EQ(format_ns(1'500'000), "1.5ms");
  EXPECT_EQ(format_ns(10'000'000), "10ms");
  EXPECT_EQ(format_ns(std::numeric_limits<std::int64_t>::min()), "-9223372036.854775808s");
}

TEST(TimeText, ShortFormHasThreeDigits) {
  EXPECT_EQ(format_ns_short(1'234'567), "1.23ms");
  EXPECT_EQ(format_ns_short(12'345), "12.3us");
  EXPECT_EQ(format_ns_short(999), "999ns");
  EXPECT_EQ(format_ns_short(999'999), "1.00ms");
  EXPECT_EQ(format_ns_short(168'010'000'000), "168s");
}

}  // namespace
}  // namespace isochron
