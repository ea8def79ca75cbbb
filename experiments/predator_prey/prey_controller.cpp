// The prey: wanders while the predator is far, flees straight away from it when it is near. 100 times a second.

#include <cstdlib>
#include <string>

#include "client/client.hpp"
#include "experiments/predator_prey/ships.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;

int main() {
  const char* seed = std::getenv("ISOCHRON_SEED");
  isochron::RandomStream random(seed != nullptr ? std::stoull(seed) : 1, "prey");
  auto robot = isochron::attach();
  ships::Vec3 wander{};
  for (std::uint64_t tick = 0; robot.wait(10ms); ++tick) {
    const auto prey = robot.read<isochron::Motion>("pose");
    const auto predator = robot.read<isochron::Motion>("predator/pose");
    if (tick % 10 == 0) {  // a new direction ten times a second, drawn at every tenth tick whatever happens
      wander = ships::clipped({5.916 * random.normal(), 5.916 * random.normal(), 5.916 * random.normal()},
                              ships::prey_force_max);
    }
    const bool near = ships::norm(ships::operator-(prey.position, predator.position)) < ships::flee_distance;
    robot.write("wrench", isochron::Wrench{near ? ships::flee(prey.position, predator.position) : wander, {}});
  }
}
