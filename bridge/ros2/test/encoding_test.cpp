// Our bytes against those of an encoder that is not ours: idlc's.

#include <dds/dds.h>
#include <gtest/gtest.h>

#include "bridge/ros2/checker.hpp"
#include "bridge/ros2/dds_qos.hpp"
#include "bridge/ros2/names.hpp"
#include "bridge/ros2/test/random_message.hpp"
#include "bridge/ros2/types.hpp"
#include "catalogue.h"  // made by idlc
#include "link/dds/raw_topic.hpp"
#include "msg/ros_command_messages.hpp"
#include "msg/ros_service_messages.hpp"

namespace isochron::ros2 {
namespace {

constexpr int values_of_each = 10'000;

struct Known {
  const char* name;
  const dds_topic_descriptor_t* descriptor;
};
const Known known[] = {
#include "bridge/ros2/test/catalogue_types.inc"
};

/// Ours ─ raw bytes ─► idlc's reader ─ a C struct ─► idlc's writer ─ raw bytes ─► ours.
class ThereAndBack {
 public:
  explicit ThereAndBack(const Known& type) : ours_(options()), theirs_(options()) {
    const DdsQosAll qos;
    const std::string dds_name = dds_type(type.name);
    out_ = link::make_raw_topic(ours_.entity(), "there", dds_name);
    const link::RawTopic in = link::make_raw_topic(ours_.entity(), "back", dds_name);
    writer_ = dds_create_writer(ours_.entity(), out_.entity, qos.get(), nullptr);
    reader_ = dds_create_reader(ours_.entity(), in.entity, qos.get(), nullptr);
    const dds_entity_t there = dds_create_topic(theirs_.entity(), type.descriptor, "there", nullptr, nullptr);
    const dds_entity_t back = dds_create_topic(theirs_.entity(), type.descriptor, "back", nullptr, nullptr);
    their_reader_ = dds_create_reader(theirs_.entity(), there, qos.get(), nullptr);
    their_writer_ = dds_create_writer(theirs_.entity(), back, qos.get(), nullptr);
  }

  /// What comes back; empty: nothing did.
  std::vector<std::byte> pass(const std::vector<std::byte>& message) {
    link::write_raw(writer_, out_, message.size(),
                    [&](std::span<std::byte> room) { std::ranges::copy(message, room.begin()); });
    void* sample = nullptr;
    dds_sample_info_t info;
    std::vector<std::byte> back;
    if (dds_take(their_reader_, &sample, &info, 1, 1) != 1) return back;
    dds_write(their_writer_, sample);
    dds_return_loan(their_reader_, &sample, 1);
    link::take_raw(reader_, 1, [&](std::span<const std::byte> cdr, const dds_sample_info_t&) {
      back.assign(cdr.begin(), cdr.end());
    });
    return back;
  }

 private:
  static link::DdsOptions options() { return {77, "lo", {}}; }
  struct DdsQosAll {
    link::DdsQos qos = dds_qos({true, false, 0, {}});
    [[nodiscard]] const dds_qos_t* get() const { return qos.get(); }
  };
  link::DdsParticipant ours_, theirs_;
  link::RawTopic out_;
  dds_entity_t writer_, reader_, their_reader_, their_writer_;
};

class Encoding : public testing::TestWithParam<Known> {};

TEST_P(Encoding, IsThatOfIdlcByteForByte) {
  const Types types;
  const auto schema = parse_ros2msg(GetParam().name, types.definition(GetParam().name));
  ASSERT_TRUE(schema.ok()) << schema.error();
  const Checker checker(*schema);
  RandomMessage random(*schema, 1);
  ThereAndBack way(GetParam());
  for (int i = 0; i < values_of_each; ++i) {
    const std::vector<std::byte> sent = random.make();
    ASSERT_STREQ(checker.refuses(sent), "") << "value " << i;
    std::vector<std::byte> back = way.pass(sent);
    ASSERT_GE(back.size(), sent.size()) << "value " << i;
    ASSERT_LE(back.size(), sent.size() + 3) << "value " << i;
    back.resize(sent.size());
    back[3] = sent[3];  // how many bytes of padding there are: XCDR2's, and allowed in XCDR1
    ASSERT_EQ(back, sent) << "value " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Encoding, testing::ValuesIn(known), [](const auto& one) {
  std::string name = one.param.name;
  std::ranges::replace(name, '/', '_');
  return name;
});

TEST(Encoding, EveryTypeOfTheCatalogueIsCompared) { EXPECT_EQ(std::size(known), catalogue().size()); }

template <class M>
void expect_same_definition() {
  const Types types;
  EXPECT_EQ(types.type(message_name<M>()).schema, ros2msg_schema<M>()) << message_name<M>();
  EXPECT_EQ(types.type(message_name<M>()).id, flow::payload_type<M>().id) << message_name<M>();
}

TEST(Types, AreThoseThatNodesInCppHave) {
  expect_same_definition<std_msgs::Float64MultiArray>();
  expect_same_definition<geometry_msgs::TwistStamped>();
  expect_same_definition<geometry_msgs::WrenchStamped>();
  expect_same_definition<sensor_msgs::Imu>();
  expect_same_definition<sensor_msgs::NavSatFix>();
  expect_same_definition<sensor_msgs::Range>();
  expect_same_definition<sensor_msgs::LaserScan>();
  expect_same_definition<sensor_msgs::PointCloud2>();
  expect_same_definition<sensor_msgs::Image>();
  expect_same_definition<sensor_msgs::CameraInfo>();
  expect_same_definition<sensor_msgs::JointState>();
  expect_same_definition<nav_msgs::Odometry>();
  expect_same_definition<nav_msgs::Path>();
  expect_same_definition<tf2_msgs::TFMessage>();
  expect_same_definition<rosgraph_msgs::Clock>();
}

}  // namespace
}  // namespace isochron::ros2
