// The program that docs/world.md begins with.
#include <cstdio>

#include "world/fields.hpp"
#include "world/world.hpp"

using namespace isochron;
using namespace isochron::world;
using namespace std::chrono_literals;

int main() {
  World world(load_engine("mujoco", "models/ships.xml"));  // MJCF or URDF
  const auto prey = world.body("prey");
  world.add(std::make_unique<PenaltyWalls>(std::vector{prey}, PenaltyWalls::Settings{}));

  if (auto taken = world.command(world.actuator("prey/fx"), 2.0); !taken) return 1;  // holds until the next write
  State state = world.make_state();
  for (int second = 1; second <= 5; ++second) {
    if (auto stepped = world.advance_to(SimTime::zero() + SimSpan(1s) * second); !stepped) {
      std::puts(stepped.error().what.c_str());  // "body prey: the velocity is not a number …"
      return 1;
    }
    world.read(state);  // whole, from any thread
    std::printf("%.0f s: x = %.3f m\n", state.time.seconds(), state.bodies[prey].pose.position[0]);
  }
}
