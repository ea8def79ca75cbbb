// Public messages: every decoded value, and every octet on the way back.

#include <gtest/gtest.h>

#include "v2x/test/vectors.hpp"

namespace isochron::v2x {
namespace {

using Json = nlohmann::json;

/// The vectors show Part II as octets, some with their meaning beside; ours shows the meaning. Compared octet by octet
/// elsewhere, so the octets go.
void drop_part_octets(Json& message) {
  if (!message.contains("partII")) return;
  for (auto& part : message["partII"]) {
    if (part.size() == 3) part.erase("partII-Value");
  }
}

TEST(CodecVectors, DecodeToTheKnownValues) {
  ASSERT_EQ(vectors().size(), 9u);
  for (const auto& vector : vectors()) {
    SCOPED_TRACE(vector.at("name").get<std::string>());
    const auto frame = decode(octets_of(vector));
    ASSERT_TRUE(frame.ok()) << to_string(frame.error());
    const Json ours = Json::parse(to_json(*frame, JsonForm::j2735));
    EXPECT_EQ(ours.at("messageId"), vector.at("messageId"));
    const std::string type = vector.at("type") == "SPaT" ? "SPAT" : vector.at("type").get<std::string>();
    Json theirs = vector.at("decoded");
    Json message = ours.at(type);
    drop_part_octets(theirs);
    if (theirs.contains("partII")) {
      // Containers whose meaning the vector does not give.
      for (std::size_t i = 0; i < theirs["partII"].size(); ++i) {
        if (theirs["partII"][i].contains("partII-Value")) message["partII"][i] = theirs["partII"][i];
      }
    }
    EXPECT_EQ(message, theirs) << Json::diff(theirs, message);
  }
}

TEST(CodecVectors, EncodeToTheSameOctets) {
  for (const auto& vector : vectors()) {
    SCOPED_TRACE(vector.at("name").get<std::string>());
    const auto frame = decode(octets_of(vector));
    ASSERT_TRUE(frame.ok());
    const auto again = encode(*frame);
    ASSERT_TRUE(again.ok()) << to_string(again.error());
    EXPECT_EQ(to_hex(*again), vector.at("hex").get<std::string>());
  }
}

TEST(CodecVectors, SurviveJsonInBothForms) {
  for (const auto& vector : vectors()) {
    SCOPED_TRACE(vector.at("name").get<std::string>());
    const auto frame = decode(octets_of(vector));
    for (const auto form : {JsonForm::si, JsonForm::j2735}) {
      const auto again = from_json(to_json(*frame, form));
      ASSERT_TRUE(again.ok()) << to_string(again.error());
      EXPECT_EQ(*again, *frame);
      EXPECT_EQ(to_hex(*encode(*again)), vector.at("hex").get<std::string>());
    }
  }
}

TEST(CodecVectors, AreInSiUnits) {
  const auto frame = decode(octets_of(vectors().at(0)));
  const auto& core = std::get<Bsm>(frame->message).core;
  EXPECT_DOUBLE_EQ(*core.latitude_deg, 3.8954961);
  EXPECT_DOUBLE_EQ(*core.elevation_m, 7.2);
  EXPECT_DOUBLE_EQ(*core.sec_mark_s, 1.023);
  EXPECT_DOUBLE_EQ(*core.speed_m_s, 2.0);
  EXPECT_NEAR(*core.heading_rad, 12 * 0.0125 * 3.14159265358979 / 180, 1e-12);
  EXPECT_NEAR(*core.acceleration.vertical_m_s2, 2 * 9.80665, 1e-9);
  EXPECT_DOUBLE_EQ(*core.size.length_m, 5.0);
  const auto unknown = decode(octets_of(vectors().at(3)));
  const auto& other = std::get<Bsm>(unknown->message).core;
  EXPECT_FALSE(other.accuracy.semi_major_m.has_value());
  EXPECT_FALSE(other.steering_angle_rad.has_value());
  EXPECT_FALSE(other.size.width_m.has_value());
  EXPECT_EQ(other.transmission, TransmissionState::unavailable);
}

TEST(CodecVectors, ReadPartIIContainersWhoseMeaningTheSourceLeavesOut) {
  const auto siren = decode(octets_of(vectors().at(1)));
  const auto& special = std::get<SpecialVehicleExtensions>(std::get<Bsm>(siren->message).part2.at(0));
  EXPECT_EQ(special.alerts->siren, SirenUse::in_use);
  EXPECT_EQ(special.alerts->lightbar, LightbarUse::in_use);
  EXPECT_EQ(special.alerts->response, ResponseType::emergency);
  const auto obu = decode(octets_of(vectors().at(2)));
  const auto& extra = std::get<SupplementalVehicleExtensions>(std::get<Bsm>(obu->message).part2.at(1));
  EXPECT_DOUBLE_EQ(*extra.vehicle->height_m, 1.9);
  EXPECT_EQ(extra.weather_probe->air_temperature_degc, std::optional<Known>(Known()));
}

}  // namespace
}  // namespace isochron::v2x
