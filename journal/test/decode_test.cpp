#include "journal/decode.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/cdr.hpp"
#include "core/schema.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::Pose;
using test::pose_at;

Decoder decoder_of(std::string_view text, std::string_view name = "p/msg/T") {
  auto schema = parse_ros2msg(name, text);
  EXPECT_TRUE(schema.ok()) << (schema.ok() ? "" : schema.error());
  return Decoder(schema.ok() ? std::move(*schema) : MessageSchema{{{"empty", {}}}});
}

std::string why(std::string_view text) {
  const auto schema = parse_ros2msg("p/msg/T", text);
  return schema.ok() ? "understood" : schema.error();
}

TEST(Decoder, NamesEachValueOfANestedMessage) {
  const Decoder decoder = decoder_of(ros2msg_schema<Pose>(), message_name<Pose>());
  EXPECT_EQ(decoder.print(cdr_bytes(pose_at(2))),
            "stamp.sec=0 stamp.nanosec=2000000 position.x=1 position.y=-2.5 orientation[0]=1 orientation[1]=0 "
            "orientation[2]=0.25 orientation[3]=0 path[0].x=0 path[0].y=4 path[1].x=1 path[1].y=4 "
            "frame=\"frame_2\" valid=false count=-2");
  EXPECT_EQ(decoder.number(cdr_bytes(pose_at(3)), "path[1].y"), 6.0);
  EXPECT_EQ(decoder.number(cdr_bytes(pose_at(3)), "valid"), 1.0);
  EXPECT_EQ(decoder.number(cdr_bytes(pose_at(3)), "frame"), std::nullopt);
  EXPECT_EQ(decoder.number(cdr_bytes(pose_at(3)), "path[7].y"), std::nullopt);
}

TEST(Decoder, FindsOneNumberAsGoingThroughAllDoesHoweverTheMessageIsCut) {
  const Decoder decoder = decoder_of(ros2msg_schema<Pose>(), message_name<Pose>());
  const auto whole = cdr_bytes(pose_at(5));
  std::vector<std::string> paths{"", "orientation", "orientation[4]", "orientation[x]", "orientation[1", "path[0]"};
  for (const NamedValue& value : decoder.values(whole)) paths.push_back(value.path);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto cut = std::span<const std::byte>(whole).first(size);
    for (const std::string& path : paths) {
      std::optional<double> wanted;
      decoder.each(cut, [&](const std::string& at, const Scalar& value) {
        if (at == path) wanted = to_number(value);
      });
      EXPECT_EQ(decoder.number(cut, path), wanted) << path << " of " << size << " bytes";
    }
  }
}

TEST(Decoder, ReadsBigEndianToo) {
  const Decoder decoder = decoder_of("uint16 a\nint32 b\n");
  const std::array<std::uint8_t, 12> bytes{0, 0, 0, 0, 1, 2, 0, 0, 0xFF, 0xFF, 0xFF, 0xFE};
  EXPECT_EQ(decoder.print(std::as_bytes(std::span(bytes))), "a=258 b=-2");
}

TEST(Decoder, ReadsCommentsConstantsDefaultsAndBounds) {
  const Decoder decoder = decoder_of(
      "# a comment\n"
      "uint8 MODE_A=1\n"
      "string GREETING = hello # world\n"
      "int32 n 5  # default\n"
      "string<=10 name \"x\"\n"
      "int8[<=3] few\n"
      "Inner one\n"
      "duration wait\n"
      "===\n"
      "MSG: p/msg/Inner\n"
      "bool yes\n");
  struct Same {
    std::int32_t n = 7;
    std::string name = "ab";
    std::vector<std::int8_t> few{-1, 2};
    bool yes = true;
    std::int32_t sec = 3;
    std::uint32_t nanosec = 4;
  } same;
  cdr::Writer counter(nullptr);
  const auto put = [&](cdr::Writer& w) {
    w.put(same.n);
    w.put(same.name);
    w.put(same.few);
    w.put(same.yes);
    w.put(same.sec);
    w.put(same.nanosec);
  };
  put(counter);
  mcap::Bytes bytes(4 + counter.size());
  bytes[1] = std::byte{1};
  cdr::Writer writer(bytes.data() + 4);
  put(writer);
  EXPECT_EQ(decoder.print(bytes), "n=7 name=\"ab\" few[0]=-1 few[1]=2 one.yes=true wait.sec=3 wait.nanosec=4");
}

TEST(Decoder, StopsWhereTheBytesStop) {
  const Decoder decoder = decoder_of(ros2msg_schema<Pose>(), message_name<Pose>());
  const auto bytes = cdr_bytes(pose_at(3));
  const std::size_t all = decoder.values(bytes).size();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto nothing = [](const std::string&, const Scalar&) {};
    EXPECT_FALSE(decoder.each(std::span(bytes).first(n), nothing)) << n;
    EXPECT_LT(decoder.values(std::span(bytes).first(n)).size(), all);
  }
}

TEST(Decoder, IsNotKeptBusyByArraysOfNothing) {
  const Decoder decoder = decoder_of("Empty[4000000000] a\n===\nMSG: p/Empty\n");
  const std::array<std::byte, 8> bytes{std::byte{0}, std::byte{1}};
  EXPECT_FALSE(decoder.each(bytes, [](const std::string&, const Scalar&) {}));
}

TEST(Ros2Msg, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(why("float64 x\nThing y\n"), "schema p/T, line 2: nothing defines the type Thing");
  EXPECT_EQ(why("float64\n"), "schema p/T, line 1: a field needs a type and a name");
  EXPECT_EQ(why("float64[x] a\n"), "schema p/T, line 1: a wrong array: float64[x]");
  EXPECT_EQ(why("float64] a\n"), "schema p/T, line 1: a wrong array: float64]");
  EXPECT_EQ(why("float64 a-b\n"), "schema p/T, line 1: not a name: a-b");
  EXPECT_EQ(why("wstring a\n"), "schema p/T, line 1: wstring is not supported");
  EXPECT_EQ(why("T again\n"), "a message contains itself, or messages nest too deeply");
  EXPECT_EQ(why("A a\n===\nMSG: p/A\nB b\n===\nMSG: p/B\nA a\n"),
            "a message contains itself, or messages nest too deeply");
}

TEST(Scalar, IsPrintedAsItReadsBack) {
  EXPECT_EQ(to_string(Scalar(0.1)), "0.1");
  EXPECT_EQ(to_string(Scalar(0.1F)), "0.1");
  EXPECT_EQ(to_string(Scalar(1e300)), "1e+300");
  EXPECT_EQ(to_string(Scalar(std::string("a\"\n"))), "\"a\\x22\\x0a\"");
  EXPECT_EQ(to_number(Scalar(std::int64_t{-4})), -4.0);
}

}  // namespace
}  // namespace isochron
