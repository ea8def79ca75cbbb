// Sensors on a quadrotor that stands in its building: what they read, and when it is there to be read.
// usage: look_around MODEL.xml [picture.ppm]

#include <cstdio>
#include <fstream>

#include "core/time_text.hpp"
#include "msg/ros_messages.hpp"
#include "world/sensors/sensor_set.hpp"

using namespace isochron;
using namespace isochron::world;
using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  if (argc < 2) return std::fputs("usage: look_around MODEL.xml [picture.ppm]\n", stderr), 2;
  const auto engine = load_engine("mujoco", argv[1]);
  Scene scene(engine->geometry());

  SensorSpec range{.robot = "uav", .name = "range", .type = SensorType::range, .site = "rangefinder"};
  range.period = 50ms, range.latency = 98ms, range.range.noise = 0.01, range.range.max = 40;
  SensorSpec camera{.robot = "uav", .name = "camera", .type = SensorType::camera, .camera = "camera"};
  camera.period = 33ms, camera.latency = 37ms, camera.picture.shadows = true;
  SensorSet sensors({range, camera}, engine->catalog(), 1);

  while (engine->time() < SimTime::zero() + 200ms) {
    const SimSpan step = engine->natural_step();
    sensors.take_before(engine->time() + step, WorldView(*engine, &scene), {});  // the state in force until the step
    if (!engine->step(step)) return std::fputs("the world diverged\n", stderr), 1;
  }
  const Reading* echo = sensors[0].latest_at(engine->time());
  sensor_msgs::Range message;
  if (echo == nullptr || !echo->decode(message)) return 1;
  std::printf("at %s the rangefinder says %.2f m, of %s\n", to_string(engine->time()).c_str(),
              static_cast<double>(message.range), to_string(echo->taken()).c_str());

  sensor_msgs::Image image;
  if (!sensors[1].latest_at(engine->time())->decode(image)) return 1;
  std::printf("the camera's picture is of %s\n", to_string(image.header.stamp).c_str());
  if (argc > 2) {
    std::ofstream file(argv[2], std::ios::binary);
    file << "P6\n" << image.width << " " << image.height << "\n255\n";
    file.write(reinterpret_cast<const char*>(image.data.data()), static_cast<std::streamsize>(image.data.size()));
  }
} catch (const InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
