// Road networks of SUMO: what is read, and what is refused with its place.

#include "road/net_xml.hpp"

#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "road/test/town.hpp"

namespace isochron::road {
namespace {

using test::town;

std::string refused(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) return "not in the text: " + from;
  try {
    (void)read_net_xml(text.replace(at, from.size(), to), "town.net.xml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(RoadNetwork, HasLanesConnectionsSignalsAndPriorities) {
  const Network network = read_net_xml(town, "town.net.xml");
  ASSERT_EQ(network.lanes.size(), 6U);
  const Lane& south = network.lanes[*network.lane("south_1")];
  EXPECT_EQ(south.speed, 8);
  EXPECT_EQ(south.width, 3);
  EXPECT_EQ(length(south.shape), 45);
  EXPECT_FALSE(network.lanes[*network.lane("south_0")].drivable);
  EXPECT_TRUE(network.lanes[*network.lane(":J_0_0")].inner);
  ASSERT_EQ(network.connections.size(), 2U);
  EXPECT_EQ(network.connections[1].from, *network.lane("south_1"));
  EXPECT_EQ(network.connections[1].via, network.lane(":J_1_0"));
  EXPECT_EQ(network.connections[1].signal, 0U);
  EXPECT_EQ(network.connections[1].link, 1U);
  ASSERT_EQ(network.signals.size(), 1U);
  EXPECT_EQ(network.signals[0].phases[2].state, "rg");
  EXPECT_EQ(network.signals[0].phases[2].seconds, 7);
  ASSERT_EQ(network.junctions.size(), 1U);
  EXPECT_EQ(network.junctions[0].links[1].response, "01");
  EXPECT_EQ(network.junctions[0].incoming.size(), 2U);
  EXPECT_EQ(network.way_on(*network.lane("west_0"))->link, 0U);
}

TEST(RoadNetwork, BadInputIsRefusedWithItsPlace) {
  EXPECT_SAYS(refused("<road/>", "road", "street"), "is not a road network of SUMO");
  EXPECT_SAYS(refused("<net/>", "net", "net"), "the network has no lane");
  EXPECT_SAYS(refused(town, "</net>", ""), "is not XML");
  EXPECT_SAYS(refused(town, "0,50 45,50", "0,50 45"), "town.net.xml:6:");
  EXPECT_SAYS(refused(town, "0,50 45,50", "0,50 nan,50"), "`shape` must be points");
  EXPECT_SAYS(refused(town, "0,50 45,50", "0,50"), "lane `west_0` has no length");
  EXPECT_SAYS(refused(town, "0,50 45,50", "0,50 1e300,50"), "`shape` must be points");
  EXPECT_SAYS(refused(town, "fromLane=\"1\"", "fromLane=\"9\""), "there is no lane `south_9`");
  EXPECT_SAYS(refused(town, "linkIndex=\"1\"", "linkIndex=\"2\""), "the lights have no link 2");
  EXPECT_SAYS(refused(town, "tl=\"J\"", "tl=\"K\""), "there are no lights `K`");
  EXPECT_SAYS(refused(town, "width=\"3\"", "width=\"-3\""), "`width` must be from 0 to 100 m");
  EXPECT_SAYS(refused(town, "speed=\"8\"", "speed=\"fast\""), "is not a number here");
  EXPECT_SAYS(refused(town, "id=\"east_0\"", "id=\"west_0\""), "there are two lanes `west_0`");
}

TEST(RoadNetwork, AConfigurationNamesItsNetwork) {
  EXPECT_EQ(net_file_of("<configuration><input><net-file value='a.net.xml'/></input></configuration>", "a.sumocfg"),
            "a.net.xml");
  EXPECT_EQ(net_file_of("<configuration/>", "a.sumocfg"), "");
}

}  // namespace
}  // namespace isochron::road
