// Plans the speed at which a car of the full house comes to its signal: tries many, each through to its end, and sends the
// driver the one that wastes least. It is a planner that really computes: how old a plan is when it is there depends on
// how fast the car's computer is.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "client/client.hpp"
#include "experiments/full_house/driving.hpp"
#include "msg/robot_types.hpp"
#include "v2x/station/time_marks.hpp"

namespace {

/// How bad it is to come at this speed to a signal that changes in so many seconds: acceleration squared, and time.
double cost_of(double wanted, double speed, double to_line, bool green, double change) {
  constexpr double dt = 0.002, horizon = 20;
  double cost = 0, x = 0, v = speed;
  for (double t = 0; t < horizon; t += dt) {
    const bool goes = t < change ? green : !green;
    double target = wanted;
    const double left = to_line - x;
    if (!goes && left > 0) target = std::min(target, std::sqrt(std::max(0.0, 2 * 2.0 * (left - 0.5))));
    const double a = std::clamp(1.5 * (target - v), -5.0, 2.5);
    v = std::max(0.0, v + a * dt);
    x += v * dt;
    cost += (a * a + (x < to_line + 20 ? 4 : 0)) * dt;
  }
  return cost;
}

}  // namespace

int main() {
  auto robot = isochron::attach();
  const char* approach = std::getenv("ISOCHRON_WITH_approach");
  full_house::Driving driving(full_house::approach_of(approach == nullptr ? "" : approach), 8);
  while (robot.wait()) {
    while (const auto heard = robot.receive_octets("v2x")) driving.hear(heard->value);
    const auto pose = robot.read<isochron::Motion>("pose");
    const double speed = robot.read<double>("speed");
    const double left = driving.to_line(pose.position[0], pose.position[1]);
    if (left < 0 || driving.change_s() < 0) continue;
    const double change =
        isochron::v2x::until_mark(driving.change_s(), isochron::v2x::second_of_hour(robot.now()), 3600);
    double best = 8, least = 1e300;
    for (double wanted = 2; wanted <= 10; wanted += 0.05) {
      const double cost = cost_of(wanted, speed, left, driving.green(), change);
      if (cost < least) {
        least = cost;
        best = wanted;
      }
    }
    robot.send("driver", best);
  }
}
