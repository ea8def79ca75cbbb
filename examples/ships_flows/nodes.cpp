// An autopilot as nodes of one's own: it hears the world's state and drives the predator's actuators; a watch hears the
// prey's IMU. Both meet the scenario's world, sensor and controller as flows.

#include "flow/node_library.hpp"
#include "world/messages.hpp"

namespace {

using namespace isochron;
using namespace std::chrono_literals;

/// Position and velocity of a body in the world's state (13 numbers each: position, orientation, velocities).
struct Body {
  const double* at;
  Body(const world::WorldState& state, std::size_t body) : at(&state.bodies[13 * body]) {}
  [[nodiscard]] double position(std::size_t axis) const { return at[axis]; }
  [[nodiscard]] double velocity(std::size_t axis) const { return at[7 + axis]; }
};

class Autopilot : public flow::UserNode {
 public:
  explicit Autopilot(const flow::Parameters& parameters)
      : self_(static_cast<std::size_t>(parameters.integer("body", 1))),
        prey_(static_cast<std::size_t>(parameters.integer("prey", 2))) {}

 private:
  template <std::size_t axis>
  void push(double& force) {
    force = 0;
    if (state_.empty()) return;
    const Body me(state_.latest(), self_), it(state_.latest(), prey_);
    force = (it.position(axis) - me.position(axis)) + (it.velocity(axis) - me.velocity(axis));
  }
  std::size_t self_, prey_;
  flow::Input<world::WorldState> state_ = input<world::WorldState>("state");
  flow::Output<double> x_ = output<&Autopilot::push<0>>("fx", flow::observes(10ms));
  flow::Output<double> y_ = output<&Autopilot::push<1>>("fy", flow::observes(10ms));
  flow::Output<double> z_ = output<&Autopilot::push<2>>("fz", flow::observes(10ms));
};

/// Counts how often the prey is shaken.
struct Shakes {
  double most = 0;
  std::int64_t count = 0;
};
ISOCHRON_MESSAGE(Shakes, "example_msgs/msg/Shakes", most, count)

class Watch : public flow::UserNode {
 public:
  explicit Watch(const flow::Parameters& parameters) : limit_(parameters.number("limit", 5)) {}

 private:
  void felt(const sensor_msgs::Imu& imu) {
    const auto& a = imu.linear_acceleration;
    const double square = a.x * a.x + a.y * a.y + a.z * a.z;
    so_far_.most = std::max(so_far_.most, square);
    if (square > limit_ * limit_) ++so_far_.count;
  }
  void tell(Shakes& out) { out = so_far_; }
  double limit_;
  Shakes so_far_;
  flow::Input<sensor_msgs::Imu> imu_ = input<&Watch::felt>("imu");
  flow::Output<Shakes> out_ = output<&Watch::tell>("shakes", flow::every(100ms));
};

}  // namespace

ISOCHRON_NODES(isochron::flow::node_type<Autopilot>("Autopilot", "steers a body at another; parameters body, prey",
                                                    "in: state; out: fx, fy, fz, observations, 10 ms"),
               isochron::flow::node_type<Watch>("Watch", "counts accelerations above `limit`",
                                                "in: imu; out: shakes, predictive, 100 ms"))
