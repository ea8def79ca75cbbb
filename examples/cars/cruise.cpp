// A cruise control in the world's process: holds a speed and keeps two seconds to whatever its rangefinder sees. It
// knows nothing of the other cars; what it sees is as old as its sensor makes it.

#include <algorithm>
#include <cmath>
#include <string>

#include "msg/ros_messages.hpp"
#include "world/controller.hpp"

namespace {

using namespace isochron;

class Cruise final : public world::Controller {
 public:
  explicit Cruise(const world::ControllerSetup& setup)
      : senses_(*setup.senses),
        ahead_(setup.senses->find("ahead")),
        speed_(setup.world->sensor_at(setup.world->sensor(setup.robot + "/speed"))),
        throttle_(setup.world->actuator(setup.robot + "/throttle")),
        brake_(setup.world->actuator(setup.robot + "/brake")),
        wanted_(std::stod(setup.options.at("speed"))) {}

  void release(const world::State& state, world::Commands& commands) override {
    const double speed = state.sensors[speed_];
    double allowed = 0;  // until the first reading: stay
    if (const world::Reading* reading = senses_.latest(ahead_)) {
      if (reading->decode(range_)) allowed = range_.range > 0 ? std::max(0.0, (range_.range - 2.0) / 2.0) : 0;
    }
    const double pedal = 0.35 * (std::min(wanted_, allowed) - speed);
    commands.set(throttle_, std::clamp(pedal, 0.0, 1.0));
    commands.set(brake_, std::clamp(-pedal, 0.0, 1.0));
  }

 private:
  world::Senses& senses_;
  std::uint32_t ahead_;
  std::size_t speed_;
  std::uint32_t throttle_, brake_;
  double wanted_;
  sensor_msgs::Range range_;
};

}  // namespace

ISOCHRON_CONTROLLER(Cruise)
