#include "link/ros/ros_graph.hpp"

#include <geometry_msgs/PointStamped.h>
#include <geometry_msgs/PoseStamped.h>
#include <geometry_msgs/TwistStamped.h>
#include <geometry_msgs/WrenchStamped.h>
#include <nav_msgs/Odometry.h>
#include <nav_msgs/Path.h>
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <rosgraph_msgs/Clock.h>
#include <sensor_msgs/Image.h>
#include <sensor_msgs/Imu.h>
#include <sensor_msgs/JointState.h>
#include <sensor_msgs/LaserScan.h>
#include <sensor_msgs/NavSatFix.h>
#include <sensor_msgs/PointCloud2.h>
#include <sensor_msgs/Range.h>
#include <std_msgs/Bool.h>
#include <std_msgs/Float64.h>
#include <std_msgs/Float64MultiArray.h>
#include <std_msgs/Int32.h>
#include <std_msgs/String.h>
#include <std_srvs/Trigger.h>
#include <tf2_msgs/TFMessage.h>

#include <stdexcept>

#include "link/ros/ros_start.hpp"

namespace isochron::link {
namespace {

constexpr unsigned queue_length = 1000;

/// A message of any type as its bytes.
struct Raw {
  std::vector<std::uint8_t> bytes;
};

struct TypeInfo {
  std::string name, md5sum, definition;
};
template <class M>
TypeInfo info() {
  namespace traits = ros::message_traits;
  return {traits::datatype<M>(), traits::md5sum<M>(), traits::definition<M>()};
}
template <class... M>
std::vector<TypeInfo> infos() {
  return {info<M>()...};
}
const std::vector<TypeInfo>& known() {
  static const std::vector<TypeInfo> all =
      infos<std_msgs::Bool, std_msgs::Int32, std_msgs::Float64, std_msgs::String, std_msgs::Float64MultiArray,
            geometry_msgs::Vector3, geometry_msgs::Point, geometry_msgs::Pose, geometry_msgs::PoseStamped,
            geometry_msgs::PointStamped, geometry_msgs::Twist, geometry_msgs::TwistStamped, geometry_msgs::Wrench,
            geometry_msgs::WrenchStamped, geometry_msgs::TransformStamped, sensor_msgs::Imu, sensor_msgs::NavSatFix,
            sensor_msgs::Range, sensor_msgs::LaserScan, sensor_msgs::PointCloud2, sensor_msgs::Image,
            sensor_msgs::JointState, nav_msgs::Odometry, nav_msgs::Path, tf2_msgs::TFMessage>();
  return all;
}
const TypeInfo& type_called(const std::string& name) {
  for (const TypeInfo& type : known()) {
    if (type.name == name) return type;
  }
  throw std::runtime_error(name + " is no message type that goes over ROS");
}

}  // namespace
}  // namespace isochron::link

namespace ros::message_traits {
template <>
struct MD5Sum<isochron::link::Raw> {
  static const char* value() { return "*"; }
  static const char* value(const isochron::link::Raw&) { return "*"; }
};
template <>
struct DataType<isochron::link::Raw> {
  static const char* value() { return "*"; }
  static const char* value(const isochron::link::Raw&) { return "*"; }
};
template <>
struct Definition<isochron::link::Raw> {
  static const char* value() { return ""; }
  static const char* value(const isochron::link::Raw&) { return ""; }
};
}  // namespace ros::message_traits

namespace ros::serialization {
template <>
struct Serializer<isochron::link::Raw> {
  template <class Stream>
  static void write(Stream& stream, const isochron::link::Raw& raw) {
    std::memcpy(stream.advance(static_cast<std::uint32_t>(raw.bytes.size())), raw.bytes.data(), raw.bytes.size());
  }
  template <class Stream>
  static void read(Stream& stream, isochron::link::Raw& raw) {
    const std::uint8_t* data = stream.getData();
    raw.bytes.assign(data, data + stream.getLength());
    stream.advance(static_cast<std::uint32_t>(raw.bytes.size()));
  }
  static std::uint32_t serializedLength(const isochron::link::Raw& raw) {
    return static_cast<std::uint32_t>(raw.bytes.size());
  }
};
}  // namespace ros::serialization

namespace isochron::link {
namespace {

class Graph final : public RosGraph {
 public:
  Graph() : spinner_(1, &queue_) {
    node_.setCallbackQueue(&queue_);
    clock_ = node_.advertise<rosgraph_msgs::Clock>("/clock", queue_length);
    spinner_.start();
  }
  ~Graph() override {
    spinner_.stop();
    queue_.disable();
  }

  std::size_t advertise(const std::string& topic, const std::string& type_name) override {
    const TypeInfo& type = type_called(type_name);
    ros::AdvertiseOptions options(topic, queue_length, type.md5sum, type.name, type.definition);
    publishers_.push_back(node_.advertise(options));
    return publishers_.size() - 1;
  }
  void publish(std::size_t topic, const void* data, std::size_t size) override {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    raw_.bytes.assign(bytes, bytes + size);
    publishers_[topic].publish(raw_);
  }
  std::size_t subscribe(const std::string& topic, const std::string& type_name, Take take) override {
    const TypeInfo& type = type_called(type_name);
    ros::SubscribeOptions options;
    options.init<Raw>(topic, queue_length,
                      [take](const boost::shared_ptr<const Raw>& raw) { take(raw->bytes.data(), raw->bytes.size()); });
    options.md5sum = type.md5sum;
    options.datatype = type.name;
    options.transport_hints = ros::TransportHints().tcpNoDelay();
    subscribers_.push_back(node_.subscribe(options));
    return subscribers_.size() - 1;
  }
  void serve(const std::string& service, Serve serve) override {
    using Call = boost::function<bool(std_srvs::Trigger::Request&, std_srvs::Trigger::Response&)>;
    const Call call = [serve](std_srvs::Trigger::Request&, std_srvs::Trigger::Response& response) {
      const Answer answer = serve();
      response.success = answer.success;
      response.message = answer.message;
      return true;
    };
    services_.push_back(node_.advertiseService(service, call));
  }
  void clock(std::int64_t ns) override {
    rosgraph_msgs::Clock message;
    message.clock.fromNSec(static_cast<std::uint64_t>(ns));
    clock_.publish(message);
  }
  unsigned listeners(std::size_t advertised) const override { return publishers_[advertised].getNumSubscribers(); }
  unsigned speakers(std::size_t subscribed) const override { return subscribers_[subscribed].getNumPublishers(); }

 private:
  ros::CallbackQueue queue_;
  ros::NodeHandle node_;
  ros::AsyncSpinner spinner_;
  ros::Publisher clock_;
  std::vector<ros::Publisher> publishers_;
  std::vector<ros::Subscriber> subscribers_;
  std::vector<ros::ServiceServer> services_;
  Raw raw_;
};

}  // namespace

std::vector<std::string> RosGraph::types() {
  std::vector<std::string> names;
  for (const TypeInfo& type : known()) names.push_back(type.name);
  return names;
}

std::unique_ptr<RosGraph> RosGraph::open(const std::string& node, bool simulated_time) {
  start_ros(node);
  if (simulated_time) ros::param::set("/use_sim_time", true);
  return std::make_unique<Graph>();
}

}  // namespace isochron::link
