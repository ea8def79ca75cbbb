#include "core/contained.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace isochron {
namespace {

TEST(Contained, WhatIsThrownIsToldOnceForEachPlaceAndCounted) {
  const std::uint64_t before = contained_count();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(contained("a test's page", [] { throw std::runtime_error("\x1b[2J gone"); }));
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(contained_count(), before + 3);
  EXPECT_EQ(told.find("a test's page"), told.rfind("a test's page")) << told;
  EXPECT_EQ(told.find('\x1b'), std::string::npos);
}

TEST(Contained, WhatComesThroughIsTrue) {
  EXPECT_TRUE(contained("nobody", [] {}));
}

TEST(Contained, UntilDoneTriesAgain) {
  int tries = 0;
  testing::internal::CaptureStderr();
  contained_until_done("a test's loop", [&] {
    if (++tries < 3) throw 7;
  });
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace isochron
