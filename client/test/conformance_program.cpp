// One program for every mode and attachment (apps/test/conformance_test.py has its twin in Python): it does what
// programs do, right and wrong, and logs what it was told. `asks` waits with its declared period, reads, writes, is
// refused, and receives what `tells` sends it.
#include <cmath>
#include <string>

#include "client/client.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;

namespace {

template <class Do>
void refused(isochron::Robot& robot, const char* what, Do&& act) {
  try {
    act();
    robot.log(std::string(what) + ": done");
  } catch (const isochron::ClientError& error) {
    robot.log(std::string(what) + ": " + error.what());
  }
}

void asks(isochron::Robot& robot) {
  robot.wait();
  (void)robot.read<isochron::Motion>("pose");
  robot.write("fx", 0.25);
  refused(robot, "unknown", [&] { (void)robot.read<double>("poze"); });
  refused(robot, "type", [&] { (void)robot.read<int>("fx"); });
  refused(robot, "read only", [&] { robot.write("pose", isochron::Motion{}); });
  refused(robot, "not a number", [&] { robot.write("fx", std::nan("")); });
  refused(robot, "nobody", [&] { robot.send("whom", 1.0); });
  refused(robot, "from nobody", [&] { (void)robot.receive<double>("whom"); });
  int good = 0;
  while (const auto now = robot.wait()) {
    try {
      while (robot.receive<double>("tells")) ++good;
    } catch (const isochron::ClientError& error) {
      robot.log(std::string("message: ") + error.what());
    }
    if (*now >= isochron::SimTime::zero() + isochron::SimSpan(250ms)) break;
  }
  robot.log("good messages: " + std::to_string(good));
  while (robot.wait()) {
  }
}

void tells(isochron::Robot& robot) {
  robot.wait();
  robot.send("asks", std::int32_t{1});
  for (int i = 0; i < 5 && robot.wait(); ++i) robot.send("asks", 1.0 + i);
  while (robot.wait()) {
  }
}

}  // namespace

int main(int count, char** values) {
  auto robot = isochron::attach();
  count > 1 && std::string(values[1]) == "tells" ? tells(robot) : asks(robot);
}
