// The stage with everything on it: a car, its driver, sensors of every kind, actuators.

#include "run/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "msg/ros_messages.hpp"
#include "rt/allocation_guard.hpp"
#include "run/world_plant.hpp"
#include "scenario/timed_faults.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

const char* const everything = R"(name: everything
seed: 3
world: {model: car.xml, wind: {velocity: [5, 0, 0]}}
vehicles:
  car:
    start: {position: [0, 0], speed: 6}
    driver: {path: [[0, 0], [30, 0], [30, 30], [0, 30]], closed: true, speed: 8}
robots:
  car:
    sensors:
      pose: {type: pose, every: 20ms, latency: 30ms, jitter: 5ms, pose: {position_noise: 0.1}}
      imu: {type: imu, every: 4ms, imu: {gyroscope: {noise_density: 0.01, bias: 0.1, bias_walk: 0.01}, accelerometer: {noise_density: 0.1, bias_walk: 0.1}}}
      gps: {type: gps, site: car/gps, every: 50ms, gps: {horizontal_noise: 1, vertical_noise: 2, drift: 2, drift_time: 5s}}
      ahead: {type: range, every: 30ms, range: {noise: 0.1, drop_out: 0.1}}
      lidar: {type: lidar, every: 60ms, lidar: {channels: 2, columns: 30, sectors: 6, noise: 0.05, drop_out: 0.1}}
      camera: {type: camera, camera: car/front, every: 50ms, latency: 20ms, picture: {width: 16, height: 12, noise: 3, depth: true, segmentation: true}}
      touch: {type: contact, every: 10ms}
      speed: {type: model, model_sensor: car/speed, every: 10ms}
      loads: {type: model, model_sensor: car/tyre_load, every: 10ms}
    actuators:
      reverse: {actuator: car/reverse, delay: 15ms, rate: 3, lag: 20ms, high: 0.4}
)";

Scenario scenario_of(const std::string& text) { return read_scenario(text, "s.yaml", ISOCHRON_SOURCE_DIR "/models"); }

void append(std::vector<std::byte>& trace, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  trace.insert(trace.end(), bytes, bytes + size);
}

/// Everything that anybody could see during so many steps, with commands on the way.
std::vector<std::byte> trace_of(Stage& stage, int steps) {
  std::vector<std::byte> trace;
  world::State state = stage.world().make_state();
  const std::uint32_t reverse = stage.world().actuator("car/reverse");
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(stage.command(reverse, stage.world().time(), 0.001 * (i % 300)).ok());
    EXPECT_TRUE(stage.take_step().ok());
    stage.world().read(state);
    append(trace, state.bodies.data(), state.bodies.size() * sizeof(world::Motion));
    append(trace, state.sensors.data(), state.sensors.size() * sizeof(double));
    append(trace, state.commands.data(), state.commands.size() * sizeof(double));
    for (std::size_t s = 0; s < stage.sensors().size(); ++s) {
      const world::Reading* reading = stage.sensors()[s].latest_at(state.time);
      if (reading == nullptr) continue;
      for (std::size_t o = 0; o < stage.sensors()[s].outputs().size(); ++o) {
        append(trace, reading->bytes(o).data(), reading->bytes(o).size());
      }
    }
  }
  return trace;
}

TEST(Stage, DoesTheSameAfterARestoreBitForBit) {
  Stage stage(scenario_of(everything));
  trace_of(stage, 211);  // in the middle of a LiDAR's turn
  std::vector<double> saved(stage.snapshot_size());
  stage.snapshot(saved);
  const auto first = trace_of(stage, 300);
  stage.restore(saved);
  EXPECT_TRUE(trace_of(stage, 300) == first);
}

TEST(Stage, ARestoreIntoAnotherStageGoesOnAlike) {
  Stage one(scenario_of(everything)), other(scenario_of(everything));
  trace_of(one, 211);
  std::vector<double> saved(one.snapshot_size());
  one.snapshot(saved);
  trace_of(other, 97);
  other.restore(saved);
  EXPECT_TRUE(trace_of(one, 200) == trace_of(other, 200));
}

TEST(Stage, SavesAndRestoresWithoutAllocating) {
  ASSERT_TRUE(rt::AllocationGuard::watches_heap());
  Stage stage(scenario_of(everything));
  trace_of(stage, 50);
  std::vector<double> saved(stage.snapshot_size());
  rt::AllocationGuard guard("snapshot");
  stage.snapshot(saved);
  stage.restore(saved);
  EXPECT_EQ(guard.report().allocations, 0U) << guard.report().text();
}

TEST(Stage, AModelSensorSeesWhatAVehicleMeasures) {
  Stage stage(scenario_of(everything));
  trace_of(stage, 100);
  const world::Reading* reading = stage.sensors().find("car", "speed")->latest_at(stage.world().time());
  ASSERT_NE(reading, nullptr);
  isochron_msgs::Values values;
  ASSERT_TRUE(reading->decode(values));
  ASSERT_EQ(values.values.size(), 1U);
  EXPECT_GT(values.values[0], 1);
  EXPECT_LT(values.values[0], 8);
}

TEST(Stage, AVehicleStandsOnItsGroundAndItsDriversCommandsAreSeen) {
  Stage stage(scenario_of(everything));
  const std::uint32_t body = stage.world().body("car");
  world::State state = stage.world().make_state();
  EXPECT_NEAR(state.bodies[body].pose.position[2], 0.54, 0.02);
  trace_of(stage, 250);
  stage.world().read(state);
  EXPECT_NEAR(state.bodies[body].pose.position[2], 0.54, 0.05);
  EXPECT_GT(
      state.commands[stage.world().actuator("car/throttle")] + state.commands[stage.world().actuator("car/brake")], 0);
}

std::string mistakes_of(const std::string& text) {
  try {
    Stage stage(scenario_of(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Vehicles, MistakesHaveTheirPlaceAndAHint) {
  EXPECT_EQ(mistakes_of("name: t\nworld: {model: car.xml}\nvehicles:\n  cra: {}\n"),
            "s.yaml:4:8: vehicle `cra`: the model has no body of that name; did you mean `car`?");
  EXPECT_NE(
      mistakes_of("name: t\nworld: {model: ships.xml}\nvehicles:\n  prey: {}\n").find("has no ground for vehicles"),
      std::string::npos);
  EXPECT_NE(mistakes_of("name: t\nvehicles:\n  car: {}\n").find("`vehicles` need a `world`"), std::string::npos);
  EXPECT_NE(mistakes_of("name: t\nworld: {model: car.xml}\nvehicles:\n  car: {driver: {path: [[0, 0]]}}\n")
                .find("s.yaml:4:24: `path` needs two points"),
            std::string::npos);
  EXPECT_NE(mistakes_of("name: t\nworld: {model: car.xml}\nvehicles:\n  car: {driver: {speed: 3}}\n")
                .find("a driver needs a `file` or a `path`"),
            std::string::npos);
  EXPECT_NE(mistakes_of("name: t\nworld: {model: car.xml}\nvehicles:\n  car: {driver: nobody}\n").find("s.yaml:4:17"),
            std::string::npos);
}

constexpr const char* flying = R"(
name: t
world: {model: uav.xml, step: 2ms, wind: {velocity: [3, 0, 0]}}
aircraft:
  uav: {start: {position: [0, 0, 1.2], airborne: true}, battery: {}, autopilot: {}}
robots:
  uav: {sensors: {baro: {type: barometer, every: 20ms}, pitot: {type: airspeed, every: 20ms}}}
faults:
  - {at: 1s, wind: [9, 0, 0], for: 500ms}
  - {at: 3s, blade: uav/motor1}
)";

/// Where everything was and what was read during so many steps.
std::vector<std::byte> fly(Stage& stage, int steps) {
  std::vector<std::byte> trace;
  world::State state = stage.world().make_state();
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(stage.take_step().ok());
    stage.world().read(state);
    append(trace, state.bodies.data(), state.bodies.size() * sizeof(world::Motion));
    append(trace, state.sensors.data(), state.sensors.size() * sizeof(double));
  }
  return trace;
}

TEST(Aircraft, HoldsItsPlaceUntilARotorBreaks) {
  const Scenario scenario = scenario_of(flying);
  Stage stage(scenario);
  stage.plan(planned_marks(scenario));
  const std::uint32_t body = stage.world().body("uav");
  fly(stage, 1500);
  world::State state = stage.world().make_state();
  EXPECT_LT(std::abs(state.bodies[body].pose.position[0]), 0.5);
  EXPECT_GT(state.bodies[body].pose.position[2], 0.9);
  EXPECT_EQ(state.sensors[stage.world().sensor_at(stage.world().sensor("uav/wind"))], 3) << "the gust is over";
  fly(stage, 1000);
  stage.world().read(state);
  EXPECT_LT(state.bodies[body].pose.position[2], 0.3);
}

TEST(Aircraft, GoesOnAfterARestoreAsItDidBefore) {
  Stage stage(scenario_of(flying));
  fly(stage, 200);
  std::vector<double> kept(stage.snapshot_size());
  stage.snapshot(kept);
  const auto first = fly(stage, 200);
  stage.restore(kept);
  EXPECT_EQ(fly(stage, 200), first);
}

TEST(Aircraft, ProgramsWriteItsMotorsAsAList) {
  const Scenario scenario = scenario_of("name: t\nworld: {model: uav.xml}\naircraft: {uav: {}}\nrobots: {uav: {}}\n");
  Stage stage(scenario);
  WorldPlant plant(stage, scenario);
  const auto found = std::ranges::find(plant.variables(), "uav/motors", &programs::Variable::name);
  ASSERT_NE(found, plant.variables().end());
  EXPECT_EQ(found->type, "float64[4]");
  EXPECT_TRUE(found->writable);
  const auto motors = static_cast<std::uint32_t>(found - plant.variables().begin());
  std::array<double, 4> commands{0.1, 0.2, 0.3, 7}, back{};
  plant.write(motors, SimTime::zero(), std::as_bytes(std::span(commands)));
  ASSERT_TRUE(plant.advance_to(SimTime::zero() + stage.step()).ok());
  plant.read(motors, stage.world().time(), std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, commands) << "clamped where they act";
  commands[0] = std::nan("");
  EXPECT_FALSE(plant.check(motors, std::as_bytes(std::span(commands))).ok());
}

TEST(Aircraft, MistakesHaveTheirPlaceAndAHint) {
  EXPECT_EQ(mistakes_of("name: t\nworld: {model: uav.xml}\naircraft:\n  uva: {}\n"),
            "s.yaml:4:8: aircraft `uva`: the model has no body of that name; did you mean `uav`?");
  EXPECT_NE(mistakes_of("name: t\naircraft:\n  uav: {}\n").find("`aircraft` need a `world`"), std::string::npos);
  EXPECT_NE(mistakes_of("name: t\nworld: {model: ships.xml}\naircraft:\n  prey: {ground_effect: true}\n")
                .find("the model has no ground for `ground_effect`"),
            std::string::npos);
  EXPECT_NE(
      mistakes_of("name: t\nworld: {model: uav.xml}\naircraft: {uav: {}}\nfaults: [{at: 1s, blade: uav/motor5}]\n")
          .find("there is no rotor `uav/motor5`"),
      std::string::npos);
  EXPECT_NE(mistakes_of("name: t\nworld: {model: uav.xml}\nrobots:\n  uav: {sensors: {p: {type: airspeed}}}\n")
                .find("body `uav` is no aircraft"),
            std::string::npos);
}

TEST(Vehicles, WhatIsGivenTakesTheDefaultsPlace) {
  const Scenario scenario = scenario_of(
      "name: t\nworld: {model: car.xml}\nvehicles:\n  car: {car: {powertrain: {gears: [3, 2], torque: [[0, 300], "
      "[9000, 300]]}}}\n");
  EXPECT_EQ(scenario.vehicles[0].second.car.drive.gears, (std::vector<double>{3, 2}));
}

}  // namespace
}  // namespace isochron
