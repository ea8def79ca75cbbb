#include "run/wire_format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace isochron {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

WireFormat json_format() { return {WireForm::json, {{"t"}, {"scan", WireType::float64, true, 0}}}; }

TEST(WireFormat, WritesJsonThatReadsBack) {
  const WireFormat format = json_format();
  std::vector<std::byte> out;
  format.encode(std::vector<std::vector<double>>{{0.1}, {1, nan, -2.5e-9}}, out);
  EXPECT_EQ(text_of(out), "{\"t\":0.1,\"scan\":[1,null,-2.5e-09]}\n");
  format.encode(std::vector<std::vector<double>>{{}, {}}, out);
  EXPECT_EQ(text_of(out), "{\"t\":null,\"scan\":[]}\n");
}

TEST(WireFormat, TakesWhatAJsonMessageHas) {
  const WireFormat format = json_format();
  WireFormat::Taken taken;
  ASSERT_TRUE(format.decode(bytes_of(R"( {"scan": [1, 2.5], "more": "x"} )"), taken).ok());
  EXPECT_TRUE(taken.values[0].empty());
  EXPECT_EQ(taken.values[1], (std::vector<double>{1, 2.5}));
  EXPECT_EQ(taken.unknown, std::vector<std::string>{"more"});
}

TEST(WireFormat, SaysWhyAJsonMessageIsRefused) {
  const WireFormat format = json_format();
  WireFormat::Taken taken;
  const auto why = [&](std::string_view text) {
    const auto result = format.decode(bytes_of(text), taken);
    return result.ok() ? std::string("fine") : result.error();
  };
  EXPECT_EQ(why("force: 1"), "it is not JSON");
  EXPECT_EQ(why("[1]"), "it is JSON, but not an object");
  EXPECT_EQ(why(R"({"t": "1"})"), "its `t` is not a number");
  EXPECT_EQ(why(R"({"t": [1]})"), "its `t` is not a number");
  EXPECT_EQ(why(R"({"scan": [1, null]})"), "its `scan` is not a list of numbers");
  EXPECT_EQ(why(R"({"x": 1})"), "it has none of the fields t, scan");
  EXPECT_EQ(why(std::string(WireFormat::longest + 1, ' ')), "it is longer than 65536 bytes");
  EXPECT_EQ(why(std::string(60000, '[')), "it is not JSON");
}

TEST(WireFormat, WritesBinaryInBothByteOrders) {
  const std::vector<WireField> fields{{"magic", WireType::uint16}, {"x", WireType::float32, true, 2}};
  const std::vector<std::vector<double>> values{{18450}, {1}};
  std::vector<std::byte> out;
  WireFormat(WireForm::little, fields).encode(values, out);
  EXPECT_EQ(text_of(out).substr(0, 6), std::string("\x12\x48\x00\x00\x80\x3f", 6));
  ASSERT_EQ(out.size(), 10U);
  WireFormat::Taken taken;
  ASSERT_TRUE(WireFormat(WireForm::little, fields).decode(out, taken).ok());
  EXPECT_EQ(taken.values[1][0], 1);
  EXPECT_TRUE(std::isnan(taken.values[1][1]));  // there was none
  WireFormat(WireForm::big, fields).encode(values, out);
  EXPECT_EQ(text_of(out).substr(0, 6), std::string("\x48\x12\x3f\x80\x00\x00", 6));
}

TEST(WireFormat, KeepsIntegersInRange) {
  for (const WireType type : {WireType::int8, WireType::uint8, WireType::int16, WireType::uint16, WireType::int32,
                              WireType::uint32, WireType::int64, WireType::uint64}) {
    const WireFormat format(WireForm::little, {{"n", type, true, 4}});
    std::vector<std::byte> out;
    format.encode(std::vector<std::vector<double>>{{1e300, -1e300, nan, 2.6}}, out);
    WireFormat::Taken taken;
    ASSERT_TRUE(format.decode(out, taken).ok());
    const bool natural = static_cast<int>(type) % 2 == 1;
    const double high = std::pow(2.0, 8.0 * static_cast<double>(size_of(type)) - (natural ? 0 : 1));
    EXPECT_NEAR(taken.values[0][0], high, 1);
    EXPECT_EQ(taken.values[0][1], natural ? 0 : -high);
    EXPECT_EQ(taken.values[0][2], 0);
    EXPECT_EQ(taken.values[0][3], 3);
  }
}

TEST(WireFormat, RefusesBinaryOfAnotherLength) {
  const WireFormat format(WireForm::little, {{"n", WireType::uint32}});
  WireFormat::Taken taken;
  EXPECT_EQ(format.decode(bytes_of("abc"), taken).error(), "it has 3 bytes instead of 4");
  EXPECT_EQ(format.decode(bytes_of("abcde"), taken).error(), "it has 5 bytes instead of 4");
}

TEST(WireFormat, CutsAStreamIntoMessages) {
  EXPECT_EQ(json_format().first_message(bytes_of("{}\n{")), 3U);
  EXPECT_EQ(json_format().first_message(bytes_of("{}")), 0U);
  const WireFormat binary(WireForm::big, {{"n", WireType::uint32}});
  EXPECT_EQ(binary.first_message(bytes_of("abcdefg")), 4U);
  EXPECT_EQ(binary.first_message(bytes_of("abc")), 0U);
}

}  // namespace
}  // namespace isochron
