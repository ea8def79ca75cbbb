#pragma once
// A node that plays a bag: each topic of an MCAP file, of rosbag2 or of ours, is a flow whose messages have the times
// at which they were recorded, counted from the beginning of the bag. So what was recorded on a robot drives programs
// and nodes under test, in every mode that has nodes, and repeats.
//
//     bag     |··a···b·a··|          from = 2 s: what lies before is left out, and simulated zero is there
//     flows   a: 2.1s, 3.0s …        speed = 2: twice as fast
//
// Promises: two messages of a topic with one time are a nanosecond apart, in the order of the file. Bytes are as
//           recorded, but for header.stamp if it is to be set.
// Fails:    InputError: no such file, no such topic, a topic that is not CDR with a ros2msg definition. A message that
//           does not fit its definition ends the run and is named.

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bridge/ros2/checker.hpp"
#include "flow/dynamic_node.hpp"
#include "journal/disk.hpp"
#include "journal/mcap_reader.hpp"

namespace isochron::ros2 {

struct PlaySpec {
  std::string path;                                        // an .mcap file, or a folder of rosbag2's with some
  std::vector<std::pair<std::string, std::string>> flows;  // flow, topic; empty: all topics
  SimSpan from;                                            // of the bag
  double speed = 1;
  bool restamp = false;  // header.stamp becomes the time at which it is played
};

/// The name of a topic's flow where none was chosen: /robot/scan is robot_scan.
std::string flow_of_topic(std::string_view topic);

class Player final : public flow::DynamicNode {
 public:
  explicit Player(PlaySpec spec);

 private:
  struct Track {
    std::string topic;
    std::vector<MessageCursor> cursors;  // of each file, in their order
    std::size_t file = 0;
    Checker checker;
    bool has_header = false;
    std::vector<std::byte> next = {};  // the message that is due
    SimTime at = SimTime::never();
  };
  void open_files();
  [[nodiscard]] SimTime begin_of_bag() const;
  void add_track(const std::string& flow, const std::string& topic);
  /// The next message of a track, and when it is played; never() at the end.
  void load(Track& track, SimTime after);
  void heard(std::uint32_t, const void*, SimTime) override {}
  void fill(std::uint32_t output, void* payload, SimTime t) override;

  PlaySpec spec_;
  PosixDisk disk_;
  std::deque<McapReader> files_;
  SimTime begin_;
  std::deque<Track> tracks_;
};

}  // namespace isochron::ros2
