#pragma once
// The part of a scenario's vocabulary that is about nodes of ROS 2: the words of `ros`, and what DDS needs to know.

#include <string>
#include <vector>

#include "bridge/ros2/qos.hpp"
#include "scenario/ros_section.hpp"
#include "scenario/section.hpp"

namespace isochron {

enum class Ros2Reliability : std::uint8_t { reliable, best_effort };
template <>
struct Words<Ros2Reliability> {
  static constexpr std::array<const char*, 2> list{"reliable", "best_effort"};
};
enum class Ros2Durability : std::uint8_t { volatile_, transient_local };
template <>
struct Words<Ros2Durability> {
  static constexpr std::array<const char*, 2> list{"volatile", "transient_local"};
};

struct Ros2QosSection : Section {
  Ros2Reliability reliability = Ros2Reliability::reliable;
  Ros2Durability durability = Ros2Durability::volatile_;
  std::uint32_t depth = 10;
  WallSpan deadline{};

  [[nodiscard]] ros2::Qos qos() const {
    return {reliability == Ros2Reliability::reliable, durability == Ros2Durability::transient_local, depth, deadline};
  }
};
template <class V>
void describe(V& v, Ros2QosSection& s) {
  v.optional("reliability", s.reliability, "a best_effort publisher does not reach a reliable subscriber");
  v.optional("durability", s.durability, "transient_local: who comes later still gets the last ones");
  v.optional("depth", s.depth, "messages that are kept for who is slow; 0: all");
  v.optional("deadline", s.deadline, "wall time between two messages that is promised or asked for; none if left out");
}
inline bool from_word(Ros2QosSection& section, const std::string& word) {
  if (word == "sensor_data") {
    section.reliability = Ros2Reliability::best_effort;
    section.depth = 5;
    return true;
  }
  if (word == "latched") {
    section.durability = Ros2Durability::transient_local;
    section.depth = 1;
    return true;
  }
  return word == "default";
}

struct Ros2PublishSection : RosPublishSection {
  std::string child;
  bool camera_info = false;
  Ros2QosSection qos;
};
template <class V>
void describe(V& v, Ros2PublishSection& s) {
  describe(v, static_cast<RosPublishSection&>(s));
  v.optional("child", s.child, "child_frame_id of a variable's message; the robot's name if left out");
  v.optional("camera_info", s.camera_info,
             "of a camera's picture: its sensor_msgs/CameraInfo too, beside it on camera_info");
  v.optional("qos", s.qos, "quality of service: default, sensor_data, latched, or its parts");
}

struct Ros2SubscribeSection : RosSubscribeSection {
  Ros2QosSection qos;
};
template <class V>
void describe(V& v, Ros2SubscribeSection& s) {
  describe(v, static_cast<RosSubscribeSection&>(s));
  v.optional("qos", s.qos, "quality of service: default, sensor_data, latched, or its parts");
}

struct Ros2Section : Section {
  std::string name = "isochron";
  std::string space;
  std::uint32_t domain = 0;
  std::string interface;
  std::vector<std::string> hosts;
  SimSpan every = std::chrono::milliseconds(10);
  std::optional<SimSpan> clock;
  bool use_sim_time = true;
  bool tf_static = false;
  std::vector<FilePath> types;
  Named<Ros2PublishSection> publish;
  Named<Ros2SubscribeSection> subscribe;
  std::string at;
  std::string host;
};
template <class V>
void describe(V& v, Ros2Section& s) {
  v.optional("name", s.name, "of our node in ROS 2; its services are below it");
  v.optional("namespace", s.space, "of our node: topics that do not begin with / are in it");
  v.optional("domain", s.domain, "ROS_DOMAIN_ID of those that take part");
  v.optional("interface", s.interface,
             "name or address of the network interface; as CYCLONEDDS_URI says if left out. `lo`: this machine only");
  v.optional("hosts", s.hosts, "where to look for others if there is no multicast");
  v.optional("every", s.every, "how often messages are taken in, variables are published, and /clock");
  v.optional("clock", s.clock, "time between two messages on /clock, a multiple of `every`; 0: there is no /clock");
  v.optional("use_sim_time", s.use_sim_time, "sets the parameter use_sim_time of every node that is seen");
  v.optional("tf_static", s.tf_static,
             "publishes on /tf_static where sensors are mounted: from their body's frame to their own");
  v.optional("types", s.types, ".msg files, or folders of packages with msg/*.msg, of further message types");
  v.optional("publish", s.publish, "what nodes of ROS 2 hear, by name");
  v.optional("subscribe", s.subscribe,
             "what nodes of ROS 2 say, by name; for nodes of the scenario it is the flow ros2.NAME");
  v.optional("at", s.at, "as of a node: where it listens if it runs in a process of its own");
  v.optional("host", s.host, "for `isochron launch`: the machine that it is started on; this one if left out");
}

}  // namespace isochron
