#pragma once
// Many numbers that change together, recorded each tick: all joints, motors and estimates of a robot. The values are
// written in place into the producer's ring; nothing is copied twice.
//
//     VariableLog log(journal, producer, "/robot/state", {"arm.q[0]", "arm.q[1]", "battery"});
//     auto values = log.begin(now);            // doubles in the ring; empty: dropped
//     if (!values.empty()) { values[0] = …; log.end(); }
//     log.tick(now, all_values);               // or from an array that one has anyway
//
// In the file each variable is a float64 field of its own, since Foxglove and PlotJuggler show fields by name but show
// (and cut off) arrays by number. Names become field names: `arm.q[0]` -> arm_q_0; the real one stands next to it in
// the schema as a comment.
//
// Threads: those of its producer.
// Cost:    a tick is one copy of the values: no allocation, lock or system call.

#include <span>
#include <string>
#include <vector>

#include "journal/journal.hpp"

namespace isochron {

class VariableLog {
 public:
  VariableLog(Journal& journal, Producer& producer, const std::string& topic, const std::vector<std::string>& names,
              ChannelOptions options = {});

  /// Room for all values, to be filled and ended with end(); empty: dropped, and counted by the producer.
  std::span<double> begin(SimTime time);
  void end() { producer_->commit(); }

  /// Requires: values.size() == size(). False: dropped, and counted.
  bool tick(SimTime time, std::span<const double> values);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] ChannelId channel() const { return channel_; }

 private:
  Producer* producer_;
  std::size_t size_;
  ChannelId channel_;
};

/// The names as ros2msg allows them, all different: letters, digits, single underscores, a letter first.
std::vector<std::string> field_names(const std::vector<std::string>& names);

}  // namespace isochron
