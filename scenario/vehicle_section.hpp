#pragma once
// The part of a scenario's vocabulary that puts cars on the road: which body of the model is one, how much of it is
// simulated, where it starts and who drives. The fields are those of world/vehicle; only their spelling is decided
// here. The ground is the model's: its fixed geoms whose name begins with `ground`.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "scenario/parts_section.hpp"
#include "world/vehicle/car.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

enum class VehicleKind { full, kinematic };
template <>
struct Words<VehicleKind> {
  static constexpr std::array<const char*, 2> list{"full", "kinematic"};
};
template <>
struct Words<world::TyreModel> {
  static constexpr std::array<const char*, 2> list{"magic", "fiala"};
};

template <class V>
void describe(V& v, OptionsSection<world::TyreSettings>& s) {
  v.optional("model", s.model, "which of the closed formulas");
  v.optional("friction", s.friction, "on a surface of friction 1; the ground's geom has its own");
  v.optional("radius", s.radius, "unloaded, m");
  v.optional("stiffness", s.stiffness, "vertical, N/m");
  v.optional("damping", s.damping, "vertical, N s/m");
  v.optional("relaxation", s.relaxation, "m of rolling until a force has built up to 63 %");
  v.optional("rolling_resistance", s.rolling_resistance, "N for each N of load");
}

struct PowertrainSection : OptionsSection<world::PowertrainSettings> {
  std::vector<std::array<double, 2>> torque;
};
template <class V>
void describe(V& v, PowertrainSection& s) {
  v.optional("torque", s.torque, "full throttle: [rpm, N m] by growing speed; that of a small petrol car if left out");
  v.optional("gears", s.gears, "ratios, first gear first");
  v.optional("reverse", s.reverse, "ratio of the reverse gear");
  v.optional("final_drive", s.final_drive, "ratio of the final drive");
  v.optional("efficiency", s.efficiency, "share of the torque that reaches the wheels");
  v.optional("shift_up_rpm", s.shift_up_rpm, "above this the next gear is taken");
  v.optional("shift_down_rpm", s.shift_down_rpm, "below this the one before");
  v.optional("shift_time", s.shift_time, "s without torque");
  v.optional("drag_torque", s.drag_torque, "N m at closed throttle and full speed");
  v.optional("inertia", s.inertia, "kg m², at the crank");
}

struct CarSection : OptionsSection<world::CarSettings> {
  OptionsSection<world::TyreSettings> tyres;
  PowertrainSection drive;
};
template <class V>
void describe(V& v, CarSection& s) {
  v.optional("front_axle", s.front_axle, "where it is in the body's frame, m forward");
  v.optional("rear_axle", s.rear_axle, "m forward");
  v.optional("half_track", s.half_track, "m from the middle to a wheel");
  v.optional("axle_height", s.axle_height, "of the wheel centres in the body's frame at rest, m");
  v.optional("max_steer", s.max_steer, "of the mean front wheel, rad");
  v.optional("spring_front", s.spring_front, "N/m at the wheel");
  v.optional("spring_rear", s.spring_rear, "N/m at the wheel");
  v.optional("damper_front", s.damper_front, "N s/m");
  v.optional("damper_rear", s.damper_rear, "N s/m");
  v.optional("anti_roll_front", s.anti_roll_front, "N for each m of difference in travel");
  v.optional("anti_roll_rear", s.anti_roll_rear, "N for each m of difference in travel");
  v.optional("travel", s.travel, "m each way until the stop");
  v.optional("brake_front", s.brake_front, "N m at each wheel");
  v.optional("brake_rear", s.brake_rear, "N m at each wheel");
  v.optional("drive_front", s.drive_front, "share of the torque that goes to the front axle");
  v.optional("drag_area", s.drag_area, "Cd·A, m²");
  v.optional("tyre", s.tyres, "what holds it to the road");
  v.optional("powertrain", s.drive, "from the accelerator to the wheels");
}

struct StartSection : Section {
  std::array<double, 2> position{};
  double heading = 0;
  double speed = 0;
};
template <class V>
void describe(V& v, StartSection& s) {
  v.required("position", s.position, "x and y, m; its height is that of the ground there");
  v.optional("heading", s.heading, "rad from x towards y");
  v.optional("speed", s.speed, "m/s forward");
}

/// Who drives. One word, `program`, or a map with a file or a path.
struct DriverSection : Section {
  DriverSection() = default;  // as an aggregate it makes GCC 12 see uninitialised maps
  FilePath file;
  std::vector<std::array<double, 2>> path;
  bool closed = false;
  SimSpan every = std::chrono::milliseconds(20);
  OptionsSection<world::CarFollowing> follow;
  double speed = world::CarFollowing{}.desired_speed;
  double lateral_acceleration = world::PathDriverSettings{}.lateral_acceleration;
  double look_ahead = world::PathDriverSettings{}.look_ahead;
  std::optional<double> stop_before;
};
bool from_word(DriverSection& section, const std::string& word);
template <class V>
void describe(V& v, OptionsSection<world::CarFollowing>& s) {
  v.optional("headway", s.headway, "s to the one in front");
  v.optional("standstill", s.standstill, "m to it in a queue");
  v.optional("acceleration", s.acceleration, "m/s² at most");
  v.optional("braking", s.braking, "m/s² that are comfortable");
  v.optional("emergency", s.emergency, "m/s² at most, when nothing less will do");
}
template <class V>
void describe(V& v, DriverSection& s) {
  v.optional("file", s.file, "plays lines of `time steer throttle brake`");
  v.optional("path", s.path, "or follows these points, [x, y] each, in a closed loop");
  v.optional("closed", s.closed, "after the last point comes the first; otherwise it stops at the last");
  v.optional("speed", s.speed, "m/s on a free road; less in bends");
  v.optional("lateral_acceleration", s.lateral_acceleration, "m/s² at most in bends");
  v.optional("look_ahead", s.look_ahead, "m of the path that it steers for, and more at speed");
  v.optional("follow", s.follow, "how it keeps its distance to the vehicles ahead");
  v.optional("stop_before", s.stop_before, "stops before this length of the path, m, as at a red light");
  v.optional("every", s.every, "how often it looks and acts");
}

struct VehicleSection : Section {
  VehicleSection() = default;
  VehicleKind kind = VehicleKind::full;
  std::optional<StartSection> start;
  DriverSection driver;
  CarSection car;
};
template <class V>
void describe(V& v, VehicleSection& s) {
  v.optional("kind", s.kind,
             "full: wheels, tyres, suspension, powertrain; kinematic: follows its commands, for crowds");
  v.optional("start", s.start, "where it starts; as the model has it if left out");
  v.optional("driver", s.driver,
             "program: whoever writes NAME/steer, NAME/throttle and NAME/brake; or a map with a file or a path");
  v.optional("car", s.car, "the vehicle itself; its mass is the model's");
}

}  // namespace isochron
