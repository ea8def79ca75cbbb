#pragma once
// One maker for each kind of sensor; make_sensor() chooses. Each requires that check() found nothing.

#include <memory>

#include "world/sensors/sensor.hpp"

namespace isochron::world {

std::unique_ptr<Sensor> make_pose_sensor(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_joints_sensor(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_contact_sensor(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_imu(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_gps(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_range_sensor(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_lidar(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_camera(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_barometer(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_magnetometer(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_airspeed(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_optical_flow(const SensorSpec&, const Catalog&, std::uint64_t seed);
std::unique_ptr<Sensor> make_model_sensor(const SensorSpec&, const Catalog&, std::uint64_t seed);

}  // namespace isochron::world
