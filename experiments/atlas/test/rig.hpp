#pragma once
// The whole robot in one thread: world, estimator each millisecond, controller every sixth, its torques as late as the
// test wants. Repeats bit for bit.

#include <cmath>
#include <deque>
#include <string>

#include "experiments/atlas/body.hpp"
#include "experiments/atlas/controller.hpp"
#include "experiments/atlas/estimator.hpp"

namespace atlas {

class Rig {
 public:
  inline static const std::string model = ATLAS_MODEL;

  explicit Rig(int delay_ms = 2)
      : world(isochron::world::load_engine("mujoco", model)),
        body(world),
        estimator(model),
        controller(model),
        state(world.make_state()),
        delay_(delay_ms) {
    world.read(state);
  }

  /// Until it falls, at most for so long; whether it stands.
  bool run(double seconds) {
    for (const long end = tick_ + std::lround(1000 * seconds); tick_ < end; ++tick_) {
      one_millisecond();
      if (body.fallen(state)) return false;
    }
    return true;
  }
  /// Nobody controls it: its motors hold the pose that it has.
  bool freeze(double seconds) {
    const Hold hold = controller.hold();
    waiting_.clear();
    for (const long end = tick_ + std::lround(1000 * seconds); tick_ < end; ++tick_) {
      estimator.update(body.sense(state), tick_ * 1'000'000, 1e-3);
      body.drive(hold_torques(hold, body.sense(state)), world);
      take_step();
      if (body.fallen(state)) return false;
    }
    return true;
  }
  void push(double x, double y) {
    const auto pushed = world.push(world.body("pelvis"), {{x, y, 0}, {}});
    ENSURE(pushed.ok(), "refused");
  }
  [[nodiscard]] double now() const { return 1e-3 * static_cast<double>(tick_); }
  [[nodiscard]] isochron::world::Vec3 pelvis() const { return state.bodies[world.body("pelvis")].pose.position; }
  [[nodiscard]] isochron::world::Vec3 foot(Side side) const {
    return state.bodies[world.body(side == left ? "l_foot" : "r_foot")].pose.position;
  }

  [[nodiscard]] isochron::world::Vec3 hand(Side side) const {
    return state.bodies[world.body(side == left ? "l_hand" : "r_hand")].pose.position;
  }

  isochron::world::World world;
  Body body;
  Estimator estimator;
  Controller controller;
  isochron::world::State state;
  Order order;

 private:
  void one_millisecond() {
    estimator.update(body.sense(state), tick_ * 1'000'000, 1e-3);
    if (tick_ % 6 == 0) waiting_.push_back({tick_ + delay_, controller.control(estimator.estimate(), now(), order)});
    while (!waiting_.empty() && waiting_.front().at <= tick_) {
      body.drive(waiting_.front().torques, world);
      waiting_.pop_front();
    }
    take_step();
  }
  void take_step() {
    const auto stepped = world.advance_to(world.time() + world.step());
    ENSURE(stepped.ok(), "the world diverged");
    world.read(state);
  }
  struct Late {
    long at;
    Torques torques;
  };
  std::deque<Late> waiting_;
  long tick_ = 0;
  int delay_;
};

}  // namespace atlas
