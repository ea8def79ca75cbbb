// The predator's controller: follows the newest plan, feed-forward plus feedback, for at most 0.1 s, and does nothing
// when it has none. It does not know how long the planner thought: that is the experiment.

#include <optional>

#include "client/client.hpp"
#include "experiments/predator_prey/ships.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;
using ships::operator+;
using ships::operator-;
using ships::operator*;

namespace {

constexpr double position_gain = 8;
constexpr double velocity_gain = 2;
constexpr double rotation_gain = 1;
constexpr double rate_gain = 0.1;

isochron::Wrench follow(const ships::Plan& plan, std::size_t tick, const isochron::Motion& now) {
  const ships::Vec3 position_error = ships::at_tick(plan.positions, tick) - now.position;
  const ships::Vec3 velocity_error = ships::at_tick(plan.velocities, tick) - now.linear;
  const ships::Vec3 force =
      ships::at_tick(plan.forces, tick) + position_gain * position_error + velocity_gain * velocity_error;
  // Keep the ship upright: twice the vector part of its quaternion is its rotation, for small ones.
  const double side = now.orientation[0] < 0 ? -2 : 2;
  const ships::Vec3 rotation{side * now.orientation[1], side * now.orientation[2], side * now.orientation[3]};
  return {force, -rotation_gain * rotation - rate_gain * now.angular};
}

}  // namespace

int main() {
  auto robot = isochron::attach();
  std::optional<ships::Plan> plan;
  std::size_t tick = 0;
  while (robot.wait(10ms)) {
    while (auto message = robot.receive<ships::Plan>("planner")) {
      plan = message->value;
      tick = 0;
    }
    if (plan && tick >= plan->length) plan.reset();
    const auto pose = robot.read<isochron::Motion>("pose");
    robot.write("wrench", plan ? follow(*plan, tick++, pose) : isochron::Wrench{});
  }
}
