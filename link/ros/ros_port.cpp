#include "link/ros/ros_port.hpp"

#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>

#include <stdexcept>

#include "link/ros/ros_start.hpp"

namespace isochron::link {
namespace {

constexpr unsigned everything = 0;  // roscpp's word for a queue without end; credits keep it short

class Port final : public RosPort {
 public:
  Port(const std::string& own_topic, const std::vector<std::string>& other_topics) {
    node_.setCallbackQueue(&queue_);
    const auto came = [this](const std_msgs::UInt8MultiArray::ConstPtr& message) {
      any_ = true;
      (*take_)(message->data.data(), message->data.size());
    };
    own_ = node_.subscribe<std_msgs::UInt8MultiArray>(own_topic, everything, came, ros::VoidConstPtr(),
                                                      ros::TransportHints().tcpNoDelay());
    for (const std::string& topic : other_topics) {
      others_.push_back(node_.advertise<std_msgs::UInt8MultiArray>(topic, everything));
    }
  }

  void send(std::size_t to, const void* data, std::size_t size) override {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    message_.data.assign(bytes, bytes + size);
    others_[to].publish(message_);
  }

  bool receive(double longest_s, const Take& take) override {
    take_ = &take;
    any_ = false;
    queue_.callAvailable(ros::WallDuration(longest_s));
    return any_;
  }

 private:
  ros::CallbackQueue queue_;
  ros::NodeHandle node_;
  ros::Subscriber own_;
  std::vector<ros::Publisher> others_;
  std_msgs::UInt8MultiArray message_;
  const Take* take_ = nullptr;
  bool any_ = false;
};

}  // namespace

void start_ros(const std::string& node) {
  ros::M_string no_remappings;
  if (!ros::isInitialized()) {
    ros::init(no_remappings, node,
              ros::init_options::NoSigintHandler | ros::init_options::AnonymousName | ros::init_options::NoRosout);
  }
  if (!ros::master::check()) throw std::runtime_error("no ROS master answers at " + ros::master::getURI());
  ros::start();
}

std::unique_ptr<RosPort> RosPort::open(const std::string& node, const std::string& own_topic,
                                       const std::vector<std::string>& other_topics) {
  start_ros(node);
  return std::make_unique<Port>(own_topic, other_topics);
}

}  // namespace isochron::link
