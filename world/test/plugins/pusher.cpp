// A controller for tests: pushes a body back to x = 0, and fails in the ways its options ask for.
#include <cmath>
#include <stdexcept>

#include "world/controller.hpp"

namespace {

using namespace isochron::world;

class Pusher final : public Controller {
 public:
  explicit Pusher(const ControllerSetup& setup)
      : mode_(setup.options.count("mode") != 0 ? setup.options.at("mode") : ""),
        actuator_(setup.world->actuator(setup.options.at("actuator"))),
        body_(setup.world->body(setup.options.at("body"))) {}

  void release(const State& state, Commands& commands) override {
    if (mode_ == "throw" && state.time.ns() > 0) throw std::runtime_error("the plan is empty");
    const Motion& m = state.bodies[body_];
    commands.set(actuator_, mode_ == "nan" ? NAN : -m.pose.position[0] - 2 * m.linear[0]);
  }

 private:
  std::string mode_;
  std::uint32_t actuator_;
  std::uint32_t body_;
};

}  // namespace

ISOCHRON_CONTROLLER(Pusher)
