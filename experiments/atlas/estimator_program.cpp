// The state estimator as a robot program: each millisecond it reads what the robot measures and sends its estimate on.
// It also stands in for the computer on board, as nobody else has a millisecond: told to hold, it has the motors hold
// the robot's pose.

#include "client/client.hpp"
#include "experiments/atlas/controller.hpp"
#include "experiments/atlas/estimator.hpp"

using namespace std::chrono_literals;

namespace {

atlas::Sensors sense(isochron::Robot& robot) {
  atlas::Sensors s;
  robot.read_all({{"joint_positions", s.position},
                  {"joint_velocities", s.velocity},
                  {"imu_orientation", s.orientation},
                  {"imu_gyro", s.angular_velocity},
                  {"imu_acceleration", s.acceleration},
                  {"l_sole_force", s.foot_force[atlas::left]},
                  {"r_sole_force", s.foot_force[atlas::right]}});
  return s;
}

}  // namespace

int main() {
  atlas::Estimator estimator(ATLAS_MODEL);
  auto robot = isochron::attach();
  atlas::Hold hold;
  while (const auto now = robot.wait(1ms)) {
    const atlas::Sensors sensors = sense(robot);
    robot.send("controller", estimator.update(sensors, now->ns(), 1e-3));
    while (const auto message = robot.receive<atlas::Hold>("controller")) hold = message->value;
    if (hold.active != 0) robot.write("efforts", atlas::hold_torques(hold, sensors).torque);
  }
}
