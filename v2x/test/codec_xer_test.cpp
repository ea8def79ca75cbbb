// Messages in XER, as other tools export them, and MAPs as lanes in the world.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "v2x/station/map_shapes.hpp"
#include "v2x/test/vectors.hpp"

namespace isochron::v2x {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// XER of what JSON has in the standard's integers, for structures without lists of choices.
std::string xer(const std::string& name, const Json& value, const std::string& item) {
  std::string inside;
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) inside += xer(key, child, "item");
  } else if (value.is_array()) {
    for (const auto& child : value)
      inside += child.is_string() ? "<" + child.get<std::string>() + "/>" : xer(item, child, "item");
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const bool bits = text.find_first_not_of("01") == std::string::npos;
    inside = bits || name == "name" ? text : "<" + text + "/>";
  } else {
    inside = value.dump();
  }
  return "<" + name + ">" + inside + "</" + name + ">";
}

TEST(Xer, ReadsTheSameMapAndSpatAsUper) {
  int read = 0;
  for (const auto& vector : vectors()) {
    const std::string type = vector.at("type");
    if (type == "BSM") continue;
    SCOPED_TRACE(vector.at("name").get<std::string>());
    const Frame frame = *decode(octets_of(vector));
    const std::string key = type == "MAP" ? "MAP" : "SPAT", element = type == "MAP" ? "MapData" : "SPAT";
    const Json json = Json::parse(to_json(frame, JsonForm::j2735)).at(key);
    const auto again = from_xer("<?xml version=\"1.0\"?><Ode><MessageFrame><messageId>18</messageId><value>" +
                                xer(element, json, "item") + "</value></MessageFrame></Ode>");
    ASSERT_TRUE(again.ok()) << to_string(again.error());
    EXPECT_EQ(*again, frame);
    ++read;
  }
  EXPECT_EQ(read, 5);
}

std::string error_of(const std::string& text) {
  const auto frame = from_any_text(text);
  return frame.ok() ? "" : to_string(frame.error());
}

TEST(Xer, MistakesAreNamed) {
  EXPECT_THAT(error_of("<a>"), HasSubstr("not XML"));
  EXPECT_THAT(error_of("<a/>"), HasSubstr("no element that is a message"));
  EXPECT_THAT(error_of("<MapData/>"), HasSubstr("MAP.msgIssueRevision: is missing"));
  EXPECT_THAT(error_of("<MapData><msgIssueRevision>x</msgIssueRevision></MapData>"),
              HasSubstr("must be a whole number"));
  EXPECT_THAT(error_of("<MapData><msgIssueRevision>300</msgIssueRevision></MapData>"),
              HasSubstr("300 is outside 0..127"));
  EXPECT_THAT(error_of("<MapData><msgIssueRevision>3</msgIssueRevision><lanes/></MapData>"),
              HasSubstr("MAP.lanes: is not known"));
  EXPECT_THAT(error_of("<MapData><msgIssueRevision>3</msgIssueRevision><layerType><x/></layerType></MapData>"),
              HasSubstr("unknown value `x`"));
  EXPECT_THAT(error_of("hello"), HasSubstr("neither JSON nor XML"));
  EXPECT_THAT(error_of("{}"), HasSubstr("needs a message"));
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "<a>";
  EXPECT_NE(error_of(deep), "");
}

IntersectionShape a_crossing() {
  IntersectionShape shape;
  shape.name = "crossing";
  shape.id = 7;
  shape.reference = {10, 20, 0};
  shape.lane_width_m = 3.2;
  shape.speed_limit_m_s = 8;
  shape.lanes = {{"in", {{1.75, -13, 0}, {1.75, -110, 0}}, 2, {{1, 2}}},
                 {"out", {{1.75, 13, 0}, {1.75, 110, 0}}, 0, {}}};
  return shape;
}

TEST(MapShapes, ComeBackFromAMap) {
  const GeoFrame frame(43, -89);
  const IntersectionShape shape = a_crossing();
  const auto back = shapes_of(std::get<MapData>(decode(encode_map(shape, frame))->message), frame);
  ASSERT_EQ(back.size(), 1u);
  const IntersectionShape& made = back[0].shape;
  EXPECT_EQ(back[0].left_out, std::vector<std::string>());
  EXPECT_EQ(made.name, "crossing");
  EXPECT_EQ(made.id, 7);
  EXPECT_NEAR(made.reference.x, 10, 0.02);
  EXPECT_NEAR(made.lane_width_m, 3.2, 0.01);
  EXPECT_NEAR(made.speed_limit_m_s, 8, 0.02);
  ASSERT_EQ(made.lanes.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(made.lanes[i].name, shape.lanes[i].name);
    EXPECT_EQ(made.lanes[i].signal_group, shape.lanes[i].signal_group);
    ASSERT_EQ(made.lanes[i].nodes.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_LT(distance(made.lanes[i].nodes[k], shape.lanes[i].nodes[k]), 0.03);
  }
  ASSERT_EQ(made.lanes[0].leads_to.size(), 1u);
  EXPECT_EQ(made.lanes[0].leads_to[0].lane, 1);
}

TEST(MapShapes, PublicMapsAreLaidOut) {
  for (const auto& vector : vectors()) {
    if (vector.at("type") != "MAP") continue;
    SCOPED_TRACE(vector.at("name").get<std::string>());
    const Frame frame = *decode(octets_of(vector));
    const auto& map = std::get<MapData>(frame.message);
    const auto& at = map.intersections[0].reference;
    const auto shapes = shapes_of(map, GeoFrame(*at.latitude_deg, *at.longitude_deg));
    ASSERT_EQ(shapes.size(), 1u);
    EXPECT_GE(shapes[0].shape.lanes.size(), 12u);
    std::size_t leads = 0, signalled = 0;
    for (const LaneShape& lane : shapes[0].shape.lanes) {
      leads += lane.leads_to.size();
      signalled += lane.signal_group > 0 ? 1 : 0;
      for (const Vec3& node : lane.nodes) EXPECT_LT(distance(node, {}), 600);
    }
    EXPECT_GT(leads, 5u);
    EXPECT_GT(signalled, 5u);
  }
}

}  // namespace
}  // namespace isochron::v2x
