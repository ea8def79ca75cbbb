#pragma once
// What is told when a run stands still, in every mode: who waits for whom, on the terminal, on the page, in the report
// and in the journal under /isochron/stall.

#include <optional>
#include <string>
#include <vector>

#include "core/message.hpp"
#include "run/run_record.hpp"

namespace isochron {

/// One line of a wait-for graph. Stalls are numbered; the lines of one have the same number.
struct WaitRecord {
  std::uint32_t stall = 0;
  std::string node;
  std::string what;  // "waits for a message", "waits for room", "is in its own code", …
  std::string flow;
  SimTime at;
  std::string whom;
  double since_s = 0;  // wall time that it has not moved
};
ISOCHRON_MESSAGE(WaitRecord, "isochron_msgs/msg/Wait", stall, node, what, flow, at, whom, since_s)

/// For runs with one loop. Threads: the run's.
class StallRecord {
 public:
  StallRecord(RunRecord& record, RunWatch& watch, std::vector<std::string>& notes)
      : record_(record), watch_(watch), notes_(notes) {}
  /// The lines of one standstill.
  void tell(std::vector<WaitRecord> lines);

 private:
  RunRecord& record_;
  RunWatch& watch_;
  std::vector<std::string>& notes_;
  std::optional<ChannelId> channel_;  // made for the first: a run without any has the channels it always had
  std::uint32_t stalls_ = 0;
};

}  // namespace isochron
