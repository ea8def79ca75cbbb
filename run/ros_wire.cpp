#include "run/ros_wire.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"

namespace isochron {
namespace {

std::string answer(const RosHost& host, const char* did) {
  RunControl& control = host.watch.control();
  return json_text(nlohmann::json{{"did", did},
                                  {"scenario", host.scenario.name},
                                  {"time_s", host.robots.get().first.since_zero().seconds()},
                                  {"duration_s", host.scenario.duration.seconds()},
                                  {"paused", control.paused()},
                                  {"stall", control.stall()}});
}

constexpr RosTrigger triggers[] = {
    {"pause",
     [](const RosHost& host) {
       host.watch.control().pause();
       return answer(host, "paused");
     }},
    {"resume",
     [](const RosHost& host) {
       host.watch.control().resume();
       return answer(host, "resumed");
     }},
    {"step",
     [](const RosHost& host) {
       host.watch.control().pause();
       host.watch.control().step(1);
       return answer(host, "stepped");
     }},
    {"query", [](const RosHost& host) { return answer(host, ""); }},
};

Ros2Section in_words_of_ros2(const RosSection& ros) {
  Ros2Section section;
  static_cast<Section&>(section) = ros;
  section.name = ros.name;
  section.every = ros.every;
  section.use_sim_time = ros.use_sim_time;
  for (const auto& [name, publish] : ros.publish) {
    static_cast<RosPublishSection&>(section.publish.emplace_back(name, Ros2PublishSection{}).second) = publish;
  }
  for (const auto& [name, subscribe] : ros.subscribe) {
    Ros2SubscribeSection& made = section.subscribe.emplace_back(name, Ros2SubscribeSection{}).second;
    static_cast<RosSubscribeSection&>(made) = subscribe;
    made.qos.depth = 0;  // ROS 1 has none
  }
  return section;
}

}  // namespace

std::span<const RosTrigger> ros_triggers() { return triggers; }

bool RosPart::writes() const {
  return std::ranges::any_of(
      section.subscribe, [](const auto& entry) { return !entry.second.drives.empty() || !entry.second.to.empty(); });
}

std::vector<RosPart> ros_parts(const Scenario& scenario) {
  std::vector<RosPart> parts;
  if (scenario.ros) parts.push_back({"ros", "ROS nodes", in_words_of_ros2(*scenario.ros), make_ros1_wire});
  if (scenario.ros2) parts.push_back({"ros2", "ROS 2 nodes", *scenario.ros2, make_ros2_wire});
  return parts;
}

std::vector<std::string> ros_notes(const Scenario& scenario) {
  std::vector<std::string> notes;
  for (const RosPart& part : ros_parts(scenario)) {
    std::string heard;
    for (const auto& [name, section] : part.section.subscribe) {
      heard += (heard.empty() ? "" : ", ") + (section.topic.empty() ? name : section.topic);
    }
    notes.push_back(
        heard.empty()
            ? part.others + " listen only: what they do is not part of this run"
            : "messages of " + part.others + " (" + heard +
                  ") are taken in when they arrive: their order is not guaranteed, and this run does not repeat");
  }
  return notes;
}

std::vector<std::string> ros_spoilers(const Scenario& scenario) {
  std::vector<std::string> spoilers;
  for (const RosPart& part : ros_parts(scenario)) {
    if (part.section.subscribe.empty()) continue;
    spoilers.push_back(part.name + ": messages of " + part.others + " are taken in when they arrive");
  }
  return spoilers;
}

}  // namespace isochron
