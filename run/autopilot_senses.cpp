#include "run/autopilot_senses.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/nearest_name.hpp"
#include "msg/sensor_types.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using autopilot::Vec3;

constexpr SimSpan fix_period = 100ms;  // of a GPS that is ideal
constexpr SimSpan slow_period = 20ms;  // of barometer and magnetometer
constexpr double radians = 0.017453292519943295;

/// The standard atmosphere below 11 km.
double pressure_at(double altitude) { return 101325 * std::pow(1 - 2.25577e-5 * altitude, 5.25588); }
double temperature_at(double altitude) { return 15 - 0.0065 * altitude; }

/// Of a dipole along the earth's axis: near enough for a compass that is calibrated on the spot.
Vec3 dipole_at(double latitude) {
  constexpr double at_equator = 0.312;  // gauss
  return {at_equator * std::cos(latitude * radians), 0, 2 * at_equator * std::sin(latitude * radians)};
}

/// Degrees for metres north and east near the origin, on WGS-84.
std::array<double, 2> shifted(const std::array<double, 3>& origin, double north, double east) {
  constexpr double a = 6378137, e2 = 6.69437999014e-3;
  const double s = std::sin(origin[0] * radians), w = std::sqrt(1 - e2 * s * s);
  const double meridian = a * (1 - e2) / (w * w * w), normal = a / w;
  return {origin[0] + north / (meridian + origin[2]) / radians,
          origin[1] + east / ((normal + origin[2]) * std::cos(origin[0] * radians)) / radians};
}

}  // namespace

AutopilotSenses::AutopilotSenses(const Scenario& scenario, const std::string& robot, const LinkSection& link,
                                 Stage& stage, WorldPlant& plant)
    : plant_(plant), origin_(link.origin) {
  const auto section =
      std::find_if(scenario.robots.begin(), scenario.robots.end(), [&](const auto& one) { return one.first == robot; });
  const std::string& body = section->second.body.empty() ? robot : section->second.body;
  const auto found = stage.world().catalog().body(body);
  if (!found) {
    throw InputError(link.place, "robot `" + robot + "` has no body in the model, and its autopilot flies one",
                     nearest_hint(body, stage.world().catalog().bodies));
  }
  body_ = *found;
  const auto imu = find(robot, link.imu, message_name<ImuReading>());
  if (!imu) {
    throw InputError(link.place_of("imu"),
                     link.imu.empty() ? "robot `" + robot + "` has no IMU, which its autopilot needs"
                                      : "`imu` names `" + link.imu + "`, which is no IMU of robot `" + robot + "`",
                     "as in `sensors: {imu: {type: imu, site: imu, every: 2ms}}`");
  }
  imu_ = *imu;
  gps_ = find(robot, link.gps, message_name<GpsReading>());
  if (!link.gps.empty() && !gps_) {
    throw InputError(link.place_of("gps"), "`gps` names `" + link.gps + "`, which is no GPS of robot `" + robot + "`",
                     "");
  }
  for (std::uint32_t i = 0; i < stage.sensors().size() && gps_; ++i) {
    const world::SensorSpec& spec = stage.sensors()[i].spec();
    if (spec.robot + "/" + spec.name != plant.variables()[*gps_].name) continue;
    origin_ = {spec.gps.latitude, spec.gps.longitude, spec.gps.altitude};
  }
  if (gps_) gps_velocity_ = find(robot, "", message_name<GpsVelocityReading>());
  barometer_ = find(robot, "", message_name<BarometerReading>());
  magnetometer_ = find(robot, "", message_name<MagnetometerReading>());
  airspeed_ = find(robot, "", message_name<AirspeedReading>());
  flow_ = find(robot, "", message_name<OpticalFlowReading>());
  find_ranges(robot, link);
  field_ = dipole_at(origin_[0]);
  for (const auto& [there, what] : {std::pair(gps_.has_value(), "GPS"), std::pair(barometer_.has_value(), "barometer"),
                                    std::pair(magnetometer_.has_value(), "magnetometer")}) {
    if (!there) ideal_ += (ideal_.empty() ? "" : ", ") + std::string(what);
  }
}

void AutopilotSenses::find_ranges(const std::string& robot, const LinkSection& link) {
  for (std::uint32_t i = 0; link.ranges.empty() && i < plant_.variables().size(); ++i) {
    const auto& variable = plant_.variables()[i];
    if (variable.type == message_name<RangeReading>() && variable.name.starts_with(robot + "/")) ranges_.push_back(i);
  }
  for (const std::string& name : link.ranges) {
    const auto range = find(robot, name, message_name<RangeReading>());
    if (!range) {
      throw InputError(link.place_of("ranges"),
                       "`ranges` names `" + name + "`, which is no rangefinder of robot `" + robot + "`", "");
    }
    ranges_.push_back(*range);
  }
  ranges_.resize(std::min(ranges_.size(), autopilot::ranges_most));
}

std::optional<std::uint32_t> AutopilotSenses::find(const std::string& robot, const std::string& given,
                                                   const char* type) const {
  const auto& all = plant_.variables();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].type != type || !all[i].name.starts_with(robot + "/")) continue;
    if (given.empty() || all[i].name == robot + "/" + given) return i;
  }
  return std::nullopt;
}

template <class T>
T AutopilotSenses::read(std::uint32_t variable, SimTime now) {
  T value;
  (void)plant_.asked(variable, now);  // one without a period looks when it is asked
  plant_.read(variable, now, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

void AutopilotSenses::fill(SimTime now, autopilot::VehicleState& state) {
  using namespace autopilot;
  const world::Motion& motion = plant_.state().bodies[body_];
  state.at = now;
  state.position = ned_of_enu(motion.pose.position);
  state.velocity = ned_of_enu(motion.linear);
  state.attitude = ned_frd_of_enu_flu(motion.pose.orientation);
  const auto imu = read<ImuReading>(imu_, now);
  if (imu.number > 0) {
    state.gyro = frd_of_flu(imu.angular_velocity);
    state.accel = frd_of_flu(imu.linear_acceleration);
  } else {  // it has not looked yet: as if it stood still
    state.gyro = {};
    state.accel = rotate_back(state.attitude, {0, 0, -9.80665});
  }
  const auto where = shifted(origin_, state.position[0], state.position[1]);
  state.latitude = where[0];
  state.longitude = where[1];
  state.altitude = origin_[2] - state.position[2];
  fill_fix(now, state);
  fill_air(now, state);
  fill_flow(now, state);
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const auto range = read<RangeReading>(ranges_[i], now);
    state.ranges[i] = range.number > 0 && std::isfinite(range.range) ? std::optional(range.range) : std::nullopt;
  }
}

void AutopilotSenses::fill_fix(SimTime now, autopilot::VehicleState& state) {
  state.fix.fresh = false;
  if (!gps_) {
    if (now < next_fix_) return;
    next_fix_ = now + fix_period;
    state.fix = {true, true, state.latitude, state.longitude, state.altitude, 0.1, 0.1, state.velocity};
    return;
  }
  const auto gps = read<GpsReading>(*gps_, now);
  if (gps.number == std::exchange(fix_number_, gps.number)) return;
  state.fix = {gps.status >= 0,
               true,
               gps.latitude,
               gps.longitude,
               gps.altitude,
               std::sqrt(gps.variance[0] + gps.variance[1]),
               std::sqrt(gps.variance[2]),
               state.velocity};
  if (!gps_velocity_) return;
  const auto moves = read<GpsVelocityReading>(*gps_velocity_, now);
  if (std::isfinite(moves.velocity[0])) state.fix.velocity = autopilot::ned_of_enu(moves.velocity);
}

void AutopilotSenses::fill_air(SimTime now, autopilot::VehicleState& state) {
  const bool slow = now >= next_slow_;
  if (slow) next_slow_ = now + slow_period;
  state.air.fresh = slow;
  if (barometer_) {
    const auto air = read<BarometerReading>(*barometer_, now);
    state.air = {air.number != std::exchange(air_number_, air.number), air.pressure, air.altitude, air.temperature};
  } else if (slow) {
    state.air = {true, pressure_at(state.altitude), state.altitude, temperature_at(state.altitude)};
  }
  state.magnetic_fresh = slow;
  if (magnetometer_) {
    const auto field = read<MagnetometerReading>(*magnetometer_, now);
    state.magnetic_fresh = field.number != std::exchange(field_number_, field.number);
    constexpr double gauss = 1e4;  // in a tesla
    for (std::size_t i = 0; i < 3; ++i) state.magnetic[i] = autopilot::frd_of_flu(field.field)[i] * gauss;
  } else if (slow) {
    state.magnetic = autopilot::rotate_back(state.attitude, field_);
  }
  if (!airspeed_) return;
  const auto airspeed = read<AirspeedReading>(*airspeed_, now);
  if (airspeed.number > 0) state.airspeed = airspeed.airspeed;
}

void AutopilotSenses::fill_flow(SimTime now, autopilot::VehicleState& state) {
  if (!flow_) return;
  const auto flow = read<OpticalFlowReading>(*flow_, now);
  state.flow = autopilot::VehicleState::Flow{};
  autopilot::VehicleState::Flow& told = *state.flow;
  told.fresh = flow.number != std::exchange(flow_number_, flow.number);
  told.over_us = static_cast<std::uint32_t>(flow.integration_time * 1e6);
  told.moved = {flow.flow[0], -flow.flow[1]};  // about forward and right
  told.gyro = autopilot::frd_of_flu(flow.gyro);
  told.distance = std::isfinite(flow.distance) ? flow.distance : -1;
  told.quality = static_cast<std::uint8_t>(std::clamp(flow.quality, 0.0, 1.0) * 255);
}

}  // namespace isochron
