// The arithmetic of a program's clock, which 32-bit processors do without a wide product.

#include "client/clock_face.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace isochron::client {
namespace {

TEST(ClockFace, ScalesAsAWideProductDoes) {
  RandomStream random(1, "clock face");
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t counts = random.bits() >> random.below(64), scale = random.bits() >> random.below(64);
    const auto wide = (static_cast<unsigned __int128>(counts) * scale) >> 32;
    ASSERT_EQ(scaled(counts, scale), static_cast<std::uint64_t>(wide)) << counts << " * " << scale;
  }
}

}  // namespace
}  // namespace isochron::client
