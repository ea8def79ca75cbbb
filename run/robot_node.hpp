#pragma once
// A robot's computer as a node: its programs are real processes, run by a coordinator of their own, whose world is what
// the flows say. Nothing in the programs knows of it.
//
//   world.snapshot at t ─► node ─ "it is t" ─► coordinator: everything the programs do in [t, t + step)
//                            ◄─ writes, each at its own time ─┘
//
// At t the node has seen the world's state at t, and until t + step nothing else can reach the programs. So it lets the
// coordinator go on up to the next step, and sends what was written as events at their own times.
//
// Promises: the same happenings as the same mode without flows, for robots that send each other no messages. They
//           repeat where computing is zero, recorded or modelled.
// Threads:  the node's; the programs' coordinator takes turns with it (programs/companions.hpp).
// Fails:    a program whose end ends the run throws from the node's tick; the run ends under the robot's name.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "programs/companions.hpp"
#include "run/board_host.hpp"
#include "run/robot_wires.hpp"
#include "run/world_nodes.hpp"

namespace isochron {

class RobotNode final : public flow::UserNode {
 public:
  RobotNode(const Scenario& scenario, const std::string& robot);
  ~RobotNode() override;

  void start(SimTime now) override;
  void finish(SimTime now) override;
  /// After finish(), in the process that ran it: what the programs did.
  [[nodiscard]] const std::optional<programs::RunOutcome>& outcome() const { return outcome_; }
  [[nodiscard]] const programs::RobotSpec& robot() const { return robot_; }
  /// After finish(): null where it has none.
  [[nodiscard]] const RobotWires* wires() const { return wires_ ? &*wires_ : nullptr; }

 private:
  class Notes;
  void saw(const WorldSnapshot& snapshot) { mirror_.show(snapshot); }
  void tick(Tick& tick, SimTime now);
  void send(SimTime now);

  WorldMirror mirror_;
  Scenario own_;  // the scenario with this robot only
  programs::RobotSpec robot_;
  programs::CoordinatorOptions options_;
  SimTime until_;
  flow::Input<WorldSnapshot> world_ = input<&RobotNode::saw>("world");
  flow::Output<Tick> tick_;
  flow::Event<WorldWrites> writes_;
  std::vector<flow::Event<ProgramEvent>> did_;  // of each program
  std::unique_ptr<Notes> notes_;
  std::optional<programs::RunOutcome> outcome_;
  std::optional<BoardHost> boards_;
  std::optional<RobotWires> wires_;
  std::unique_ptr<programs::Companions> companions_;  // after the notes, which they write to
};

}  // namespace isochron
