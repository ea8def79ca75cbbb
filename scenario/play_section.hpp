#pragma once
// The part of a scenario's vocabulary that is about nodes that play a bag.

#include <string>

#include "scenario/section.hpp"

namespace isochron {

struct PlaySection : Section {
  FilePath file;
  Named<std::string> topics;
  SimSpan from;
  double speed = 1;
  bool restamp = false;
};
template <class V>
void describe(V& v, PlaySection& s) {
  v.required("file", s.file, "an .mcap file of rosbag2 or of ours, or a folder of rosbag2's");
  v.optional("topics", s.topics, "flow: topic; if left out all topics, /robot/scan as the flow robot_scan");
  v.optional("from", s.from, "where in the bag simulated zero is");
  v.optional("speed", s.speed, "how much faster than it was recorded");
  v.optional("restamp", s.restamp, "sets header.stamp to the simulated time at which a message is played");
}

}  // namespace isochron
