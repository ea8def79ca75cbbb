// After set-up, no sensor and no actuator touches the heap.

#include <gtest/gtest.h>

#include <cmath>

#include "rt/allocation_guard.hpp"
#include "world/actuators/actuator.hpp"
#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

ScriptedEngine stage() {
  ScriptedEngine engine;
  engine.add_body("robot", [](double s) { return ScriptedEngine::State{{{{s, 0, 1}, {1, 0, 0, 0}}, {}, {}}, {}, {}}; });
  engine.add_shape("floor", 0, Shape::plane, {});
  engine.add_shape("hull", 1, Shape::box, {0.2, 0.2, 0.1});
  engine.add_shape("wall", 0, Shape::box, {0.1, 5, 2}, {6, 0, 2});
  engine.add_joint("knee");
  engine.edit_catalog().sensors.push_back({"built_in", 3});
  engine.edit_catalog().sensors.push_back({"robot/wind", 3});  // as an aircraft has it
  engine.edit_sensor() = {3, 4, 5};
  engine.edit_contacts().push_back({0, 1, {1, 2, 0}, {0, 0, 1}, 0.001, 12});
  return engine;
}

TEST(Allocation, NoSensorAllocatesAfterSetUp) {
  ASSERT_TRUE(rt::AllocationGuard::watches_heap());
  ScriptedEngine engine = stage();
  Scene scene(engine.geometry());
  for (const std::string& name : sensor_type_names()) {
    SensorType type{};
    ASSERT_TRUE(sensor_type_from(name, type));
    auto spec = on_body(type, "robot", ms(10), "a_sensor_with_a_rather_long_name");
    if (type == SensorType::model) spec.model_sensor = "built_in";
    spec.latency = ms(40), spec.jitter = ms(2);
    spec.lidar.columns = 60, spec.lidar.noise = 0.01;
    spec.picture.width = 64, spec.picture.height = 48, spec.picture.noise = 1;
    spec.picture.depth = spec.picture.segmentation = spec.picture.shadows = true;
    spec.gps.drift = spec.gps.horizontal_noise = 1;
    const auto sensor = make_sensor(spec, engine.catalog(), 1);
    for (int i = 0; i < 30; ++i) {
      engine.set_time(sensor->next_sample());
      const WorldView view(engine, &scene);
      (void)view.scene();  // Embree's own block for a commit is no sensor's doing
      rt::AllocationGuard guard(name.c_str());
      const Reading* reading = sensor->take(view);
      (void)sensor->latest_at(engine.time());
      (void)sensor->acquisition();
      const auto report = guard.report();
      ASSERT_NE(reading, nullptr);
      ASSERT_EQ(report.allocations, 0U) << report.text();
    }
  }
}

TEST(Allocation, ASceneAtRestCostsNothingAndAMovingOneAFewOfEmbreesStrings) {
  ScriptedEngine engine = stage();
  Scene scene(engine.geometry());
  const Pose here{{1, 2, 3}, {1, 0, 0, 0}}, there{{2, 2, 3}, {1, 0, 0, 0}};
  for (const Pose& pose : {there, here, there, here}) scene.place(1, pose), scene.commit();
  rt::AllocationGuard guard("scene");
  scene.place(1, here);
  scene.commit();
  EXPECT_EQ(guard.report().allocations, 0U) << "nothing moved";
  scene.place(1, there);
  scene.commit();
  EXPECT_LE(guard.report().allocations, 4U);
}

TEST(Allocation, NoActuatorAllocatesAfterSetUp) {
  ActuatorSpec spec;
  spec.name = "motor", spec.delay = ms(10), spec.rate = 5, spec.lag = ms(20);
  Actuator actuator(spec, {{"motor", -1, 1}});
  rt::AllocationGuard guard("actuator");
  for (std::int64_t t = 0; t < 100; ++t) {
    ASSERT_TRUE(actuator.command(at_ms(t), 0.01 * static_cast<double>(t)).ok());
    ASSERT_FALSE(actuator.command(at_ms(t), std::nan("")).ok());
    (void)actuator.value_at(at_ms(t));
  }
  EXPECT_EQ(guard.report().allocations, 0U);
}

}  // namespace
}  // namespace isochron::world
