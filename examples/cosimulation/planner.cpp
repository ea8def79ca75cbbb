// Plans the way of the car in four.yaml: tries bends of the next two seconds, takes the one that stays nearest to the
// middle of the lane, and steers it. It computes for as long as that takes.

#include <array>
#include <cmath>
#include <cstdlib>

#include "client/client.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;

namespace {

constexpr double lane = -1.6, wheelbase = 2.65, max_steer = 0.6;

double number(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atof(text);
}

/// How far off the lane a bend leads, with what it costs to turn the wheel.
double cost(double y, double heading, double speed, double steer) {
  constexpr double dt = 0.02;
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    const double back = i < 50 ? steer : 0;  // one second of bend, one straight on
    heading += speed / wheelbase * std::tan(back) * dt;
    y += speed * std::sin(heading) * dt;
    sum += (y - lane) * (y - lane) + 4 * heading * heading;
  }
  return sum + 20 * steer * steer;
}

}  // namespace

int main() {
  const int tries = static_cast<int>(number("ISOCHRON_WITH_tries", 200));
  auto robot = isochron::attach();
  while (robot.wait(50ms)) {
    const auto pose = robot.read<isochron::Motion>("pose");
    const auto& q = pose.orientation;
    const double heading = std::atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
    const double speed = std::max(std::hypot(pose.linear[0], pose.linear[1]), 2.0);
    double best = 0, least = 1e300;
    for (int i = 0; i < tries; ++i) {
      const double steer = 0.2 * (2.0 * i / (tries - 1) - 1);
      const double here = cost(pose.position[1], heading, speed, steer);
      if (here < least) least = here, best = steer;
    }
    robot.write("steer", best / max_steer);
  }
}
