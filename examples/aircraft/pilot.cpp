// Flies the quadrotor of models/uav.xml by its sensors: takes off, goes to a place and holds it, whatever the wind
// does. An estimator makes position and velocity from IMU and tracker, the cascade of
// world/aircraft/flight_controller.hpp makes commands for the motors from them. The same executable runs in every mode.
//
//     with: {x: 0, y: 0, z: 1.5}      where it goes

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "client/client.hpp"
#include "msg/sensor_types.hpp"
#include "world/aircraft/flight_controller.hpp"

using namespace isochron;
using namespace isochron::world;
using namespace std::chrono_literals;

namespace {

double option(const char* name, double otherwise) {
  const char* value = std::getenv((std::string("ISOCHRON_WITH_") + name).c_str());
  return value == nullptr ? otherwise : std::strtod(value, nullptr);
}

/// The quadrotor of models/uav.xml as its data sheet would have it.
FlightVehicle quadrotor() {
  FlightVehicle vehicle;
  vehicle.rotors = rotors_of(MultirotorFrame::quad_x, 0.226, 0.05);
  vehicle.mass = 1.22;
  vehicle.inertia = {0.0055, 0.0065, 0.0105};
  return vehicle;
}

Vec3 turned(const Quat& q, const Vec3& v) {
  const Vec3 axis{q[1], q[2], q[3]};
  const Vec3 t = 2.0 * cross(axis, v);
  return v + q[0] * t + cross(axis, t);
}

/// Position and velocity: carried on by the accelerometer, pulled back by the tracker.
class Estimator {
 public:
  void feel(const ImuReading& imu) {
    if (imu.number == 0 || imu.number == felt_) return;
    const double dt = felt_ == 0 ? 0 : (imu.stamp - stamp_).seconds();
    felt_ = imu.number, stamp_ = imu.stamp;
    const Vec3 acceleration = turned(imu.orientation, imu.linear_acceleration) - Vec3{0, 0, 9.81};
    velocity = velocity + dt * acceleration;
    position = position + dt * velocity;
  }
  void see(const PoseReading& pose) {
    if (pose.number == 0 || pose.number == seen_) return;
    if (seen_ == 0) position = pose.position;
    seen_ = pose.number;
    const double late = (stamp_ - pose.stamp).seconds();  // where it was then, as it believes now
    const Vec3 off = pose.position - (position - late * velocity);
    position = position + 0.2 * off;
    velocity = velocity + 0.9 * off;
  }
  [[nodiscard]] bool ready() const { return felt_ > 0 && seen_ > 0; }

  Vec3 position{}, velocity{};

 private:
  std::uint64_t felt_ = 0, seen_ = 0;
  SimTime stamp_;
};

}  // namespace

int main() {
  constexpr auto period = 4ms;
  auto robot = attach();
  FlightController controller(quadrotor());
  Estimator estimate;
  const FlightGoal goal{{option("x", 0), option("y", 0), option("z", 1.5)}, {}, 0, 0};
  while (robot.wait(period)) {
    const auto imu = robot.read<ImuReading>("imu");
    estimate.feel(imu);
    estimate.see(robot.read<PoseReading>("tracker"));
    if (!estimate.ready()) continue;
    const FlightState state{estimate.position, estimate.velocity, imu.orientation, imu.angular_velocity};
    const auto motors = controller.step(state, goal, std::chrono::duration<double>(period).count());
    robot.write("motors", std::array<double, 4>{motors[0], motors[1], motors[2], motors[3]});
  }
}
