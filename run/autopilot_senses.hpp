#pragma once
// What an autopilot is told of its robot, gathered from the robot's variables: its IMU and GPS as those sensors see the
// world, with their noise and latency, its rangefinders, and what no sensor of it measures as it truly is.
//
// Threads: the run's. Cost: no allocation.
// Fails:   the constructor throws InputError at the place of the key.

#include <string>
#include <vector>

#include "bridge/autopilot/vehicle.hpp"
#include "run/world_plant.hpp"

namespace isochron {

class AutopilotSenses {
 public:
  AutopilotSenses(const Scenario& scenario, const std::string& robot, const LinkSection& link, Stage& stage,
                  WorldPlant& plant);
  void fill(SimTime now, autopilot::VehicleState& state);
  /// "GPS, barometer": what the robot has no sensor for, and is told as it truly is.
  [[nodiscard]] const std::string& ideal() const { return ideal_; }

 private:
  void find_ranges(const std::string& robot, const LinkSection& link);
  void fill_fix(SimTime now, autopilot::VehicleState& state);
  void fill_air(SimTime now, autopilot::VehicleState& state);
  void fill_flow(SimTime now, autopilot::VehicleState& state);
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& robot, const std::string& given,
                                                  const char* type) const;
  template <class T>
  [[nodiscard]] T read(std::uint32_t variable, SimTime now);

  WorldPlant& plant_;
  std::uint32_t body_ = 0;
  std::uint32_t imu_ = 0;
  std::optional<std::uint32_t> gps_, gps_velocity_, barometer_, magnetometer_, airspeed_, flow_;
  std::vector<std::uint32_t> ranges_;
  std::array<double, 3> origin_;
  autopilot::Vec3 field_{};  // of the earth's magnetism, NED, gauss
  std::uint64_t fix_number_ = 0, air_number_ = 0, field_number_ = 0, flow_number_ = 0;  // the newest that it was told
  SimTime next_fix_, next_slow_;
  std::string ideal_;
};

}  // namespace isochron
