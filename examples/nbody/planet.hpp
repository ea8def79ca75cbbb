#pragma once
// The n-body example of the original DSAAM (paper 001): planets on a unit torus that pull each other. Each one is a
// node with a period of its own and moves by what it last heard of the others.

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "flow/node_library.hpp"
#include "flow/system.hpp"

namespace nbody {

using namespace isochron;
using namespace std::chrono_literals;

struct Body {
  std::array<double, 2> position{};
  double mass = 0;
};
ISOCHRON_MESSAGE(Body, "isochron_msgs/msg/Body", position, mass)

class Planet : public flow::UserNode {
 public:
  static constexpr double gravity = 2.7e-11;
  static constexpr double top_speed = 8e-3;
  static constexpr double softening = 1e-3;

  struct Start {
    double mass;
    std::array<double, 2> position;
    std::array<double, 2> velocity;
    SimSpan period;
  };
  Planet(const Start& start, std::uint32_t pulled_by)
      : body_{start.position, start.mass},
        velocity_(start.velocity),
        period_(start.period),
        out_(output<&Planet::move>("position", flow::every(start.period), 3)) {
    for (std::uint32_t i = 0; i < pulled_by; ++i) others_.push_back(input<Body>("pull" + std::to_string(i)));
  }
  explicit Planet(const flow::Parameters& parameters)
      : Planet({parameters.number("mass", 1),
                {parameters.number("x", 0.5), parameters.number("y", 0.5)},
                {parameters.number("vx", 0), parameters.number("vy", 0)},
                parameters.span("period", 1s)},
               static_cast<std::uint32_t>(parameters.integer("pulled_by", 1))) {}

  [[nodiscard]] const Body& body() const { return body_; }

 private:
  void move(Body& out, SimTime) {
    const double dt = period_.seconds();
    for (const auto& other : others_) {
      if (!other.empty()) pull(other.latest(), dt);
    }
    const double speed = std::sqrt(velocity_[0] * velocity_[0] + velocity_[1] * velocity_[1]);
    const double limit = speed > top_speed ? top_speed / speed : 1;
    for (int i = 0; i < 2; ++i) {
      velocity_[i] *= limit;
      body_.position[i] += velocity_[i] * dt;
      body_.position[i] -= std::floor(body_.position[i]);
    }
    out = body_;
  }

  void pull(const Body& other, double dt) {
    std::array<double, 2> way{};
    for (int i = 0; i < 2; ++i) {
      way[i] = other.position[i] - body_.position[i];
      way[i] -= std::floor(way[i] + 0.5);  // the shorter way round the torus
    }
    const double square = way[0] * way[0] + way[1] * way[1] + softening * softening;
    const double strength = gravity * other.mass / (square * std::sqrt(square));
    for (int i = 0; i < 2; ++i) velocity_[i] += strength * way[i] * dt;
  }

  Body body_;
  std::array<double, 2> velocity_;
  SimSpan period_;
  std::vector<flow::Input<Body>> others_;
  flow::Output<Body> out_;
};

/// The four of the original: yellow → red → green → blue, and red, green and blue → yellow.
inline flow::System four_planets() {
  flow::System system;
  system.add<Planet>("yellow", Planet::Start{1000, {0.5, 0.5}, {0, 0}, 4s}, 3U);
  system.add<Planet>("red", Planet::Start{100, {0.7, 0.5}, {0, 4e-4}, 3s}, 1U);
  system.add<Planet>("green", Planet::Start{10, {0.5, 0.2}, {5e-4, 0}, 2s}, 1U);
  system.add<Planet>("blue", Planet::Start{1, {0.3, 0.6}, {0, -6e-4}, 1s}, 1U);
  system.connect("yellow.position", "red.pull0");
  system.connect("red.position", "green.pull0");
  system.connect("green.position", "blue.pull0");
  system.connect("red.position", "yellow.pull0");
  system.connect("green.position", "yellow.pull1");
  system.connect("blue.position", "yellow.pull2");
  return system;
}

}  // namespace nbody
