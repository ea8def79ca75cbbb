#pragma once
// Programs that act beside whoever steps the world: a flow node, an agents' client. They
// take turns. The host's turn steps the world; theirs is everything they do until the next step, at its own times.
//
//     host        ▐ step to t ▌·················▐ step to t + dt ▌····
//     companions  ············▐ all of [t, t+dt) ▌···················
//
// Nothing that happens in the world between two steps can reach them, and what they write acts in the step that
// follows. So turns change no result: every operation has the time and the order that it would have in a run of their
// own.
//
// Promises: one of the two works at any time; what one did is seen by the other.
// Threads:  take_turn() and finish() by the host's; the plant and the recorder are used by a thread of ours, during a
//           turn only.
// Fails:    take_turn() says why they ended before the run did; no process is left, however it ends.

#include <sched.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/forwarding_plant.hpp"
#include "programs/coordinator.hpp"

namespace isochron::programs {

class Companions {
 public:
  Companions(Plant& plant, std::vector<RobotSpec> robots, CoordinatorOptions options, Recorder& recorder,
             SimTime until);
  ~Companions();
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;

  /// They do all that they do before the next step; the first turn starts the programs.
  Result<Done, std::string> take_turn();
  /// Ends them where they are, or lets them come to their end if the world has come to it. Then what they did.
  const RunOutcome& finish();
  /// After finish(): why they ended before the run did; "" where they did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  class TurnPlant;
  void work();
  void wait_for_turn();
  void settle();

  Plant& plant_;
  std::vector<RobotSpec> robots_;
  CoordinatorOptions options_;
  Recorder& recorder_;
  SimTime until_;
  std::stop_source stop_;
  std::mutex mutex_;  // guards what is below
  std::condition_variable turn_changed_;
  bool theirs_ = false;
  bool ending_ = false;
  bool over_ = false;
  std::string failure_;
  RunOutcome outcome_;
  std::thread thread_;
  cpu_set_t hosts_own_{}, where_{};  // the cores that the host may use, and does
  std::uint32_t turns_ = 0;
};

}  // namespace isochron::programs
