#pragma once
// The part of a scenario's vocabulary for autopilots: which of their protocols a program speaks with the simulator, and
// what of its robot is tied to it.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "scenario/section.hpp"

namespace isochron {

struct ArdupilotSection : Section {
  std::optional<std::uint32_t> port;
  bool no_time_sync = false;
};
template <class V>
void describe(V& v, ArdupilotSection& s) {
  v.optional("port", s.port, "UDP port on which servo packets come in; 9002 and 10 more for each further vehicle");
  v.optional("no_time_sync", s.no_time_sync, "the autopilot keeps its own clock instead of the simulation's");
}

struct Px4Section : Section {
  std::optional<std::uint32_t> port;
  bool truth = true;
  FilePath key;
};
template <class V>
void describe(V& v, Px4Section& s) {
  v.optional("port", s.port, "TCP port that PX4 connects to; 4560 and 1 more for each further vehicle");
  v.optional("truth", s.truth, "the true state goes along (HIL_STATE_QUATERNION), for its log");
  v.optional("key", s.key, "file of 32 bytes: messages are signed with it, and only such are taken");
}

struct BetaflightSection : Section {
  std::optional<std::uint32_t> port;
  std::vector<std::uint32_t> sticks;
};
template <class V>
void describe(V& v, BetaflightSection& s) {
  v.optional("port", s.port,
             "UDP port on which motor speeds come in; the state goes to the next one, sticks to the one after it. 9002 "
             "and 10 more for each further vehicle");
  v.optional("sticks", s.sticks, "pulses of the remote control in µs, at most 16; none are sent if left out");
}

struct LinkSection : Section {
  std::optional<ArdupilotSection> ardupilot;
  std::optional<Px4Section> px4;
  std::optional<BetaflightSection> betaflight;
  std::optional<SimSpan> every;
  std::vector<std::string> motors;
  std::string imu, gps;
  std::vector<std::string> ranges;
  std::array<double, 3> origin{47.397742, 8.545594, 488.0};
};
template <class V>
void describe(V& v, LinkSection& s) {
  v.optional("ardupilot", s.ardupilot, "ArduPilot's JSON interface, as of --model JSON:127.0.0.1");
  v.optional("px4", s.px4, "PX4's simulator interface: MAVLink over TCP");
  v.optional("betaflight", s.betaflight, "Betaflight's SITL");
  v.optional("every", s.every,
             "one exchange of sensors and controls, a multiple of the world's step; 2.5ms for ArduPilot, 4ms for PX4, "
             "1ms for Betaflight if left out, rounded up to such a multiple");
  v.optional("motors", s.motors,
             "what the first channels command, in their order: actuators, whose range a channel spans, or one variable "
             "of several numbers; the robot's `motors` if left out");
  v.optional("imu", s.imu, "the sensor that is its IMU; the robot's first of that type if left out");
  v.optional("gps", s.gps, "the same for GPS; without any its fix is the true position");
  v.optional("ranges", s.ranges, "the same for rangefinders, in order; all of the robot's if left out");
  v.optional("origin", s.origin,
             "latitude, longitude (degrees) and altitude (m) of the world's origin, where no GPS sensor says it");
}

}  // namespace isochron
