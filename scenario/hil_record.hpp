#pragma once
// What a run with hardware in the loop leaves in its journal: what targets did, as programs of other modes do it, every
// hold with its length and cause, and the times of the world and of the targets, from which the drift follows. A target
// with several threads is where that one of them is which is farthest from the world: with holding, nobody is behind
// the world, so the drift is exactly that of all threads.
//
// Threads: the server's.

#include <memory>
#include <string>
#include <vector>

#include "hil/observer.hpp"
#include "scenario/program_record.hpp"
#include "scenario/run_record.hpp"

namespace isochron {

/// A target was held for longer than the simulated time that passed for it.
struct HoldRecord {
  std::string target;
  std::uint32_t link = 0;
  std::string cause;  // world, target, pace, or host: the host's own work
  std::string by;     // the other target
  SimTime asked;
  SimTime answered;
  double held_s = 0;
};
ISOCHRON_MESSAGE(HoldRecord, "isochron_msgs/msg/Hold", target, link, cause, by, asked, answered, held_s)

class HilRecorder final : public hil::Observer {
 public:
  /// Participants of the record are the world and then the targets.
  HilRecorder(RunRecord& record, RunWatch& watch, std::vector<std::string> targets,
              const std::vector<coordinator::Variable>& variables);

  void happened(const hil::Happening& happening) override;
  void held(const hil::Hold& hold) override;
  void world_at(WallTime now, SimTime st) override;
  void target_at(hil::LinkId link, std::uint32_t target, WallTime now, SimTime et) override;
  void target_left(hil::LinkId link, std::uint32_t target, WallTime now) override;

 private:
  RunRecord& record_;
  RunWatch& watch_;
  std::vector<std::string> targets_;
  const std::vector<coordinator::Variable>& variables_;
  ProgramRecorder programs_;
  ChannelId holds_;
  coordinator::Happening event_;
  HoldRecord hold_;
  struct Link {
    hil::LinkId id;
    SimTime at;
  };
  [[nodiscard]] SimTime farthest(std::uint32_t target) const;

  SimTime world_;
  std::vector<std::vector<Link>> links_;  // by target: one for each of its threads
};

}  // namespace isochron
