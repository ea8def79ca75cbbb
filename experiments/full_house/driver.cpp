// Drives a car of the full house. On this machine what it computes is measured, on a board the board tells; it does not know.
// With a planner beside it, it takes the speed that the planner sends.

#include <cstdlib>
#include <string>

#include "client/client.hpp"
#include "experiments/full_house/driving.hpp"
#include "msg/robot_types.hpp"

int main() {
  auto robot = isochron::attach();
  const char* approach = std::getenv("ISOCHRON_WITH_approach");
  const char* speed = std::getenv("ISOCHRON_WITH_speed");
  full_house::Driving driving(full_house::approach_of(approach == nullptr ? "" : approach),
                              speed == nullptr ? 8 : std::atof(speed));
  const bool planned = std::getenv("ISOCHRON_WITH_planned") != nullptr;
  while (robot.wait()) {
    while (const auto heard = robot.receive_octets("v2x")) driving.hear(heard->value);
    if (planned) {
      while (const auto plan = robot.receive<double>("planner")) driving.want(plan->value);
    }
    const auto pose = robot.read<isochron::Motion>("pose");
    const auto controls = driving.drive(pose.position[0], pose.position[1], full_house::heading_of(pose.orientation),
                                        robot.read<double>("speed"));
    robot.write_all({{"steer", controls.steer}, {"throttle", controls.throttle}, {"brake", controls.brake}});
  }
}
