// Reads and writes several variables in one request, through the C++ and the C interface; exits with the number of the
// check that failed. For the prey of models/ships.xml with a sensor `imu`.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "client/client.hpp"
#include "msg/robot_types.hpp"
#include "msg/sensor_types.hpp"

using namespace std::chrono_literals;

namespace {

[[noreturn]] void fails(int check, const std::string& why) {
  std::fprintf(stderr, "check %d: %s\n", check, why.c_str());
  std::exit(check);
}

void read_in_c() {
  isochron_robot* robot = nullptr;
  isochron_attach(&robot);
  double fx = 7, fy = 7;
  isochron_item items[] = {{"fx", "float64", &fx, sizeof fx}, {"fy", nullptr, &fy, sizeof fy}};
  std::int64_t at = -1;
  if (isochron_read_all(robot, items, 2, &at) != ISOCHRON_OK || at < 0) fails(10, isochron_error());
  if (fx != 0.25 || fy != -0.5 || items[0].size != 8) fails(11, "it read something else");
  items[1].name = "nothing_of_this_name";
  if (isochron_read_all(robot, items, 2, &at) != ISOCHRON_UNKNOWN_NAME) fails(12, "an unknown name was read");
  items[1] = {"fy", "int32", &fy, sizeof fy};
  if (isochron_write_all(robot, items, 2) != ISOCHRON_WRONG_TYPE) fails(13, "a wrong type was written");
}

}  // namespace

int main() {
  auto robot = isochron::attach();
  isochron::Motion pose;
  isochron::ImuReading imu;
  double fx = 0, fy = 0;
  isochron::SimTime before = isochron::SimTime::before_all();
  const auto look = [&] {
    const auto at = robot.read_all({{"pose", pose}, {"imu", imu}, {"fx", fx}, {"fy", fy}});
    if (at < before) fails(1, "time went back");
    if (imu.stamp > at) fails(2, "a reading from the future");
    before = at;
  };
  const auto wait_twice = [&] { return robot.wait(10ms) && robot.wait(10ms); };  // what is written acts after a step
  robot.wait(10ms);
  look();
  robot.write_all({{"fx", 0.25}, {"fy", -0.5}});
  if (!wait_twice()) return 0;
  look();
  if (fx != 0.25 || fy != -0.5) fails(3, "it reads back " + std::to_string(fx) + ", " + std::to_string(fy));
  read_in_c();
  bool refused = false;
  try {
    robot.write_all({{"fx", 1.0}, {"fy", std::numeric_limits<double>::quiet_NaN()}});
  } catch (const isochron::ClientError&) {
    refused = true;
  }
  if (!refused) fails(4, "what is not a number was written");
  if (!wait_twice()) return 0;
  look();
  if (fx != 0.25) fails(5, "half of a refused request was done");
  robot.log("all was well");
  while (robot.wait(10ms)) look();
}
