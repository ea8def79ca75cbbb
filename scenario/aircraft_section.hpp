#pragma once
// The part of a scenario's vocabulary that makes bodies of the model fly: rotors, battery, and who flies. The fields
// are those of world/aircraft; only their spelling is decided here. The air is that of `world.wind`.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "scenario/parts_section.hpp"
#include "world/aircraft/autopilot.hpp"
#include "world/aircraft/multirotor.hpp"

namespace isochron {

enum class AircraftKind { multirotor };
template <>
struct Words<AircraftKind> {
  static constexpr std::array<const char*, 1> list{"multirotor"};
};
template <>
struct Words<world::MultirotorFrame> {
  static constexpr std::array<const char*, 3> list{"quad_x", "quad_plus", "hexa_x"};
};
enum class RotorTurns { ccw, cw };
template <>
struct Words<RotorTurns> {
  static constexpr std::array<const char*, 2> list{"ccw", "cw"};
};

struct RotorPlaceSection : Section {
  std::array<double, 3> position{};
  std::array<double, 3> axis{0, 0, 1};
  RotorTurns turns = RotorTurns::ccw;
};
template <class V>
void describe(V& v, RotorPlaceSection& s) {
  v.required("position", s.position, "of its hub in the body's frame, m");
  v.optional("axis", s.axis, "along its thrust, in the body's frame");
  v.optional("turns", s.turns, "seen from the side that the thrust points to");
}

struct RotorSection : OptionsSection<world::RotorSettings> {
  double thrust_factor = world::RotorSettings{}.thrust.factor;
  double torque_factor = world::RotorSettings{}.torque.factor;
  std::vector<std::array<double, 2>> thrust_curve, torque_curve;
};
template <class V>
void describe(V& v, RotorSection& s) {
  v.optional("max_speed", s.max_speed, "rad/s at full command and full voltage");
  v.optional("thrust_factor", s.thrust_factor, "N for each (rad/s)²");
  v.optional("torque_factor", s.torque_factor, "N m for each (rad/s)²");
  v.optional("thrust_curve", s.thrust_curve, "instead: [rad/s, N] by growing speed, straight lines between");
  v.optional("torque_curve", s.torque_curve, "instead: [rad/s, N m] by growing speed");
  v.optional("spin_up", s.spin_up, "s, time constant of a motor that gets faster");
  v.optional("spin_down", s.spin_down, "s, of one that gets slower");
  v.optional("radius", s.radius, "m, for the ground effect");
  v.optional("inertia", s.inertia, "kg m² of what turns, about its axis");
  v.optional("induced_drag", s.induced_drag, "N for each rad/s and m/s of air across the axis");
  v.optional("climb", s.climb, "N of thrust lost for each rad/s and m/s along the axis");
}

template <class V>
void describe(V& v, OptionsSection<world::BatterySettings>& s) {
  v.optional("capacity", s.capacity, "A h");
  v.optional("full", s.full, "V without load");
  v.optional("empty", s.empty, "V without load when the charge is used up");
  v.optional("resistance", s.resistance, "Ω");
  v.optional("efficiency", s.efficiency, "of motors and their electronics");
  v.optional("electronics", s.electronics, "W that everything else takes");
  v.optional("charge", s.charge, "at the start, of the capacity");
}

struct AircraftStartSection : Section {
  std::array<double, 3> position{};
  double heading = 0;
  bool airborne = false;
};
template <class V>
void describe(V& v, AircraftStartSection& s) {
  v.required("position", s.position, "x, y and z, m");
  v.optional("heading", s.heading, "rad from x towards y");
  v.optional("airborne", s.airborne, "its rotors turn already, as fast as carries its weight");
}

struct AutopilotSection : OptionsSection<world::FlightGains> {
  std::optional<std::array<double, 3>> hold, inertia;
  SimSpan every = world::AutopilotSettings{}.every;
  double leash = world::AutopilotSettings{}.leash;
};
template <class V>
void describe(V& v, AutopilotSection& s) {
  v.optional("hold", s.hold, "where it goes first, m; where it starts if left out");
  v.optional("every", s.every, "how often it acts");
  v.optional("inertia", s.inertia,
             "of the aircraft about its axes as it believes it, kg m²; by mass and arms if left out");
  v.optional("leash", s.leash, "m that the place it wants to be at may be ahead of it");
  v.optional("max_speed", s.max_speed, "m/s, level");
  v.optional("max_climb", s.max_climb, "m/s");
  v.optional("max_acceleration", s.max_acceleration, "m/s², level");
  v.optional("max_tilt", s.max_tilt, "rad");
  v.optional("max_yaw_rate", s.max_yaw_rate, "rad/s");
  v.optional("position_gain", s.position, "1/s");
  v.optional("velocity_gain", s.velocity, "1/s");
  v.optional("velocity_integral", s.velocity_integral, "1/s²");
  v.optional("attitude_gain", s.attitude, "1/s");
  v.optional("yaw_gain", s.yaw, "1/s");
  v.optional("rate_gain", s.rate, "1/s");
  v.optional("yaw_rate_gain", s.yaw_rate, "1/s");
}

struct AircraftSection : Section {
  AircraftSection() = default;
  AircraftKind kind = AircraftKind::multirotor;
  world::MultirotorFrame frame = world::MultirotorFrame::quad_x;
  double arm = 0.226;
  double rotor_height = 0.05;
  std::vector<RotorPlaceSection> rotors;
  RotorSection rotor;
  std::array<double, 3> drag_area = world::MultirotorSettings{}.drag_area;
  bool ground_effect = true;
  std::optional<OptionsSection<world::BatterySettings>> battery;
  std::optional<AircraftStartSection> start;
  std::optional<AutopilotSection> autopilot;
};
template <class V>
void describe(V& v, AircraftSection& s) {
  v.optional("kind", s.kind, "what it is; its mass and inertia are the model's");
  v.optional("frame", s.frame, "where its rotors are and how they turn, numbered as autopilots do");
  v.optional("arm", s.arm, "of a frame: m from the middle to a rotor");
  v.optional("rotor_height", s.rotor_height, "of a frame: m of the rotors above the body's origin");
  v.optional("rotors", s.rotors, "instead of a frame: each rotor with its position, axis and direction");
  v.optional("rotor", s.rotor, "what each rotor gives");
  v.optional("drag_area", s.drag_area, "Cd·A of the body along its axes, m²");
  v.optional("ground_effect", s.ground_effect,
             "more thrust near the ground: the model's fixed geoms whose name begins with `ground`");
  v.optional("battery", s.battery, "left out: full voltage for ever");
  v.optional("start", s.start, "where it starts; as the model has it if left out");
  v.optional(
      "autopilot", s.autopilot,
      "flies it by NAME/vx, vy, vz and yaw_rate, and holds its place without; left out: whoever writes its motors");
}

/// What makes no sense of an aircraft by itself, each with its place.
void check_aircraft(const AircraftSection& section, std::vector<Mistake>& mistakes);

}  // namespace isochron
