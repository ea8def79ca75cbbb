#pragma once
// A quadrotor made of separate nodes, each at its own pace:
//
//    wind (50 ms) ──► dynamics (2 ms) ──► gps (observes, 20 ms) ──► controller (5 ms) ──► dynamics
//                            └──────────► imu (observes, 4 ms) ───────►┘  ▲
//                                              mission ──goal (event)─────┘
//                                                 ▲──────── gps
//
// The controller knows what the sensors say and nothing else. The mission hears the position and sends the next goal as
// an event when one is reached. All arithmetic is +, −, ×, ÷ and square roots: the same bits on every machine.

#include <array>
#include <cmath>

#include "core/random.hpp"
#include "flow/node_library.hpp"
#include "flow/system.hpp"

namespace uav {

using namespace isochron;
using namespace std::chrono_literals;

using Vec = std::array<double, 3>;
inline Vec operator+(const Vec& a, const Vec& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vec operator-(const Vec& a, const Vec& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vec operator*(const Vec& a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }
inline Vec cross(const Vec& a, const Vec& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double length(const Vec& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

struct Wind {
  Vec velocity{};
};
struct State {
  Vec position{};
  Vec velocity{};
  Vec up{0, 0, 1};  // where the rotors' thrust points
};
struct Fix {
  Vec position{};
  Vec velocity{};
};
struct Attitude {
  Vec up{0, 0, 1};
};
struct Command {
  double thrust = 0;  // N
  Vec turn{};         // rad/s
};
struct Goal {
  Vec position{};
};
ISOCHRON_MESSAGE(Wind, "isochron_msgs/msg/Wind", velocity)
ISOCHRON_MESSAGE(State, "isochron_msgs/msg/UavState", position, velocity, up)
ISOCHRON_MESSAGE(Fix, "isochron_msgs/msg/Fix", position, velocity)
ISOCHRON_MESSAGE(Attitude, "isochron_msgs/msg/Attitude", up)
ISOCHRON_MESSAGE(Command, "isochron_msgs/msg/Command", thrust, turn)
ISOCHRON_MESSAGE(Goal, "isochron_msgs/msg/Goal", position)

/// Gusts: a slow random walk that is pulled back to a mean.
class WindNode : public flow::UserNode {
 public:
  explicit WindNode(const flow::Parameters& parameters)
      : mean_(parameters.number("mean", 2)),
        random_(static_cast<std::uint64_t>(parameters.integer("seed", 1)), "wind") {}

 private:
  void blow(Wind& wind) {
    for (int i = 0; i < 3; ++i) gust_[i] = 0.98 * gust_[i] + 0.15 * random_.normal();
    wind.velocity = gust_ + Vec{mean_, 0, 0};
  }
  double mean_;
  RandomStream random_;
  Vec gust_{};
  flow::Output<Wind> out_ = output<&WindNode::blow>("wind", flow::every(50ms));
};

class Dynamics : public flow::UserNode {
 public:
  static constexpr double mass = 1.2;
  static constexpr double drag = 0.25;
  static constexpr Vec gravity{0, 0, -9.81};

  explicit Dynamics(const flow::Parameters&) {}

 private:
  void step(State& out, SimTime) {
    const double dt = 2e-3;
    const Command command = command_.latest_or({mass * 9.81, {}});
    const Vec air = wind_.latest_or({}).velocity - state_.velocity;
    const Vec push = state_.up * (command.thrust / mass) + air * (drag / mass) + gravity;
    state_.velocity = state_.velocity + push * dt;
    state_.position = state_.position + state_.velocity * dt;
    state_.up = state_.up + cross(command.turn, state_.up) * dt;
    state_.up = state_.up * (1 / length(state_.up));
    out = state_;
  }
  State state_;
  flow::Input<Command> command_ = input<Command>("command");
  flow::Input<Wind> wind_ = input<Wind>("wind");
  flow::Output<State> out_ = output<&Dynamics::step>("state", flow::every(2ms));
};

class Gps : public flow::UserNode {
 public:
  explicit Gps(const flow::Parameters& parameters)
      : noise_(parameters.number("noise", 0.02)),
        random_(static_cast<std::uint64_t>(parameters.integer("seed", 1)), "gps") {}

 private:
  void measure(Fix& fix) {
    const State state = state_.latest_or({});
    for (int i = 0; i < 3; ++i) fix.position[i] = state.position[i] + noise_ * random_.normal();
    fix.velocity = state.velocity;
  }
  double noise_;
  RandomStream random_;
  flow::Input<State> state_ = input<State>("state");
  flow::Output<Fix> out_ = output<&Gps::measure>("fix", flow::observes(20ms));
};

class Imu : public flow::UserNode {
 public:
  explicit Imu(const flow::Parameters&) {}

 private:
  void measure(Attitude& attitude) { attitude.up = state_.latest_or({}).up; }
  flow::Input<State> state_ = input<State>("state");
  flow::Output<Attitude> out_ = output<&Imu::measure>("attitude", flow::observes(4ms));
};

/// Position and velocity to a wanted push, the push to thrust and a turn towards it.
class Controller : public flow::UserNode {
 public:
  explicit Controller(const flow::Parameters&) {}

 private:
  void goal(const Goal& goal) { goal_ = goal.position; }
  void control(Command& command) {
    const Fix fix = fix_.latest_or({});
    const Vec up = attitude_.latest_or({}).up;
    Vec wanted = (goal_ - fix.position) * 1.6 - fix.velocity * 2.2;
    const double most = 4;
    if (length(wanted) > most) wanted = wanted * (most / length(wanted));
    const Vec push = wanted - Dynamics::gravity;
    command.thrust = Dynamics::mass * (push[0] * up[0] + push[1] * up[1] + push[2] * up[2]);
    command.turn = cross(up, push * (1 / length(push))) * 8;
  }
  Vec goal_{0, 0, 2};
  flow::Input<Fix> fix_ = input<Fix>("fix");
  flow::Input<Attitude> attitude_ = input<Attitude>("attitude");
  flow::Input<Goal> goal_in_ = input<&Controller::goal>("goal");
  flow::Output<Command> out_ = output<&Controller::control>("command", flow::every(5ms));
};

/// Flies a square: the next corner when the last is reached.
class Mission : public flow::UserNode {
 public:
  explicit Mission(const flow::Parameters&) {}
  int reached = 0;

 private:
  void heard(const Fix& fix, SimTime now) {
    if (length(fix.position - corners_[corner_]) > 0.4) return;
    ++reached;
    corner_ = (corner_ + 1) % corners_.size();
    goal_.send(now + goal_.lookahead(), {corners_[corner_]});
  }
  static constexpr std::array<Vec, 4> corners_{{{0, 0, 2}, {4, 0, 2}, {4, 4, 3}, {0, 4, 2}}};
  std::size_t corner_ = 0;
  flow::Input<Fix> fix_ = input<&Mission::heard>("fix");
  flow::Event<Goal> goal_ = event<Goal>("goal", 1ms);
};

inline flow::System make_uav(std::uint64_t seed = 1) {
  flow::System system;
  const flow::Parameters parameters;
  const flow::Parameters chance(flow::Parameters::Values{{"seed", std::to_string(seed)}});
  system.add<WindNode>("wind", chance);
  system.add<Dynamics>("dynamics", parameters);
  system.add<Gps>("gps", chance);
  system.add<Imu>("imu", parameters);
  system.add<Controller>("controller", parameters);
  system.add<Mission>("mission", parameters);
  system.connect("wind.wind", "dynamics.wind");
  system.connect("controller.command", "dynamics.command");
  system.connect("dynamics.state", "gps.state");
  system.connect("dynamics.state", "imu.state");
  system.connect("gps.fix", "controller.fix");
  system.connect("gps.fix", "mission.fix");
  system.connect("imu.attitude", "controller.attitude");
  system.connect("mission.goal", "controller.goal");
  return system;
}

}  // namespace uav
