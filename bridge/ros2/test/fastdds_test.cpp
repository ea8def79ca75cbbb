// Fast DDS, the other vendor whose wire ROS 2 has: its encoder (made by fastddsgen) byte for byte, and topics both
// ways. Built where Debian's fastddsgen and libfastrtps-dev are installed.

#include <fastcdr/Cdr.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#include <gtest/gtest.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "bridge/ros2/graph.hpp"
#include "bridge/ros2/test/random_message.hpp"
#include "bridge/ros2/types.hpp"
#include "cataloguePubSubTypes.h"  // made by fastddsgen
#include "msg/ros_command_messages.hpp"

namespace isochron::ros2 {
namespace {

using namespace std::chrono_literals;
namespace fast = eprosima::fastdds::dds;

constexpr int values_of_each = 10'000;

template <class T>
void compare(const char* name) {
  const Types types;
  const auto schema = parse_ros2msg(name, types.definition(name));
  ASSERT_TRUE(schema.ok()) << schema.error();
  RandomMessage random(*schema, 5);
  std::vector<char> room(1 << 20);
  for (int i = 0; i < values_of_each; ++i) {
    std::vector<std::byte> sent = random.make();
    eprosima::fastcdr::FastBuffer in(reinterpret_cast<char*>(sent.data()), sent.size());
    eprosima::fastcdr::Cdr reader(in, eprosima::fastcdr::Cdr::DEFAULT_ENDIAN, eprosima::fastcdr::Cdr::DDS_CDR);
    reader.read_encapsulation();
    T message;
    message.deserialize(reader);
    eprosima::fastcdr::FastBuffer out(room.data(), room.size());
    eprosima::fastcdr::Cdr writer(out, eprosima::fastcdr::Cdr::LITTLE_ENDIANNESS, eprosima::fastcdr::Cdr::DDS_CDR);
    writer.serialize_encapsulation();
    message.serialize(writer);
    ASSERT_EQ(writer.getSerializedDataLength(), sent.size()) << name << ", value " << i;
    ASSERT_EQ(std::memcmp(room.data(), sent.data(), sent.size()), 0) << name << ", value " << i;
    std::fill_n(room.begin(), sent.size(), 0);
  }
}

#define TYPE(name, type)   \
  {                        \
    SCOPED_TRACE(name);    \
    compare<::type>(name); \
  }
TEST(FastDds, EncodesEveryTypeAsWeDo) {
#include "bridge/ros2/test/catalogue_classes.inc"
}
#undef TYPE

template <class F>
bool soon(F&& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(FastDds, TalksWithUsBothWays) {
  const auto domain = static_cast<std::uint32_t>(180 + getpid() % 40);
  fast::DomainParticipantQos qos;
  qos.transport().use_builtin_transports = false;
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->interfaceWhiteList = {"127.0.0.1"};
  qos.transport().user_transports.push_back(udp);
  eprosima::fastrtps::rtps::Locator_t here;
  eprosima::fastrtps::rtps::IPLocator::setIPv4(here, "127.0.0.1");
  qos.wire_protocol().builtin.initialPeersList.push_back(here);
  auto* factory = fast::DomainParticipantFactory::get_instance();
  fast::DomainParticipant* theirs = factory->create_participant(domain, qos);
  ASSERT_NE(theirs, nullptr);
  fast::TypeSupport type(new ::std_msgs::msg::dds_::String_PubSubType());
  type.register_type(theirs);
  fast::Topic* out = theirs->create_topic("rt/from_fast", type.get_type_name(), fast::TOPIC_QOS_DEFAULT);
  fast::Topic* in = theirs->create_topic("rt/to_fast", type.get_type_name(), fast::TOPIC_QOS_DEFAULT);
  fast::DataWriterQos writes;
  writes.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  fast::DataReaderQos reads;
  reads.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  fast::DataWriter* writer = theirs->create_publisher(fast::PUBLISHER_QOS_DEFAULT)->create_datawriter(out, writes);
  fast::DataReader* reader = theirs->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT)->create_datareader(in, reads);

  std::atomic<int> heard = 0;
  std::string news;
  Graph ours("ours", "/", {domain, "lo", {}}, [&](const std::string& what) { news += what + "\n"; });
  const std::size_t to_fast = ours.advertise("/to_fast", "std_msgs/msg/String", {});
  const std::size_t from_fast =
      ours.subscribe("/from_fast", "std_msgs/msg/String", {}, [&](std::span<const std::byte> cdr) {
        const auto message = cdr_read<isochron::std_msgs::String>(cdr);
        if (message.ok() && message->data == "from Fast DDS") ++heard;
      });
  ours.start();
  ASSERT_TRUE(soon([&] { return ours.listeners(to_fast) == 1 && ours.speakers(from_fast) == 1; })) << news;
  ::std_msgs::msg::dds_::String_ said;
  said.data("from Fast DDS");
  writer->write(&said);
  const isochron::std_msgs::String answer{"to Fast DDS"};
  ours.publish(to_fast, cdr_size(answer), [&](std::span<std::byte> room) { cdr_write(answer, room); });
  EXPECT_TRUE(soon([&] { return heard == 1; }));
  ::std_msgs::msg::dds_::String_ got;
  fast::SampleInfo info;
  EXPECT_TRUE(
      soon([&] { return reader->take_next_sample(&got, &info) == ReturnCode_t::RETCODE_OK && info.valid_data; }));
  EXPECT_EQ(got.data(), "to Fast DDS");
  EXPECT_EQ(news, "");
  theirs->delete_contained_entities();
  factory->delete_participant(theirs);
}

}  // namespace
}  // namespace isochron::ros2
