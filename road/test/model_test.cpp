// What is made of a road network: a model to drive on, and what MAP messages tell.

#include "road/model.hpp"

#include <gtest/gtest.h>

#include "road/intersections.hpp"
#include "road/net_xml.hpp"
#include "road/test/town.hpp"

namespace isochron::road {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(RoadModel, HasGroundLanesStopLinesHeadsAndBodies) {
  const Network network = read_net_xml(test::town, "town.net.xml");
  const std::string model = model_text(network, {"town", {50, 50}, 2});
  for (const char* name :
       {"\"ground\"", "\"lane/west_0/0\"", "\"lane/:J_1_0/1\"", "\"stop/west_0\"", "\"stop/south_1\"", "\"signal/J/0\"",
        "\"signal/J/1\"", "\"traffic_00\"", "\"traffic_01\""}) {
    EXPECT_TRUE(has(model, name)) << name << "\n" << model;
  }
  EXPECT_FALSE(has(model, "south_0")) << "nobody drives on a pavement";
  EXPECT_FALSE(has(model, "stop/east_0")) << "nobody waits where nothing comes";
  // west_0 goes from (-50, 0) to (-5, 0), seen from the origin.
  EXPECT_TRUE(has(model, "size=\"22.5 1.6 0.005\" pos=\"-27.5 0 0.005\"")) << model;
}

TEST(RoadModel, RoadsThatAreNotFlatAreGround) {
  std::string hill = test::town;
  const std::string from = "shape=\"0,50 45,50\"";
  hill.replace(hill.find(from), from.size(), "shape=\"0,50,5 45,50,0\"");
  const std::string model = model_text(read_net_xml(hill, "hill.net.xml"), {});
  EXPECT_TRUE(has(model, "\"ground/lane/west_0/0\"")) << model;
}

TEST(RoadModel, NamesAreEscaped) {
  std::string odd = test::town;
  for (auto at = odd.find("west"); at != std::string::npos; at = odd.find("west", at))
    odd.replace(at, 4, "w&lt;&quot;");
  const std::string model = model_text(read_net_xml(odd, "odd.net.xml"), {});
  EXPECT_TRUE(has(model, "\"lane/w&lt;&quot;_0/0\"")) << model;
}

TEST(RoadIntersections, TellLanesFromTheStopLineOutwards) {
  const Network network = read_net_xml(test::town, "town.net.xml");
  const std::string text = intersections_text(network, {50, 50});
  EXPECT_TRUE(has(text, "west_0: {nodes: [[-5, 0], [-50, 0]], head: \"0\", to: [east_0]}")) << text;
  EXPECT_TRUE(has(text, "south_1: {nodes: [[0, -5], [0, -50]], head: \"1\", to: [east_0]}")) << text;
  EXPECT_TRUE(has(text, "east_0: {nodes: [[5, 0], [50, 0]]}")) << text;
  EXPECT_TRUE(has(text, "- {lasts: 7s, green: [\"1\"], yellow: []}")) << text;
}

TEST(RoadIntersections, WithoutSignalsThereAreNone) {
  Network network = read_net_xml(test::town, "town.net.xml");
  network.signals.clear();
  EXPECT_EQ(intersections_text(network, {}), "");
}

}  // namespace
}  // namespace isochron::road
