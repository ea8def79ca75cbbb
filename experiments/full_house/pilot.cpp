// The library of the full house: the same driving as in driver.cpp, called in the world's process.

#include <cmath>
#include <string>
#include <vector>

#include "experiments/full_house/driving.hpp"
#include "world/controller.hpp"

namespace {

using namespace isochron;

class Pilot final : public world::Controller {
 public:
  explicit Pilot(const world::ControllerSetup& setup)
      : letters_(setup.letters),
        body_(setup.world->body(setup.robot)),
        speed_(setup.world->sensor_at(setup.world->sensor(setup.robot + "/speed"))),
        steer_(setup.world->actuator(setup.robot + "/steer")),
        throttle_(setup.world->actuator(setup.robot + "/throttle")),
        brake_(setup.world->actuator(setup.robot + "/brake")),
        driving_(full_house::approach_of(setup.options.at("approach")), std::stod(setup.options.at("speed"))) {}

  void release(const world::State& state, world::Commands& commands) override {
    while (letters_ != nullptr && letters_->receive("v2x", "octets", heard_)) {
      driving_.hear({reinterpret_cast<const std::uint8_t*>(heard_.data()), heard_.size()});
    }
    const world::Motion& motion = state.bodies[body_];
    const auto controls = driving_.drive(motion.pose.position[0], motion.pose.position[1],
                                         full_house::heading_of(motion.pose.orientation), state.sensors[speed_]);
    commands.set(steer_, controls.steer);
    commands.set(throttle_, controls.throttle);
    commands.set(brake_, controls.brake);
  }

 private:
  world::Letters* letters_;
  std::uint32_t body_;
  std::size_t speed_;
  std::uint32_t steer_, throttle_, brake_;
  full_house::Driving driving_;
  std::vector<std::byte> heard_;
};

}  // namespace

ISOCHRON_CONTROLLER(Pilot)
