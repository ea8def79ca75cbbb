// The software under test: runs one of the five tasks and writes what it came to as one line of JSON. The ground truth
// for the tables is read from the simulator at the end, as in the paper.

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "msg/robot_types.hpp"
#include "tasks/uav.hpp"

using namespace isochron;
using namespace isochron::tasks;
using namespace std::chrono_literals;

namespace {

std::string option(const char* name, const char* otherwise) {
  const char* value = std::getenv((std::string("ISOCHRON_WITH_") + name).c_str());
  return value == nullptr ? otherwise : value;
}

const Anchor red{{230, 13, 13}}, green{{13, 204, 25}}, blue{{25, 38, 230}};

double yaw_of(const Motion& m) {
  const auto& [w, x, y, z] = m.orientation;
  return std::atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

/// What a task came to, as JSON fields.
struct Fields {
  std::string text;
  void add(const std::string& name, double value) {
    char field[120];
    std::snprintf(field, sizeof field, ", \"%s\": %.9g", name.c_str(), value);
    text += field;
  }
};

/// What the battery has given so far, J.
double energy(Vehicle& vehicle) { return vehicle.robot().read<std::array<double, 5>>("battery")[4]; }

template <class R>
void add(Fields& fields, const Outcome<R>& outcome) {
  fields.add("time", outcome.took.seconds());
  fields.add("ok", outcome.ok() ? 1 : 0);
  for (const auto& [name, value] : outcome.metrics) fields.add(name, value);
}

Fields characterise(Vehicle& vehicle) {
  Fields fields;
  CharacteriseSensor range(vehicle, SensorKind::range), camera(vehicle, SensorKind::camera);
  fields.add("rangefinder", run(vehicle.robot(), "characterise rangefinder", range, 60s).result);
  fields.add("camera", run(vehicle.robot(), "characterise camera", camera, 60s).result);
  return fields;
}

Fields relative_position(Vehicle& vehicle) {
  AnchorTracker tracker(red);
  FindRelativePosition task(vehicle, tracker, red);
  const auto outcome = run(vehicle.robot(), "relative position", task, 20s);
  const auto pose = vehicle.robot().read<Motion>("pose");
  const double x = 5 - pose.position[0] - 0.17, y = -2.5 - pose.position[1];
  Fields fields;
  add(fields, outcome);
  fields.add("angle_error_deg", std::abs(outcome.result.angle - std::atan2(y, x)) * 180 / M_PI);
  fields.add("distance_error", std::abs(outcome.result.distance - std::hypot(x, y)));
  return fields;
}

Fields face_anchor(Vehicle& vehicle) {
  AnchorTracker tracker(red);
  FaceAnchor task(vehicle, tracker, red);
  const auto outcome = run(vehicle.robot(), "face anchor", task, 60s);
  vehicle.robot().wait_until(vehicle.robot().now() + SimSpan(1s));
  const auto pose = vehicle.robot().read<Motion>("pose");
  Fields fields;
  add(fields, outcome);
  fields.add("final_angle_deg",
             std::abs(wrapped(std::atan2(-2.5 - pose.position[1], 5 - pose.position[0]) - yaw_of(pose))) * 180 / M_PI);
  return fields;
}

Fields move_forward(Vehicle& vehicle) {
  AnchorTracker tracker(green);
  constexpr double speed = 0.137;  // m/s: the paper's 8 m in its minute
  MoveForwardUntilAbeam task(vehicle, tracker, green, speed);
  const auto outcome = run(vehicle.robot(), "move forward", task, 170s);
  vehicle.robot().wait_until(vehicle.robot().now() + SimSpan(1500ms));
  const auto pose = vehicle.robot().read<Motion>("pose");
  Fields fields;
  add(fields, outcome);
  fields.add("position_error", std::hypot(pose.position[0] - 8, pose.position[1] - 20));
  return fields;
}

Fields closed_path(Vehicle& vehicle) {
  const auto begin = vehicle.robot().read<Motion>("pose");
  AnchorTracker tracker(blue);
  ClosedPath task(vehicle, tracker, blue, 4.0);
  const auto outcome = run(vehicle.robot(), "closed path", task, 120s);
  const auto end = vehicle.robot().read<Motion>("pose");
  const double truth = std::hypot(end.position[0] - begin.position[0], end.position[1] - begin.position[1]);
  Fields fields;
  add(fields, outcome);
  fields.add("position_error", truth);
  fields.add("estimate_error", std::abs(outcome.result - truth));
  return fields;
}

}  // namespace

int main() {
  auto robot = attach();
  Vehicle vehicle(robot);
  robot.wait_until(SimTime::zero() + SimSpan(200ms));  // sensors have something to say
  const std::string name = option("task", "face_anchor");
  const SimTime start = robot.now();
  const double before = energy(vehicle);
  Fields fields = name == "characterise"        ? characterise(vehicle)
                  : name == "relative_position" ? relative_position(vehicle)
                  : name == "move_forward"      ? move_forward(vehicle)
                  : name == "closed_path"       ? closed_path(vehicle)
                                                : face_anchor(vehicle);
  const double given = energy(vehicle) - before, passed = (robot.now() - start).seconds();
  fields.add("energy", given);
  fields.add("power", passed > 0 ? given / passed : 0);
  const std::string line = "{\"task\": \"" + name + "\"" + fields.text + "}";
  robot.log("result " + line);
  const std::string file = option("result", "");
  std::FILE* out = file.empty() ? stdout : std::fopen(file.c_str(), "w");
  if (out == nullptr) return 1;
  std::fprintf(out, "%s\n", line.c_str());
  if (out != stdout) std::fclose(out);
}
