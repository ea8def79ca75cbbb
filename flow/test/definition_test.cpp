// Types from text: the same as those declared in C++, in id, memory, bytes and digest.

#include "flow/definition.hpp"

#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {

struct Point {
  float x = 0;
  double y = 0;
};
ISOCHRON_MESSAGE(Point, "example_msgs/msg/Point", x, y)
struct Track {
  bool good = false;
  SimTime stamp;
  std::array<Point, 2> points{};
  std::int16_t number = 0;
};
ISOCHRON_MESSAGE(Track, "example_msgs/msg/Track", good, stamp, points, number)
struct Named {
  std::string text;
  std::vector<Point> points;
};
ISOCHRON_MESSAGE(Named, "example_msgs/msg/Named", text, points)

namespace {

constexpr const char* track_text = R"(example_msgs/msg/Track
bool   good            # whether
builtin_interfaces/Time stamp

example_msgs/Point[2] points
int16 number
================================================================================
MSG: example_msgs/Point
float32 x
float64 y
)";

std::vector<std::byte> encoded(const PayloadType& type, const void* value) {
  std::vector<std::byte> bytes(type.encoded_size(value));
  type.encode(value, bytes);
  return bytes;
}

Track some_track() {
  Track track{true, SimTime::from_ns(-1'500'000'000), {Point{1.5F, 2.5}, Point{-3, 4}}, -7};
  clear_padding(track);
  return track;
}

TEST(Definition, IsTheSameTypeAsTheMessageInCxx) {
  const PayloadType& text = dynamic_type(track_text);
  const PayloadType& type = payload_type<Track>();
  EXPECT_EQ(text.schema, type.schema);
  EXPECT_EQ(text.id, type.id);
  EXPECT_EQ(text.memory, type.memory);
  EXPECT_EQ(text.size, type.size);
  EXPECT_EQ(&text, &dynamic_type(type_text(type)));
}

TEST(Definition, HasTheSameBytesAndDigestAsTheMessageInCxx) {
  const PayloadType& text = dynamic_type(track_text);
  const PayloadType& type = payload_type<Track>();
  const Track track = some_track();
  EXPECT_EQ(encoded(text, &track), encoded(type, &track));
  EXPECT_EQ(text.digest(5, &track), type.digest(5, &track));
  Track back;
  std::memset(static_cast<void*>(&back), 0xFF, sizeof back);
  ASSERT_TRUE(text.decode(&back, encoded(type, &track)));
  EXPECT_EQ(std::memcmp(&back, &track, sizeof back), 0) << "gaps are cleared too";
}

TEST(Definition, OfANumberIsThatOfCxx) {
  EXPECT_EQ(dynamic_type("float64").id, payload_type<double>().id);
  EXPECT_EQ(dynamic_type("float64").memory, payload_type<double>().memory);
  EXPECT_EQ(dynamic_type("uint16").id, payload_type<std::uint16_t>().id);
  EXPECT_NE(dynamic_type("uint16").id, payload_type<std::int16_t>().id);
}

TEST(Definition, WithTextAndListsIsItsBytes) {
  const PayloadType& text = dynamic_type(type_text(payload_type<Named>()));
  const PayloadType& type = payload_type<Named>();
  EXPECT_EQ(text.id, type.id);
  EXPECT_NE(text.memory, type.memory);
  const Named named{"hello", {Point{1, 2}}};
  void* value = new_payload(text);
  ASSERT_TRUE(text.decode(value, encoded(type, &named)));
  EXPECT_EQ(encoded(text, value), encoded(type, &named));
  EXPECT_EQ(text.digest(5, value), type.digest(5, &named));
  delete_payload(text, value);
}

TEST(Definition, SaysWhichLineMakesNoSense) {
  const auto why = [](const char* text) -> std::string {
    try {
      (void)dynamic_type(text);
    } catch (const InputError& error) {
      return error.mistakes()[0].what;
    }
    return "";
  };
  EXPECT_EQ(why(""), "the message type is empty");
  EXPECT_EQ(why("a/msg/B"), "the message type `a/msg/B` has no fields");
  EXPECT_EQ(why("a/msg/B\nfloat64"), "the message type `a/msg/B`: field `float64` has no name");
  EXPECT_EQ(why("a/msg/B\nother/C c"),
            "the message type `a/msg/B` has a field of type `other/C`, which is not defined");
  EXPECT_EQ(why("a/msg/B\nfloat64[0] c"), "the message type `a/msg/B`: field `c` has no good length");
}

}  // namespace
}  // namespace isochron::flow::test
