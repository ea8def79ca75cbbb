// Reads every kind of sensor over the link and writes what it saw to a file; apps/test/world_test.py checks the lines.
#include <cstdio>

#include "client/client.hpp"
#include "msg/ros_messages.hpp"
#include "msg/sensor_types.hpp"

using namespace isochron;

namespace {

std::FILE* out = nullptr;
void say(const char* format, double a = 0, double b = 0) {
  std::fprintf(out, format, a, b);
  std::fputc('\n', out);
}

double ms(SimTime t) { return static_cast<double>(t.ns()) * 1e-6; }

void small_ones(Robot& robot, SimTime now) {
  const auto pose = robot.read<PoseReading>("pose");
  say("pose of %g at %g", ms(pose.stamp), ms(now));
  const auto imu = robot.read<ImuReading>("imu");
  say("imu %g accelerates %.2f", static_cast<double>(imu.number), imu.linear_acceleration[2]);
  const auto gps = robot.read<GpsReading>("gps");
  say("gps at %.3f status %g", gps.latitude, static_cast<double>(gps.status));
  const auto contact = robot.read<ContactReading>("bumper");
  say("bumper touches %g", static_cast<double>(contact.touching));
}

void large_ones(Robot& robot) {
  if (const auto image = robot.read<sensor_msgs::Image>("camera/image")) {
    say("image of %.0f bytes, taken at %g", static_cast<double>(image->data.size()), ms(image->header.stamp));
  }
  if (const auto cloud = robot.read<sensor_msgs::PointCloud2>("lidar")) {
    say("cloud of %g points", cloud->width * cloud->height);
  } else {
    say("no cloud yet");
  }
}

void one_that_takes_its_time(Robot& robot) {
  const SimTime before = robot.now();
  const auto range = robot.read<RangeReading>("sonar");
  say("sonar %.2f m after %g ms", range.range, ms(robot.now()) - ms(before));
}

}  // namespace

int main(int, char** argv) {
  out = std::fopen(argv[1], "w");
  if (out == nullptr) return 1;
  auto robot = attach();
  while (const auto now = robot.wait(SimSpan(std::chrono::milliseconds(50)))) {
    small_ones(robot, *now);
    large_ones(robot);
    one_that_takes_its_time(robot);
  }
  std::fclose(out);
}
