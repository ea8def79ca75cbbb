// Messages that are wrong: cut off, with a bit flipped, out of range. Decoded or refused with a reason; never a crash,
// a read beyond the end (this runs under AddressSanitizer too) or a long wait.

#include <gtest/gtest.h>

#include "v2x/test/vectors.hpp"

namespace isochron::v2x {
namespace {

/// What decodes must encode again, to something that decodes to the same.
void expect_decoded_or_refused(const Bytes& octets) {
  const auto exact = std::make_unique<std::uint8_t[]>(octets.size());  // so that a read beyond the end is noticed
  std::copy(octets.begin(), octets.end(), exact.get());
  const auto frame = decode({exact.get(), octets.size()});
  if (!frame.ok()) {
    EXPECT_FALSE(frame.error().what.empty());
    return;
  }
  const auto again = encode(*frame);
  ASSERT_TRUE(again.ok()) << to_string(again.error());
  const auto twice = decode(*again);
  ASSERT_TRUE(twice.ok()) << to_string(twice.error());
  EXPECT_EQ(*twice, *frame);
}

TEST(CodecBadInput, EveryTruncationIsRefusedWithAReason) {
  for (const auto& vector : vectors()) {
    const Bytes whole = octets_of(vector);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(n));
      const auto exact = std::make_unique<std::uint8_t[]>(n);
      std::copy(cut.begin(), cut.end(), exact.get());
      const auto frame = decode({exact.get(), n});
      ASSERT_FALSE(frame.ok()) << vector.at("name") << " cut to " << n;
      EXPECT_FALSE(frame.error().what.empty());
    }
  }
}

TEST(CodecBadInput, ATruncatedBodyIsRefusedAtTheFieldWhereItEnds) {
  Bytes bsm = octets_of(vectors().at(0));
  bsm.resize(23);
  bsm[2] = 20;  // the length says so too
  const auto frame = decode(bsm);
  ASSERT_FALSE(frame.ok());
  EXPECT_EQ(to_string(frame.error()), "BSM.coreData.accuracy.orientation: the message ends here");
}

TEST(CodecBadInput, EverySingleBitFlipIsDecodedOrRefused) {
  for (const auto& vector : vectors()) {
    const Bytes whole = octets_of(vector);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      SCOPED_TRACE(vector.at("name").get<std::string>() + " bit " + std::to_string(bit));
      Bytes flipped = whole;
      flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1u << bit % 8);
      expect_decoded_or_refused(flipped);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CodecBadInput, OctetsBehindTheFrameAreIgnored) {
  Bytes bsm = octets_of(vectors().at(0));
  const auto plain = decode(bsm);
  bsm.push_back(0xff);
  EXPECT_EQ(*decode(bsm), *plain);
}

TEST(CodecBadInput, ValuesOutsideTheirRangeAreRefusedOnDecode) {
  Bytes bsm = octets_of(vectors().at(0));
  // long starts at bit 24 + 3 + 7 + 32 + 16 + 31 of the frame and takes 32; all ones is beyond 1800000001.
  for (std::size_t bit = 113; bit < 145; ++bit) bsm[bit / 8] |= static_cast<std::uint8_t>(0x80u >> bit % 8);
  const auto frame = decode(bsm);
  ASSERT_FALSE(frame.ok());
  EXPECT_EQ(frame.error().field, "BSM.coreData.long");
}

Frame a_bsm() { return *decode(octets_of(vectors().at(0))); }

void expect_refused(const Frame& frame, const std::string& field, const std::string& what) {
  const auto octets = encode(frame);
  ASSERT_FALSE(octets.ok()) << field;
  EXPECT_EQ(octets.error().field, field);
  EXPECT_NE(octets.error().what.find(what), std::string::npos) << octets.error().what;
}

TEST(CodecBadInput, ValuesOutsideTheirRangeAreRefusedOnEncodeWithTheFieldsName) {
  Frame frame = a_bsm();
  auto& core = std::get<Bsm>(frame.message).core;
  const auto reset = [&] { frame = a_bsm(); };
  core.speed_m_s = 163.83;  // would mean "unavailable"
  expect_refused(frame, "BSM.coreData.speed", "outside 0..163.8");
  reset();
  core.speed_m_s = -0.02;
  expect_refused(frame, "BSM.coreData.speed", "-0.02 m/s is");
  reset();
  core.latitude_deg = 90.001;
  expect_refused(frame, "BSM.coreData.lat", "outside -90..90");
  reset();
  core.latitude_deg = std::nan("");
  expect_refused(frame, "BSM.coreData.lat", "nan");
  reset();
  core.longitude_deg = std::numeric_limits<double>::infinity();
  expect_refused(frame, "BSM.coreData.long", "inf");
  reset();
  core.msg_count = 128;
  expect_refused(frame, "BSM.coreData.msgCnt", "128 is outside 0..127");
  reset();
  core.brakes.wheel_brakes = Flags(6);
  expect_refused(frame, "BSM.coreData.brakes.wheelBrakes", "6 flags");
  reset();
  core.brakes.boost = static_cast<BrakeBoost>(3);
  expect_refused(frame, "BSM.coreData.brakes.brakeBoost", "3 is outside 0..2");
  reset();
  std::get<Bsm>(frame.message).part2.resize(9);
  expect_refused(frame, "BSM.partII", "9 items");
  reset();
  std::get<Bsm>(frame.message).part2.push_back(OpaquePart{64, {1}, ""});
  expect_refused(frame, "BSM.partII[0].partII-Id", "64 is outside 0..63");
}

TEST(CodecBadInput, ListsAndTextsOfTheWrongSizeAreRefusedOnEncode) {
  Frame frame = *decode(octets_of(vectors().at(7)));
  auto& lane = std::get<MapData>(frame.message).intersections.at(0).lanes.at(3);
  lane.nodes.clear();
  expect_refused(frame, "MAP.intersections[0].laneSet[3].nodeList.nodes", "0 items, must have 2..63");
  lane.geometry = LaneGeometry::computed;
  expect_refused(frame, "MAP.intersections[0].laneSet[3].nodeList.computed", "not set");
  lane.computed.emplace();
  EXPECT_TRUE(encode(frame).ok());
  lane.name = std::string(64, 'x');
  expect_refused(frame, "MAP.intersections[0].laneSet[3].name", "64 characters");
  lane.name = "\xc3\xa9";
  expect_refused(frame, "MAP.intersections[0].laneSet[3].name", "ASCII");
  lane.name.clear();
  lane.type = LaneType::bike;
  expect_refused(frame, "MAP.intersections[0].laneSet[3].laneAttributes.laneType.bikeLane", "8 flags, must have 16");
  frame.message = OtherMessage{40000, {}};
  expect_refused(frame, "messageId", "40000");
  frame.message = OtherMessage{23, Bytes(20000)};
  expect_refused(frame, "", "16383");
}

TEST(CodecBadInput, ANumberBeyondAnyDoubleIsRefused) {
  const auto frame = from_json(R"({"messageId": 20, "units": "si", "BSM": {"speed_m_s": 1e999}})");
  ASSERT_FALSE(frame.ok());
  EXPECT_NE(to_string(frame.error()).find("too large"), std::string::npos) << to_string(frame.error());
}

TEST(CodecBadInput, AMessageOfAnotherKindIsKeptAsOctets) {
  const Frame frame{OtherMessage{23, {1, 2, 3}}, {}};
  const auto octets = encode(frame);
  EXPECT_EQ(to_hex(*octets), "001703010203");
  EXPECT_EQ(*decode(*octets), frame);
  EXPECT_EQ(*from_json(to_json(frame)), frame);
}

TEST(CodecBadInput, AnEmptyMessageOfAnotherKindStaysEmpty) {
  const Frame frame{OtherMessage{23, {}}, {}};
  EXPECT_EQ(to_hex(*encode(frame)), "001700");
  EXPECT_EQ(*decode(*encode(frame)), frame);
}

TEST(CodecBadInput, ABrokenPartIIContainerCostsOnlyItself) {
  Frame frame = a_bsm();
  std::get<Bsm>(frame.message).part2.push_back(OpaquePart{0, {0xff}, ""});
  std::get<Bsm>(frame.message).part2.push_back(OpaquePart{9, {1, 2}, ""});
  const auto octets = encode(frame);
  const auto again = decode(*octets);
  ASSERT_TRUE(again.ok());
  const auto& parts = std::get<Bsm>(again->message).part2;
  EXPECT_NE(std::get<OpaquePart>(parts.at(0)).reason.find("ends here"), std::string::npos);
  EXPECT_TRUE(std::get<OpaquePart>(parts.at(1)).reason.empty());
  EXPECT_EQ(*encode(*again), *octets);
}

void expect_json_refused(const std::string& text, const std::string& field, const std::string& what) {
  const auto frame = from_json(text);
  ASSERT_FALSE(frame.ok()) << text;
  EXPECT_EQ(frame.error().field, field);
  EXPECT_NE(frame.error().what.find(what), std::string::npos) << frame.error().what;
}

TEST(CodecBadInput, JsonMistakesAreNamed) {
  expect_json_refused("{", "", "not JSON");
  expect_json_refused("[]", "", "must be an object");
  expect_json_refused("{}", "", "needs a message");
  expect_json_refused(R"({"BMS": {}})", "BMS", "unknown key");
  expect_json_refused(R"({"BSM": {}, "units": "imperial"})", "units", "si");
  expect_json_refused(R"({"BSM": {}})", "BSM.coreData", "is missing");
  expect_json_refused(R"({"BSM": 3})", "BSM", "must be an object");
  expect_json_refused(R"({"messageId": 70000, "value": ""})", "messageId", "outside");
  expect_json_refused(R"({"messageId": 23, "value": "0g"})", "value", "hexadecimal");
  nlohmann::json good = nlohmann::json::parse(to_json(a_bsm()));
  nlohmann::json bad = good;
  bad["BSM"]["coreData"]["speed_m_s"] = "fast";
  expect_json_refused(bad.dump(), "BSM.coreData.speed_m_s", "number or null");
  bad = good;
  bad["BSM"]["coreData"]["speed_m_s"] = 1e9;
  expect_json_refused(bad.dump(), "BSM.coreData.speed_m_s", "outside 0..163.8");
  bad = good;
  bad["BSM"]["coreData"]["speed"] = 3;
  expect_json_refused(bad.dump(), "BSM.coreData.speed", "unknown key");
  bad = good;
  bad["BSM"]["coreData"]["transmission"] = "sideways";
  expect_json_refused(bad.dump(), "BSM.coreData.transmission", "sideways");
  bad = good;
  bad["messageId"] = 18;
  expect_json_refused(bad.dump(), "messageId", "not that of the message");
  good["BSM"]["coreData"]["speed_m_s"] = nullptr;
  EXPECT_FALSE(std::get<Bsm>(from_json(good.dump())->message).core.speed_m_s.has_value());
}

TEST(CodecBadInput, HexMistakesAreNamed) {
  EXPECT_EQ(from_hex("00 1").ok(), false);
  EXPECT_EQ(*from_hex("00 1a\n"), (Bytes{0, 0x1a}));
  EXPECT_NE(from_hex("00x1").error().what.find("3"), std::string::npos);
}

TEST(NodeOffset, TakesTheSmallestFormThatHoldsIt) {
  EXPECT_EQ(Node::offset(5.11, -5.12).form, NodeForm::xy20);
  EXPECT_EQ(Node::offset(5.12, 0).form, NodeForm::xy22);
  EXPECT_EQ(Node::offset(0, -81.92).form, NodeForm::xy28);
  EXPECT_EQ(Node::offset(100, 0).form, NodeForm::xy32);
}

}  // namespace
}  // namespace isochron::v2x
