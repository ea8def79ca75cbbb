#include "bridge/ros2/types.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bridge/ros2/checker.hpp"
#include "bridge/ros2/discovery.hpp"
#include "bridge/ros2/names.hpp"
#include "bridge/ros2/qos.hpp"
#include "bridge/ros2/test/random_message.hpp"
#include "core/input_error.hpp"

namespace isochron::ros2 {
namespace {

TEST(Names, StandInDdsAsRosHasThem) {
  EXPECT_EQ(dds_topic(full_name("/robot/scan", "/", "n")), "rt/robot/scan");
  EXPECT_EQ(full_name("scan", "/robot", "n"), "/robot/scan");
  EXPECT_EQ(full_name("~/pause", "/robot", "n"), "/robot/n/pause");
  EXPECT_EQ(dds_request("/n/pause"), "rq/n/pauseRequest");
  EXPECT_EQ(dds_reply("/n/pause"), "rr/n/pauseReply");
  EXPECT_EQ(dds_type("sensor_msgs/msg/LaserScan"), "sensor_msgs::msg::dds_::LaserScan_");
  EXPECT_EQ(dds_type("std_srvs/srv/Trigger", "_Request"), "std_srvs::srv::dds_::Trigger_Request_");
  EXPECT_EQ(full_type_name("std_msgs/String"), "std_msgs/msg/String");
  EXPECT_EQ(ros_topic("rt/robot/scan"), "/robot/scan");
  EXPECT_EQ(ros_type("sensor_msgs::msg::dds_::LaserScan_"), "sensor_msgs/msg/LaserScan");
}

TEST(Names, WhatIsNoneIsRefused) {
  for (const char* bad : {"", "/", "a//b", "/a/", "/1a", "a b", "/a-b", "~"}) {
    EXPECT_THROW((void)full_name(bad, "/", "n"), InputError) << bad;
  }
  EXPECT_THROW((void)full_namespace("a b"), InputError);
  EXPECT_THROW(check_node_name("a/b"), InputError);
}

class UserTypes : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ / "shop_msgs/msg"); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / "shop_msgs/msg" / name) << text;
  }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("types" + std::to_string(getpid()));
};

TEST_F(UserTypes, AreReadFromTheirFiles) {
  write("Item.msg", "# a thing\nstring<=16 name  # bounded\nuint8 KIND=3\nfloat32[<=4] prices\n");
  write("Cart.msg",
        "std_msgs/Header header\nItem[] items\nItem[2] gifts\nint32 n 5\nbuiltin_interfaces/Duration age\n");
  Types types;
  types.add((folder_ / "shop_msgs").string());
  const flow::PayloadType& cart = types.type("shop_msgs/Cart");
  EXPECT_EQ(cart.name, "shop_msgs/msg/Cart");
  EXPECT_NE(cart.schema.find("MSG: shop_msgs/Item\n"), std::string::npos);
  const auto schema = parse_ros2msg(cart.name, types.definition("shop_msgs/Cart"));
  ASSERT_TRUE(schema.ok()) << schema.error();
  EXPECT_STREQ(Checker(*schema).refuses(RandomMessage(*schema, 3).make()), "");
}

TEST_F(UserTypes, MistakesHaveTheirFileAndLine) {
  write("Bad.msg", "int32 n\nfloat64\n");
  Types types;
  try {
    types.add((folder_ / "shop_msgs/msg/Bad.msg").string());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.mistakes().front().place.line, 2);
  }
  write("Bad.msg", "Missing thing\n");
  types.add((folder_ / "shop_msgs/msg/Bad.msg").string());
  EXPECT_THROW((void)types.type("shop_msgs/Bad"), InputError);
  write("Bad.msg", "Bad inner\n");
  types.add((folder_ / "shop_msgs/msg/Bad.msg").string());
  EXPECT_THROW((void)types.type("shop_msgs/Bad"), InputError);
  EXPECT_THROW((void)types.type("std_msgs/Sting"), InputError);
  EXPECT_THROW(types.add(folder_.string()), InputError);
}

TEST(Checker, RefusesWhatIsCutOrToldWrong) {
  const Types types;
  for (const std::string& name : types.names()) {
    const auto schema = parse_ros2msg(name, types.definition(name));
    const Checker checker(*schema);
    const std::vector<std::byte> good = RandomMessage(*schema, 7).make();
    ASSERT_STREQ(checker.refuses(good), "") << name;
    for (std::size_t size = 0; size < good.size(); ++size) {
      EXPECT_STRNE(checker.refuses(std::span(good).first(size)), "") << name << " cut to " << size;
    }
    std::vector<std::byte> longer = good;
    longer.resize(good.size() + 5);
    EXPECT_STRNE(checker.refuses(longer), "") << name;
    std::vector<std::byte> big_endian = good;
    big_endian[1] = std::byte{0};
    EXPECT_STRNE(checker.refuses(big_endian), "") << name;
  }
}

TEST(Discovery, InfoIsReadInBothSizesOfIdentities) {
  ParticipantInfo info;
  info.identity[3] = 7;
  info.nodes.push_back({"/robot", "driver", {Identity{1}, Identity{2}}, {Identity{3}}});
  info.nodes.push_back({"/", "other", {}, {}});
  for (const IdentitySize size : {IdentitySize::humble, IdentitySize::iron}) {
    const std::vector<std::byte> cdr = to_cdr(info, size);
    const auto back = participant_from_cdr(cdr);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->identity, info.identity);
    ASSERT_EQ(back->nodes.size(), 2U);
    EXPECT_EQ(back->nodes[0].name, "driver");
    EXPECT_EQ(back->nodes[0].readers, info.nodes[0].readers);
    EXPECT_FALSE(participant_from_cdr(std::span(cdr).first(cdr.size() / 2)));
  }
}

TEST(Quality, MismatchesAreSaidWithBothSides) {
  const Qos reliable{true, false, 10, {}}, best_effort{false, false, 5, {}}, latched{true, true, 1, {}};
  EXPECT_EQ(mismatch(reliable, best_effort), "");
  EXPECT_NE(mismatch(best_effort, reliable), "");
  EXPECT_NE(mismatch(reliable, latched), "");
  EXPECT_EQ(mismatch(latched, reliable), "");
  const Qos slow{true, false, 10, std::chrono::seconds(1)}, quick{true, false, 10, std::chrono::milliseconds(10)};
  EXPECT_NE(mismatch(slow, quick), "");
  EXPECT_EQ(mismatch(quick, slow), "");
  EXPECT_EQ(to_string(best_effort), "best effort, volatile, depth 5");
}

}  // namespace
}  // namespace isochron::ros2
