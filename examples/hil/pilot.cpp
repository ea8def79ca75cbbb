// Brings its ship to the origin and holds it there. The same executable runs in every mode, and on a board.

#include <chrono>

#include "client/client.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;

int main() {
  auto robot = isochron::attach();
  while (robot.wait(20ms)) {
    const auto at = robot.read<isochron::Motion>("pose");
    isochron::Wrench push;
    for (std::size_t i = 0; i < 3; ++i) push.force[i] = -2 * at.position[i] - 2.5 * at.linear[i];
    robot.write("wrench", push);
  }
}
