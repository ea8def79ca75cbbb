#include "world/sensors/make_sensor.hpp"

#include "world/sensors/kinds.hpp"

namespace isochron::world {

std::unique_ptr<Sensor> make_sensor(const SensorSpec& spec, const Catalog& catalog, std::uint64_t seed) {
  if (auto mistakes = check(spec, catalog); !mistakes.empty()) throw InputError(std::move(mistakes));
  switch (spec.type) {
    case SensorType::pose:
      return make_pose_sensor(spec, catalog, seed);
    case SensorType::joints:
      return make_joints_sensor(spec, catalog, seed);
    case SensorType::contact:
      return make_contact_sensor(spec, catalog, seed);
    case SensorType::imu:
      return make_imu(spec, catalog, seed);
    case SensorType::gps:
      return make_gps(spec, catalog, seed);
    case SensorType::range:
      return make_range_sensor(spec, catalog, seed);
    case SensorType::lidar:
      return make_lidar(spec, catalog, seed);
    case SensorType::camera:
      return make_camera(spec, catalog, seed);
    case SensorType::model:
      return make_model_sensor(spec, catalog, seed);
    case SensorType::barometer:
      return make_barometer(spec, catalog, seed);
    case SensorType::magnetometer:
      return make_magnetometer(spec, catalog, seed);
    case SensorType::airspeed:
      return make_airspeed(spec, catalog, seed);
    case SensorType::optical_flow:
      return make_optical_flow(spec, catalog, seed);
  }
  ENSURE(false, "a sensor of no known type");
  return nullptr;
}

}  // namespace isochron::world
