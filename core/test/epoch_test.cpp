#include "core/epoch.hpp"

#include <gtest/gtest.h>

namespace isochron {
namespace {

TEST(Epoch, IsADateInUtc) {
  EXPECT_EQ(Epoch::parse("1970-01-01")->unix_ns, 0);
  EXPECT_EQ(Epoch::parse("2030-01-01T00:00:00Z")->unix_ns, Epoch().unix_ns);
  EXPECT_EQ(Epoch::parse("2000-03-01T12:30:05.25Z")->unix_ns, 951'913'805'250'000'000);
  EXPECT_EQ(Epoch::parse("2000-03-01 12:30:05")->unix_ns, 951'913'805'000'000'000);
}

TEST(Epoch, ReadsBackWhatItPrints) {
  for (const char* text :
       {"1970-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "2199-12-31T23:59:59.999999999Z", "2026-11-16T19:00:31.5Z"}) {
    EXPECT_EQ(to_string(*Epoch::parse(text)), text);
  }
  const Epoch now = Epoch::of_wall_clock();
  EXPECT_EQ(*Epoch::parse(to_string(now)), now);
}

TEST(Epoch, RefusesWhatIsNoDate) {
  for (const char* text : {"", "today", "2030", "2030-13-01", "2030-02-30", "1969-12-31", "2200-01-01", "2030-01-01T",
                           "2030-01-01T24:00:00", "2030-01-01T00:00", "2030-01-01T00:00:00.Z",
                           "2030-01-01T00:00:00.0123456789Z", "2030-01-01T00:00:00+01:00", "2030-01-01Z"}) {
    EXPECT_FALSE(Epoch::parse(text).ok()) << text;
  }
  EXPECT_NE(Epoch::parse("today").error().find("as in 2030-01-01"), std::string::npos);
}

}  // namespace
}  // namespace isochron
