#include "core/message.hpp"

#include <gtest/gtest.h>

#include "core/cdr.hpp"
#include "core/random.hpp"
#include "core/schema.hpp"

namespace isochron {
namespace {

struct Point {
  double x = 0;
  float weight = 0;
  friend bool operator==(const Point&, const Point&) = default;
};
ISOCHRON_MESSAGE(Point, "test_msgs/msg/Point", x, weight)

struct Track {
  std::string name;
  SimTime stamp;
  bool live = false;
  std::int8_t tiny = 0;
  std::array<std::uint16_t, 3> fixed{};
  std::vector<double> many;
  std::vector<Point> points;
  friend bool operator==(const Track&, const Track&) = default;
};
ISOCHRON_MESSAGE(Track, "test_msgs/msg/Track", name, stamp, live, tiny, fixed, many, points)

Track sample() { return {"a", SimTime::from_ns(-1), true, -3, {1, 2, 3}, {0.5, -0.25}, {{1, 2}, {3, 4}}}; }

TEST(Cdr, WhatIsWrittenReadsBackTheSame) {
  const auto bytes = cdr_bytes(sample());
  const auto read = cdr_read<Track>(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, sample());
}

TEST(Cdr, PlacesValuesWhereOthersExpectThem) {
  // Header 00 01 00 00; x at 0; weight at 8.
  const auto bytes = cdr_bytes(Point{1.0, 2.0F});
  const std::vector<unsigned> expected{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0x40};
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), expected[i]) << i;
}

TEST(Cdr, BytesDependOnNothingButTheValues) {
  std::vector<std::byte> dirty(cdr_size(sample()), std::byte{0xaa});
  cdr_write(sample(), dirty);
  EXPECT_EQ(dirty, cdr_bytes(sample()));
}

TEST(Cdr, EveryTruncationIsRefused) {
  const auto bytes = cdr_bytes(sample());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(cdr_read<Track>(std::span(bytes).first(n)).ok()) << n;
  }
}

TEST(Cdr, NoMutationIsReadBeyondItsEnd) {  // AddressSanitizer watches
  RandomStream random(1, "cdr");
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = cdr_bytes(sample());
    for (int flips = 0; flips < 3; ++flips) bytes[random.below(bytes.size())] ^= std::byte{1} << random.below(8);
    (void)cdr_read<Track>(bytes).ok();
  }
}

TEST(Schema, ListsFieldsAndTheMessagesInside) {
  const std::string rule(80, '=');
  EXPECT_EQ(ros2msg_schema<Track>(),
            "string name\nbuiltin_interfaces/Time stamp\nbool live\nint8 tiny\nuint16[3] fixed\nfloat64[] many\n"
            "test_msgs/Point[] points\n" +
                rule + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n" + rule +
                "\nMSG: test_msgs/Point\nfloat64 x\nfloat32 weight\n");
}

}  // namespace
}  // namespace isochron
