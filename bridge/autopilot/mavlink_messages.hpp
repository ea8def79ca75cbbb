#pragma once
// The messages of MAVLink's `common` dialect that autopilots exchange with a simulator and with whoever flies a
// mission. Fields stand in the order of the wire: the largest types first, extensions last. `extra` is the byte that
// goes into the checksum so that two sides with different definitions do not understand each other.
//
// Checked against npm's node-mavlink (bridge/autopilot/test/mavlink_judge_test.py).

#include <array>
#include <cstdint>

namespace isochron::autopilot::mavlink {

struct Heartbeat {
  static constexpr std::uint32_t id = 0;
  static constexpr std::uint8_t extra = 50;
  std::uint32_t custom_mode = 0;
  std::uint8_t type = 0, autopilot = 0, base_mode = 0, system_status = 0, mavlink_version = 3;
  static void wire(auto&& v, auto& m) {
    v(m.custom_mode, m.type, m.autopilot, m.base_mode, m.system_status, m.mavlink_version);
  }
};

struct SetMode {
  static constexpr std::uint32_t id = 11;
  static constexpr std::uint8_t extra = 89;
  std::uint32_t custom_mode = 0;
  std::uint8_t target_system = 0, base_mode = 0;
  static void wire(auto&& v, auto& m) { v(m.custom_mode, m.target_system, m.base_mode); }
};

struct Attitude {
  static constexpr std::uint32_t id = 30;
  static constexpr std::uint8_t extra = 39;
  std::uint32_t time_boot_ms = 0;
  float roll = 0, pitch = 0, yaw = 0, rollspeed = 0, pitchspeed = 0, yawspeed = 0;
  static void wire(auto&& v, auto& m) {
    v(m.time_boot_ms, m.roll, m.pitch, m.yaw, m.rollspeed, m.pitchspeed, m.yawspeed);
  }
};

struct LocalPositionNed {
  static constexpr std::uint32_t id = 32;
  static constexpr std::uint8_t extra = 185;
  std::uint32_t time_boot_ms = 0;
  float x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0;
  static void wire(auto&& v, auto& m) { v(m.time_boot_ms, m.x, m.y, m.z, m.vx, m.vy, m.vz); }
};

struct MissionCount {
  static constexpr std::uint32_t id = 44;
  static constexpr std::uint8_t extra = 221;
  std::uint16_t count = 0;
  std::uint8_t target_system = 0, target_component = 0, mission_type = 0;
  static void wire(auto&& v, auto& m) { v(m.count, m.target_system, m.target_component, m.mission_type); }
};

struct MissionAck {
  static constexpr std::uint32_t id = 47;
  static constexpr std::uint8_t extra = 153;
  std::uint8_t target_system = 0, target_component = 0, type = 0, mission_type = 0;
  static void wire(auto&& v, auto& m) { v(m.target_system, m.target_component, m.type, m.mission_type); }
};

struct MissionRequestInt {
  static constexpr std::uint32_t id = 51;
  static constexpr std::uint8_t extra = 196;
  std::uint16_t seq = 0;
  std::uint8_t target_system = 0, target_component = 0, mission_type = 0;
  static void wire(auto&& v, auto& m) { v(m.seq, m.target_system, m.target_component, m.mission_type); }
};

struct RcChannels {
  static constexpr std::uint32_t id = 65;
  static constexpr std::uint8_t extra = 118;
  std::uint32_t time_boot_ms = 0;
  std::array<std::uint16_t, 18> channels{};  // µs; 65535: not there
  std::uint8_t count = 0, rssi = 255;
  static void wire(auto&& v, auto& m) { v(m.time_boot_ms, m.channels, m.count, m.rssi); }
};

struct MissionItemInt {
  static constexpr std::uint32_t id = 73;
  static constexpr std::uint8_t extra = 38;
  std::array<float, 4> params{};
  std::int32_t x = 0, y = 0;
  float z = 0;
  std::uint16_t seq = 0, command = 0;
  std::uint8_t target_system = 0, target_component = 0, frame = 0, current = 0, autocontinue = 0, mission_type = 0;
  static void wire(auto&& v, auto& m) {
    v(m.params, m.x, m.y, m.z, m.seq, m.command, m.target_system, m.target_component, m.frame, m.current,
      m.autocontinue, m.mission_type);
  }
};

struct CommandLong {
  static constexpr std::uint32_t id = 76;
  static constexpr std::uint8_t extra = 152;
  std::array<float, 7> params{};
  std::uint16_t command = 0;
  std::uint8_t target_system = 0, target_component = 0, confirmation = 0;
  static void wire(auto&& v, auto& m) { v(m.params, m.command, m.target_system, m.target_component, m.confirmation); }
};

struct CommandAck {
  static constexpr std::uint32_t id = 77;
  static constexpr std::uint8_t extra = 143;
  std::uint16_t command = 0;
  std::uint8_t result = 0, progress = 0;
  std::int32_t result_param2 = 0;
  std::uint8_t target_system = 0, target_component = 0;
  static void wire(auto&& v, auto& m) {
    v(m.command, m.result, m.progress, m.result_param2, m.target_system, m.target_component);
  }
};

struct SetPositionTargetLocalNed {
  static constexpr std::uint32_t id = 84;
  static constexpr std::uint8_t extra = 143;
  std::uint32_t time_boot_ms = 0;
  std::array<float, 3> position{}, velocity{}, acceleration{};
  float yaw = 0, yaw_rate = 0;
  std::uint16_t type_mask = 0;  // what to leave out
  std::uint8_t target_system = 0, target_component = 0, coordinate_frame = 0;
  static void wire(auto&& v, auto& m) {
    v(m.time_boot_ms, m.position, m.velocity, m.acceleration, m.yaw, m.yaw_rate, m.type_mask, m.target_system,
      m.target_component, m.coordinate_frame);
  }
};

struct HilRcInputsRaw {
  static constexpr std::uint32_t id = 92;
  static constexpr std::uint8_t extra = 54;
  std::uint64_t time_usec = 0;
  std::array<std::uint16_t, 12> channels{};
  std::uint8_t rssi = 255;
  static void wire(auto&& v, auto& m) { v(m.time_usec, m.channels, m.rssi); }
};

struct HilActuatorControls {
  static constexpr std::uint32_t id = 93;
  static constexpr std::uint8_t extra = 47;
  static constexpr std::uint8_t armed = 128;  // in `mode`
  std::uint64_t time_usec = 0, flags = 0;     // flags: 1 = lock-step
  std::array<float, 16> controls{};
  std::uint8_t mode = 0;
  static void wire(auto&& v, auto& m) { v(m.time_usec, m.flags, m.controls, m.mode); }
};

struct HilSensor {
  static constexpr std::uint32_t id = 107;
  static constexpr std::uint8_t extra = 108;
  /// What of it is new.
  static constexpr std::uint32_t accel = 7, gyro = 7 << 3, magnetic = 7 << 6, air = 0b1101 << 9, airspeed = 1 << 10;
  std::uint64_t time_usec = 0;
  std::array<float, 3> acc{}, gyr{}, mag{};   // m/s², rad/s, gauss
  float abs_pressure = 0, diff_pressure = 0;  // hPa
  float pressure_alt = 0, temperature = 0;
  std::uint32_t fields_updated = 0;
  std::uint8_t sensor = 0;
  static void wire(auto&& v, auto& m) {
    v(m.time_usec, m.acc, m.gyr, m.mag, m.abs_pressure, m.diff_pressure, m.pressure_alt, m.temperature,
      m.fields_updated, m.sensor);
  }
};

struct HilGps {
  static constexpr std::uint32_t id = 113;
  static constexpr std::uint8_t extra = 124;
  std::uint64_t time_usec = 0;
  std::int32_t lat = 0, lon = 0, alt = 0;   // 1e-7 degrees, mm
  std::uint16_t eph = 0, epv = 0, vel = 0;  // cm, cm, cm/s
  std::int16_t vn = 0, ve = 0, vd = 0;      // cm/s
  std::uint16_t cog = 65535;                // 0.01 degrees
  std::uint8_t fix_type = 0, satellites_visible = 255, receiver = 0;
  std::uint16_t yaw = 0;
  static void wire(auto&& v, auto& m) {
    v(m.time_usec, m.lat, m.lon, m.alt, m.eph, m.epv, m.vel, m.vn, m.ve, m.vd, m.cog, m.fix_type, m.satellites_visible,
      m.receiver, m.yaw);
  }
};

struct HilOpticalFlow {
  static constexpr std::uint32_t id = 114;
  static constexpr std::uint8_t extra = 237;
  std::uint64_t time_usec = 0;
  std::uint32_t integration_time_us = 0;
  float integrated_x = 0, integrated_y = 0, integrated_xgyro = 0, integrated_ygyro = 0, integrated_zgyro = 0;
  std::uint32_t time_delta_distance_us = 0;
  float distance = -1;
  std::int16_t temperature = 0;
  std::uint8_t sensor = 0, quality = 0;
  static void wire(auto&& v, auto& m) {
    v(m.time_usec, m.integration_time_us, m.integrated_x, m.integrated_y, m.integrated_xgyro, m.integrated_ygyro,
      m.integrated_zgyro, m.time_delta_distance_us, m.distance, m.temperature, m.sensor, m.quality);
  }
};

struct HilStateQuaternion {
  static constexpr std::uint32_t id = 115;
  static constexpr std::uint8_t extra = 4;
  std::uint64_t time_usec = 0;
  std::array<float, 4> attitude{};
  float rollspeed = 0, pitchspeed = 0, yawspeed = 0;
  std::int32_t lat = 0, lon = 0, alt = 0;
  std::int16_t vx = 0, vy = 0, vz = 0;
  std::uint16_t ind_airspeed = 0, true_airspeed = 0;
  std::int16_t xacc = 0, yacc = 0, zacc = 0;  // mg
  static void wire(auto&& v, auto& m) {
    v(m.time_usec, m.attitude, m.rollspeed, m.pitchspeed, m.yawspeed, m.lat, m.lon, m.alt, m.vx, m.vy, m.vz,
      m.ind_airspeed, m.true_airspeed, m.xacc, m.yacc, m.zacc);
  }
};

struct DistanceSensor {
  static constexpr std::uint32_t id = 132;
  static constexpr std::uint8_t extra = 85;
  std::uint32_t time_boot_ms = 0;
  std::uint16_t min_distance = 0, max_distance = 0, current_distance = 0;  // cm
  std::uint8_t type = 0, sensor = 0, orientation = 25, covariance = 255;   // 25: it looks down
  float horizontal_fov = 0, vertical_fov = 0;
  std::array<float, 4> quaternion{};
  std::uint8_t signal_quality = 0;
  static void wire(auto&& v, auto& m) {
    v(m.time_boot_ms, m.min_distance, m.max_distance, m.current_distance, m.type, m.sensor, m.orientation, m.covariance,
      m.horizontal_fov, m.vertical_fov, m.quaternion, m.signal_quality);
  }
};

template <class... M>
struct List {};
using All = List<Heartbeat, SetMode, Attitude, LocalPositionNed, MissionCount, MissionAck, MissionRequestInt,
                 RcChannels, MissionItemInt, CommandLong, CommandAck, SetPositionTargetLocalNed, HilRcInputsRaw,
                 HilActuatorControls, HilSensor, HilGps, HilOpticalFlow, HilStateQuaternion, DistanceSensor>;

}  // namespace isochron::autopilot::mavlink
