#include "link/ros/ros_wire.hpp"

#include <gtest/gtest.h>

#include "msg/ros_command_messages.hpp"

namespace isochron::link {
namespace {

using namespace std::chrono_literals;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int value : values) all.push_back(static_cast<std::byte>(value));
  return all;
}

TEST(RosWire, PutsASequenceNumberIntoHeadersAndNoPaddingAnywhere) {
  std_msgs::Header header{SimTime::zero() + SimSpan(2s) + SimSpan::from_ns(3), "ab"};
  std::vector<std::byte> out;
  ros_write(header, out);
  EXPECT_EQ(out, bytes({0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 'a', 'b'}));
}

TEST(RosWire, SkipsTheSequenceNumberThatOthersCount) {
  const auto read = ros_read<std_msgs::Header>(bytes({9, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 'x'}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->stamp.ns(), 2'000'000'003);
  EXPECT_EQ(read->frame_id, "x");
}

TEST(RosWire, ReadsWhatItWrote) {
  sensor_msgs::JointState joints;
  joints.header.frame_id = "arm";
  joints.name = {"elbow", ""};
  joints.position = {1.5, -2};
  nav_msgs::Path path;
  path.poses.resize(2);
  path.poses[1].pose.orientation.w = 0.5;
  std::vector<std::byte> out, again;
  ros_write(joints, out);
  const auto back = ros_read<sensor_msgs::JointState>(out);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->name, joints.name);
  EXPECT_EQ(back->position, joints.position);
  ros_write(path, out);
  const auto path_back = ros_read<nav_msgs::Path>(out);
  ASSERT_TRUE(path_back.ok());
  ros_write(*path_back, again);
  EXPECT_EQ(out, again);
}

TEST(RosWire, RefusesWhatIsTooShortTooLongOrLiesAboutLengths) {
  EXPECT_FALSE(ros_read<std_msgs::Float64>(bytes({1, 2, 3})).ok());
  EXPECT_FALSE(ros_read<std_msgs::Bool>(bytes({1, 0})).ok());
  EXPECT_FALSE(ros_read<std_msgs::String>(bytes({255, 255, 255, 255, 'a'})).ok());
  EXPECT_FALSE(
      ros_read<nav_msgs::Path>(bytes({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 127})).ok());
  EXPECT_FALSE(ros_read<std_msgs::Header>(bytes({0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0})).ok());
}

}  // namespace
}  // namespace isochron::link
