#pragma once
// A link ties one robot to one autopilot: it is told what the robot senses, and its controls go to the motors. It acts
// where the world steps, with the others of its run (autopilot_host.hpp).
//
// Lock-step, where the autopilot is outside: a frame is over when its controls came, and the world waits for them.
// Nothing depends on the wall clock.
//
//      world   ──step──┐state(t)                ┌ write, step ──┐state(t+T)
//      autopilot       └──── computes, however long it takes ───┘
//
// In the simulated network, where the autopilot is a stack: the state leaves at its frame, and controls act when they
// come. Nobody waits; who computes for longer than a frame has an overrun.
//
//      world   ──step─┐state(t)──step──step──┬─step─┐state(t+T)
//      autopilot      └── computes, charged ─┘controls
//
// Promises: controls are finite numbers when they reach the world; whatever else comes is counted and named.
// Requires: begin_frame() and then end_frame() at each step.
// Threads:  the coordinator's. Cost: allocates for each packet.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "programs/board/options.hpp"
#include "programs/correspondent.hpp"
#include "run/autopilot_report.hpp"
#include "run/autopilot_senses.hpp"
#include "run/autopilot_wire.hpp"

namespace isochron {

/// Where controls go: each to its own variable, over its range, or several to one.
struct AutopilotMotors {
  struct One {
    std::uint32_t variable = 0;
    double low = 0, high = 1;
  };
  std::vector<One> each;
  std::optional<std::uint32_t> together;
  std::size_t count = 0;
};

struct AutopilotSetup {
  std::string name;   // "uav/pilot"
  std::string robot;  // "uav"
  bool outside = true;
  std::uint16_t port = 0;
  SimSpan every;
  programs::OnLoss on_loss = programs::OnLoss::pause;
  WallSpan wait_for_first = std::chrono::seconds(60);
  WallSpan silent_after = std::chrono::seconds(5);
  WallSpan wait_for_return = std::chrono::seconds(30);
  WallSpan stall_after = std::chrono::seconds(5);
  AutopilotMotors motors;
  std::function<bool()> stopping;
  /// How the process that was started for it ended, once it has, and whether it failed.
  std::function<std::optional<std::pair<std::string, bool>>()> process_ended = {};
  std::function<void(const std::string& what, SimTime at)> on_stall = {};
};

class AutopilotLink {
 public:
  /// `who`: its number at the desk. `wire`: outside, open already.
  AutopilotLink(std::uint32_t who, AutopilotSetup setup, std::unique_ptr<autopilot::Dialect> dialect,
                AutopilotSenses senses, std::unique_ptr<AutopilotWire> wire = nullptr);

  void enter(programs::System* system);
  void leave();
  /// Takes what came, and tells the state where it is due.
  void begin_frame(programs::Post& post, SimTime now);
  /// In lock-step: when the controls are here.
  void end_frame(programs::Post& post, SimTime now);
  [[nodiscard]] bool outside() const { return setup_.outside; }
  /// Why the run must end.
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }
  /// Its autopilot has ended well.
  [[nodiscard]] bool gone() const { return presence_ == Presence::gone; }

  [[nodiscard]] AutopilotReport report() const;
  /// What there is to say besides, as sentences.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  enum class Presence : std::uint8_t { awaited, here, lost, gone };

  void keep_time(SimTime now);
  void await_controls(programs::Post& post, SimTime now);
  [[nodiscard]] bool give_up(SimTime now, WallTime since);
  void silent(SimTime now);
  bool take(programs::Post& post, SimTime now);
  void hear(const autopilot::Bytes& bytes, programs::Post& post, SimTime now);
  void came(const std::string& who, SimTime now);
  void went(SimTime now, const std::string& how);
  void tell(SimTime now);
  void say_again(SimTime now);
  void command(const autopilot::Controls& controls, programs::Post& post, SimTime now);
  void fail_with(std::string why);
  void note_once(bool& said, std::string what);
  void wrong(const std::string& what, SimTime now);

  std::uint32_t who_;
  AutopilotSetup setup_;
  std::unique_ptr<autopilot::Dialect> dialect_;
  AutopilotSenses senses_;
  std::unique_ptr<AutopilotWire> wire_;
  autopilot::VehicleState state_;
  std::vector<autopilot::Packet> packets_;
  Presence presence_ = Presence::awaited;
  bool answered_ = false;  // what it was told last, or (who speaks first) it has spoken
  std::optional<SimTime> told_;
  std::optional<WallTime> told_wall_;
  SimTime due_;
  bool awaits_ = false;  // controls for the frame at hand
  std::optional<std::string> failure_;
  AutopilotReport figures_;
  double response_sum_s_ = 0;
  std::uint64_t responses_ = 0;
  std::vector<std::string> notes_;
  bool said_stranger_ = false, said_number_ = false, said_ahead_ = false, said_rate_ = false, said_stall_ = false,
       said_skipped_ = false;
  std::vector<double> values_;
};

}  // namespace isochron
