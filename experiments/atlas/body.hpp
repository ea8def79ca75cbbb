#pragma once
// The simulated robot's body: what its sensors would say of a world's state, and its motors.
//
// Threads: owner. Cost: no allocation.

#include "experiments/atlas/signals.hpp"
#include "world/controller.hpp"
#include "world/world.hpp"

namespace atlas {

class Body {
 public:
  /// Throws InputError where the world's model is not our robot.
  explicit Body(const isochron::world::World& world);

  [[nodiscard]] Sensors sense(const isochron::world::State& state) const;
  void drive(const Torques& torques, isochron::world::Commands& commands) const;
  void drive(const Torques& torques, isochron::world::World& world) const;
  /// Whether the pelvis is so low that it fell.
  [[nodiscard]] bool fallen(const isochron::world::State& state) const;

 private:
  std::uint32_t pelvis_ = 0;
  std::array<std::uint32_t, joints> motors_{};
  std::array<std::uint32_t, joints> positions_{}, velocities_{};
  std::uint32_t orientation_ = 0, gyro_ = 0, acceleration_ = 0;
  std::array<std::uint32_t, 2> forces_{};
};

}  // namespace atlas
