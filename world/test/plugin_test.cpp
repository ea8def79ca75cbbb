#include "world/plugin.hpp"

#include <gmock/gmock.h>

#include "world/controller.hpp"

namespace isochron::world {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

const std::string ships = ISOCHRON_MODELS "/ships.xml";
const std::string plugins = ISOCHRON_PLUGINS "/";

template <class F>
std::string why(F&& attempt) {
  try {
    attempt();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

ControllerSetup pusher(const World& world, const std::string& mode = "") {
  ControllerSetup setup;
  setup.name = "predator";
  setup.world = &world;
  setup.options = {{"actuator", "predator/fx"}, {"body", "predator"}, {"mode", mode}};
  return setup;
}

TEST(Plugin, RefusesAnotherInterfaceByNumber) {
  EXPECT_THAT(why([] { load_engine(plugins + "other_interface.so", ships); }),
              HasSubstr("other_interface.so: it was made for interface 99 of an isochron engine, this is 2"));
}

TEST(Plugin, RefusesALibraryWithoutAnEngine) {
  EXPECT_THAT(why([] { load_engine(plugins + "nothing.so", ships); }),
              HasSubstr("there is no engine in this library (no isochron_engine_interface); end its source with "
                        "ISOCHRON_ENGINE(YourType)"));
}

TEST(Plugin, SaysThatTheLibraryIsMissing) {
  EXPECT_THAT(why([] { load_engine("/nowhere/engine.so", ships); }), HasSubstr("cannot load the engine"));
}

TEST(ControllerLibrary, MovesTheWorld) {
  World world(load_engine("mujoco", ships));
  ControllerHost host("predator", load_controller(plugins + "pusher.so", pusher(world)), world);
  for (SimTime t; t < SimTime::zero() + SimSpan(20s); t += world.step()) {
    ASSERT_TRUE(host.release(world).ok());
    ASSERT_TRUE(world.advance_to(t + world.step()).ok());
  }
  EXPECT_NEAR(world.engine().motion(world.body("predator")).pose.position[0], 0, 1e-3);
}

TEST(ControllerLibrary, WhatItThrowsIsReportedByName) {
  World world(load_engine("mujoco", ships));
  ControllerHost host("predator", load_controller(plugins + "pusher.so", pusher(world, "throw")), world);
  ASSERT_TRUE(host.release(world).ok());
  ASSERT_TRUE(world.advance_to(SimTime::zero() + SimSpan(10ms)).ok());
  const auto result = host.release(world);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().what, "controller predator: the plan is empty");
}

TEST(ControllerLibrary, ANanCommandIsRefusedByActuator) {
  World world(load_engine("mujoco", ships));
  ControllerHost host("predator", load_controller(plugins + "pusher.so", pusher(world, "nan")), world);
  const auto result = host.release(world);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().what, "controller predator: actuator predator/fx: the command is not a number");
  EXPECT_EQ(world.engine().control(0), 0) << "nothing was taken";
}

TEST(ControllerLibrary, AWrongNameIsToldAtSetUp) {
  World world(load_engine("mujoco", ships));
  ControllerSetup setup = pusher(world);
  setup.options["body"] = "predatr";
  EXPECT_THAT(why([&] { load_controller(plugins + "pusher.so", setup); }),
              HasSubstr("controller predator: there is no body `predatr`; did you mean `predator`?"));
  EXPECT_THAT(why([&] { load_controller(plugins + "other_interface.so", setup); }),
              HasSubstr("of an isochron controller"));
  EXPECT_THAT(why([&] { load_controller(plugins + "nothing.so", setup); }), HasSubstr("ISOCHRON_CONTROLLER(YourType)"));
}

}  // namespace
}  // namespace isochron::world
