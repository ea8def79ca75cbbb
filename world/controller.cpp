#include "world/controller.hpp"

#include <array>
#include <cmath>

#include "world/shared_library.hpp"

namespace isochron::world {

ControllerHost::ControllerHost(std::string name, std::unique_ptr<Controller> controller, const World& world)
    : name_(std::move(name)),
      controller_(std::move(controller)),
      state_(world.make_state()),
      commands_(world.actuators().size()) {}

Result<Done, ControllerFault> ControllerHost::release(World& world) {
  return release(world, [&world](std::uint32_t actuator, double value) -> Result<Done, std::string> {
    if (auto taken = world.command(actuator, value); !taken) return fail(taken.error().what);
    return done();
  });
}

Result<Done, ControllerFault> ControllerHost::release(const World& world, const Taker& take) {
  const auto fault = [this](const std::string& why) {
    return fail(ControllerFault{"controller " + name_ + ": " + why});
  };
  world.read(state_);
  commands_.clear();
  try {
    controller_->release(state_, commands_);
  } catch (const std::exception& error) {
    return fault(error.what());
  } catch (...) {
    return fault("it threw something that is no std::exception");
  }
  for (const std::uint32_t actuator : commands_.written()) {
    if (!std::isfinite(commands_.value(actuator))) {
      return fault("actuator " + world.actuators()[actuator].name + ": the command is not a number");
    }
  }
  for (const std::uint32_t actuator : commands_.written()) {
    if (auto taken = take(actuator, commands_.value(actuator)); !taken) return fault(taken.error());
  }
  return done();
}

std::unique_ptr<Controller> load_controller(const std::string& library, const ControllerSetup& setup) {
  const SharedLibrary opened(library, "controller");
  opened.demand_interface("isochron_controller_interface", controller_interface * 1000 + engine_interface);
  auto* make = opened.function<Controller*(const ControllerSetup*, char*, std::size_t)>("isochron_controller");
  std::array<char, 1000> why{};
  std::unique_ptr<Controller> controller(make(&setup, why.data(), why.size()));
  if (!controller) opened.refuse("controller " + setup.name + ": " + why.data());
  return controller;
}

}  // namespace isochron::world
