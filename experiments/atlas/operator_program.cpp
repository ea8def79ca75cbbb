// The operator, and whoever pushes the robot. It tells the controller to take steps at one time and pushes the pelvis
// at another:
//
//   with: {steps: 4, forward: 0.2, step_at: 1, push: 100, push_at: 3, push_for: 0.2, push_side: 1}
//
// times in seconds, push in N: forwards, or to the left where push_side is 1. It looks 50 times a second, as somebody
// at a console would.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "client/client.hpp"
#include "experiments/atlas/signals.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;

namespace {

constexpr double fallen_below = 0.6;  // m; the pelvis is at 0.93 when it stands

double with(const char* name, double otherwise) {
  const char* text = std::getenv((std::string("ISOCHRON_WITH_") + name).c_str());
  return text != nullptr ? std::strtod(text, nullptr) : otherwise;
}

}  // namespace

int main() {
  const double step_at = with("step_at", 1), push_at = with("push_at", 3), push_for = with("push_for", 0.2);
  const double push = with("push", 0);
  const bool sideways = with("push_side", 0) != 0;
  atlas::Order order{0, with("steps", 0), with("forward", 0)};
  auto robot = isochron::attach();
  bool pushing = false;
  while (const auto now = robot.wait(20ms)) {
    const double t = now->seconds();
    const auto pose = robot.read<isochron::Motion>("pose");
    if (pose.position == std::array<double, 3>{}) break;  // nobody answers any more: the run is over
    if (pose.position[2] < fallen_below) {
      std::fputs("the robot fell\n", stderr);
      return 1;
    }
    if (order.number == 0 && order.steps > 0 && t >= step_at) {
      order.number = 1;
      robot.send("controller", order);
    }
    if (const bool push_now = push != 0 && t >= push_at && t < push_at + push_for; push_now != pushing) {
      pushing = push_now;
      isochron::Wrench wrench{};
      wrench.force[sideways ? 1 : 0] = pushing ? push : 0;
      robot.write("wrench", wrench);
    }
  }
}
