// Two controllers in one shared library, for callback mode: the prey flees when the predator is near and wanders when
// it is not; the chaser steers straight at the prey. Each is called every 10 ms with the whole state, and computing is
// free.

#include <array>
#include <cmath>
#include <string>

#include "core/random.hpp"
#include "world/controller.hpp"

namespace {

using namespace isochron;
using world::Vec3;

struct Actuators {
  std::array<std::uint32_t, 3> force{};
  Actuators(const world::World& world, const std::string& robot) {
    const char* axes[] = {"/fx", "/fy", "/fz"};
    for (std::size_t i = 0; i < 3; ++i) force[i] = world.actuator(robot + axes[i]);
  }
  void set(world::Commands& commands, const Vec3& f) const {
    for (std::size_t i = 0; i < 3; ++i) commands.set(force[i], f[i]);
  }
};

class Prey final : public world::Controller {
 public:
  explicit Prey(const world::ControllerSetup& setup)
      : actuators_(*setup.world, "prey"),
        self_(setup.world->body("prey")),
        predator_(setup.world->body("predator")),
        random_(setup.seed, setup.name) {}

  void release(const world::State& state, world::Commands& commands) override {
    const Vec3& me = state.bodies[self_].pose.position;
    const Vec3& it = state.bodies[predator_].pose.position;
    const Vec3 away{me[0] - it[0], me[1] - it[1], me[2] - it[2]};
    const double distance = std::sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2]);
    if (distance < 5 && distance > 1e-6) {
      const double force = -2 * repeatable_log(distance / 5) / distance;
      actuators_.set(commands, {force * away[0], force * away[1], force * away[2]});
    } else if (tick_++ % 10 == 0) {
      actuators_.set(commands, {5.916 * random_.normal(), 5.916 * random_.normal(), 5.916 * random_.normal()});
    }
  }

 private:
  Actuators actuators_;
  std::uint32_t self_, predator_;
  RandomStream random_;
  std::uint64_t tick_ = 0;
};

class Chaser final : public world::Controller {
 public:
  explicit Chaser(const world::ControllerSetup& setup)
      : actuators_(*setup.world, "predator"), self_(setup.world->body("predator")), prey_(setup.world->body("prey")) {}

  void release(const world::State& state, world::Commands& commands) override {
    const world::Motion& me = state.bodies[self_];
    const world::Motion& it = state.bodies[prey_];
    Vec3 force{};
    for (std::size_t i = 0; i < 3; ++i) {
      force[i] = (it.pose.position[i] - me.pose.position[i]) + (it.linear[i] - me.linear[i]);
    }
    actuators_.set(commands, force);
  }

 private:
  Actuators actuators_;
  std::uint32_t self_, prey_;
};

/// One library, two controllers: the robot's name decides.
std::unique_ptr<world::Controller> make(const world::ControllerSetup& setup) {
  if (setup.robot == "prey") return std::make_unique<Prey>(setup);
  return std::make_unique<Chaser>(setup);
}

class Either final : public world::Controller {
 public:
  explicit Either(const world::ControllerSetup& setup) : chosen_(make(setup)) {}
  void release(const world::State& state, world::Commands& commands) override { chosen_->release(state, commands); }

 private:
  std::unique_ptr<world::Controller> chosen_;
};

}  // namespace

ISOCHRON_CONTROLLER(Either)
