#pragma once
// The part of a scenario's vocabulary that lets ordinary ROS nodes take part (docs/ros.md).

#include <string>
#include <vector>

#include "core/time.hpp"
#include "scenario/section.hpp"

namespace isochron {

struct RosPublishSection : Section {
  std::string topic;
  std::string from;
  std::string variable;
  std::string as;
  std::string frame;
  std::uint32_t awaited = 0;
};
template <class V>
void describe(V& v, RosPublishSection& s) {
  v.optional("topic", s.topic, "its name in ROS, as in /robot/imu; the name of this entry if left out");
  v.optional("from", s.from,
             "a flow whose messages are published: node.output, as in ROBOT/SENSOR.reading or world.tf");
  v.optional("variable", s.variable, "or what the world knows: ROBOT/pose, an actuator, a sensor of the model");
  v.optional("as", s.as, "the message type of a variable, as in nav_msgs/Odometry; what suits it best if left out");
  v.optional("frame", s.frame, "frame_id in the header of a variable's message; world if left out");
  v.optional("awaited", s.awaited, "the run begins when so many subscribers are there");
}

struct RosDriveSection : Section {
  std::string field;
  std::string actuator;
  double gain = 1;
};
template <class V>
void describe(V& v, RosDriveSection& s) {
  v.required("field", s.field, "of the message, as in linear.x or data[2]");
  v.required("actuator", s.actuator, "that takes its value");
  v.optional("gain", s.gain, "times this; what several entries say for one actuator is added up");
}

struct RosSubscribeSection : Section {
  std::string topic;
  std::string as;
  std::vector<RosDriveSection> drives;
  std::string to;
  SimSpan delay;
  std::uint32_t awaited = 0;
};
template <class V>
void describe(V& v, RosSubscribeSection& s) {
  v.optional("topic", s.topic, "its name in ROS; the name of this entry if left out");
  v.required("as", s.as, "the message type, as in geometry_msgs/Twist");
  v.optional("drives", s.drives, "which field drives which actuator");
  v.optional("to", s.to, "a variable that takes all numbers of the message, as in ROBOT/wrench");
  v.optional("delay", s.delay, "simulated time from when a message is found to when it acts");
  v.optional("awaited", s.awaited, "the run begins when so many publishers are there");
}

struct RosSection : Section {
  std::string name = "isochron";
  SimSpan every = std::chrono::milliseconds(10);
  bool use_sim_time = true;
  Named<RosPublishSection> publish;
  Named<RosSubscribeSection> subscribe;
  std::string at;
  std::string host;
};
template <class V>
void describe(V& v, RosSection& s) {
  v.optional("name", s.name, "of our node in ROS; its services are NAME/pause, resume, step and query");
  v.optional("every", s.every, "how often /clock is published and messages are taken in");
  v.optional("use_sim_time", s.use_sim_time, "tells all ROS nodes that start from now on that /clock is their time");
  v.optional("publish", s.publish, "what ROS nodes hear, by name");
  v.optional("subscribe", s.subscribe,
             "what ROS nodes say, by name; for nodes of the scenario it is the flow ros.NAME");
  v.optional("at", s.at, "as of a node: where it listens if it runs in a process of its own");
  v.optional("host", s.host, "for `isochron launch`: the machine that it is started on; this one if left out");
}

}  // namespace isochron
