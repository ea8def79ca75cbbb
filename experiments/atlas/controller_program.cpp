// The whole-body controller as a robot program: every 6 ms, from the newest estimate to torques. Orders may come at any
// time, from a program called operator.

#include "client/client.hpp"
#include "experiments/atlas/controller.hpp"

using namespace std::chrono_literals;

int main() {
  atlas::Controller controller(ATLAS_MODEL);
  auto robot = isochron::attach();
  atlas::Estimate estimate;
  atlas::Order order;
  bool any = false;
  while (robot.wait(6ms)) {
    while (const auto message = robot.receive<atlas::Estimate>("estimator")) {
      estimate = message->value;
      any = true;
    }
    while (const auto message = robot.receive<atlas::Order>("operator")) order = message->value;
    if (!any) continue;
    robot.write("efforts", controller.control(estimate, 1e-9 * static_cast<double>(estimate.time_ns), order).torque);
  }
  if (controller.failures() > 0) robot.log(std::to_string(controller.failures()) + " times without a solution");
}
