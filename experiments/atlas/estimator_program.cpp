// The state estimator as a robot program: each millisecond it reads what the robot measures and sends its estimate on.

#include "client/client.hpp"
#include "experiments/atlas/estimator.hpp"

using namespace std::chrono_literals;

namespace {

atlas::Sensors sense(isochron::Robot& robot) {
  atlas::Sensors sensors;
  sensors.position = robot.read<atlas::Joints>("joint_positions");
  sensors.velocity = robot.read<atlas::Joints>("joint_velocities");
  sensors.orientation = robot.read<atlas::Quaternion>("imu_orientation");
  sensors.angular_velocity = robot.read<atlas::Vec3>("imu_gyro");
  sensors.acceleration = robot.read<atlas::Vec3>("imu_acceleration");
  sensors.foot_force = {robot.read<double>("l_sole_force"), robot.read<double>("r_sole_force")};
  return sensors;
}

}  // namespace

int main() {
  atlas::Estimator estimator(ATLAS_MODEL);
  auto robot = isochron::attach();
  while (const auto now = robot.wait(1ms)) {
    robot.send("controller", estimator.update(sense(robot), now->ns(), 1e-3));
  }
}
