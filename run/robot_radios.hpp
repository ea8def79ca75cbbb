#pragma once
// The radios of robots in a run without `agents`: UAVs, people on foot, vehicles that programs drive. Each unit says
// where its robot is, and its programs send and receive by it under the name `v2x`, as those of cars do (radio_post.hpp).
// The air is here too: it goes on where the world steps.
//
//      step to t ─► exchange(t, next step): what programs sent before t, and what units say in [t, next step) ─► air
//                   what arrives in [t, next step) ─► programs, at its time
//
// Promises: a frame reaches programs at the time at which the medium delivered it. What a program sends goes on the air
//           with the world's next step.
// Requires: a scenario that check_v2x() passed; record() before the run. Threads: the coordinator's.
// Fails:    the constructor throws InputError; what is no frame, or too much, is refused with a sentence to its program.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "msg/ros_messages.hpp"
#include "programs/correspondent.hpp"
#include "run/run.hpp"
#include "run/run_record.hpp"
#include "run/stage.hpp"
#include "traffic/v2x_security.hpp"
#include "v2x/comm/air.hpp"
#include "v2x/comm/figures.hpp"
#include "v2x/station/vehicle.hpp"

namespace isochron {

/// Whether robots have radios in this run.
[[nodiscard]] bool has_robot_radios(const Scenario& scenario);

class RobotRadios final : public programs::Correspondent {
 public:
  /// `scenario` and `stage` outlive it.
  RobotRadios(const Scenario& scenario, Stage& stage);
  void record(RunRecord& record);

  /// "uav/v2x"
  [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
  void exchange(programs::Post& post, SimTime now, SimTime until) override;

  /// Who else is told of each frame that a robot hears; sends what did not come from a program at the desk. As in
  /// radio_post.hpp.
  using OnFrame = std::function<void(const std::string& radio, SimTime arrives, std::span<const std::uint8_t> octets)>;
  void tell_frames(OnFrame on_frame) { on_frame_ = std::move(on_frame); }
  bool say(const std::string& robot, SimTime at, std::span<const std::byte> octets);

  void finish(RunReport& report) const { report.v2x = figures_; }

 private:
  struct Radio {
    std::string robot;
    std::uint32_t body = 0;
    std::optional<std::uint32_t> gps;  // the first of its sensors of that type
    std::array<double, 3> antenna{};   // of that
    double power_dbm = 0;
    v2x::VehicleStation station;
    std::size_t said = 0;  // by its programs, since the last step
  };
  void add(const Scenario& scenario, const std::string& robot, const RobotSection& section);
  void take_sent(programs::Post& post, std::uint32_t radio, SimTime now);
  void say(Radio& radio, SimTime at, std::span<const std::byte> octets);
  void speak(v2x::AirUp& up, SimTime now, SimTime until);
  void hear(programs::Post& post, v2x::AirDelivery& delivery);
  void write_log(SimTime now);
  [[nodiscard]] v2x::VehicleMotion motion_of(const Radio& radio, SimTime now);
  [[nodiscard]] std::optional<v2x::PositionFix> fix_of(const Radio& radio, const v2x::VehicleMotion& now);
  Radio* find(const std::string& robot);

  const V2xSection& section_;
  Stage& stage_;
  v2x::GeoFrame frame_;
  v2x::Air air_;
  std::optional<V2xSecurity> secured_;
  std::vector<std::string> names_;
  std::vector<Radio> radios_;                                  // as names_
  std::vector<std::pair<std::string, std::uint32_t>> bodies_;  // that carry them, or stand in the way
  std::vector<v2x::AirSend> said_;
  v2x::AirRefused refused_;  // told of so far
  SimSpan ahead_;            // our time, of the stage's: always the same
  sensor_msgs::NavSatFix fix_;
  v2x::AirFigures figures_;
  OnFrame on_frame_;
  RunRecord* record_ = nullptr;
  ChannelId said_channel_, air_channel_;
};

}  // namespace isochron
