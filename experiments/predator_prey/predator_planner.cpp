// The predator's planner: knows how the prey flees, rolls both ships forward under many candidate controls, and keeps
// the one that comes closest. It thinks until its own time limit, as planners do (`think`, seconds of its clock), or
// until it has compared so many (`candidates`: then its thinking takes longer on a slower computer). It plans again at
// most every 0.1 s. In callback mode that second is free; on the robot it is not.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "client/client.hpp"
#include "experiments/predator_prey/ships.hpp"
#include "msg/robot_types.hpp"

using namespace std::chrono_literals;
using ships::operator+;
using ships::operator-;
using ships::operator*;

namespace {

constexpr std::size_t horizon = 100;  // ticks that a candidate is rolled forward: 1 s

/// Desired acceleration = a·(x_prey − x) + b·(v_prey − v), aimed a little beside the prey.
struct Gains {
  double position = 1;
  double velocity = 1;
  ships::Vec3 aim{};
};

ships::Vec3 chase(const Gains& gains, const ships::Point& predator, const ships::Point& prey) {
  return ships::mass * (gains.position * (prey.position + gains.aim - predator.position) +
                        gains.velocity * (prey.velocity - predator.velocity));
}

/// Sum of distances over the horizon; the plan is filled with the first ticks.
double roll(const Gains& gains, ships::Point predator, ships::Point prey, ships::Plan* plan) {
  double cost = 0;
  for (std::size_t tick = 0; tick < horizon; ++tick) {
    const ships::Vec3 force = chase(gains, predator, prey);
    ships::advance(prey, ships::norm(prey.position - predator.position) < ships::flee_distance
                             ? ships::flee(prey.position, predator.position)
                             : ships::Vec3{});
    ships::advance(predator, force);
    cost += ships::norm(prey.position - predator.position);
    if (plan != nullptr && tick < ships::plan_length) {
      ships::set_tick(plan->forces, tick, force);
      ships::set_tick(plan->positions, tick, predator.position);
      ships::set_tick(plan->velocities, tick, predator.velocity);
    }
  }
  return cost;
}

/// When to stop thinking.
struct Limit {
  std::chrono::nanoseconds time{};
  std::uint32_t candidates = 0;  // 0 = by time
};

ships::Plan think(const ships::Point& predator, const ships::Point& prey, const Limit& limit,
                  isochron::RandomStream& random) {
  const auto start = std::chrono::steady_clock::now();
  Gains best;
  double least = roll(best, predator, prey, nullptr);
  ships::Plan plan;
  do {
    for (int i = 0; i < 50; ++i, ++plan.candidates) {
      Gains candidate = best;
      // A ship has only so much thrust: gains stay near those of the paper's law, which are 1 and 1.
      candidate.position = std::clamp(candidate.position * random.uniform(0.7, 1.4), 0.5, 2.0);
      candidate.velocity = std::clamp(candidate.velocity * random.uniform(0.7, 1.4), 0.5, 2.0);
      candidate.aim = candidate.aim + ships::Vec3{random.normal(), random.normal(), random.normal()};
      if (const double cost = roll(candidate, predator, prey, nullptr); cost < least) least = cost, best = candidate;
    }
  } while (limit.candidates > 0 ? plan.candidates < limit.candidates
                                : std::chrono::steady_clock::now() - start < limit.time);
  roll(best, predator, prey, &plan);
  plan.length = ships::plan_length;
  return plan;
}

double given(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::stod(text) : otherwise;
}

}  // namespace

int main() {
  const Limit limit{std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * given("ISOCHRON_WITH_think", 1.0))),
                    static_cast<std::uint32_t>(given("ISOCHRON_WITH_candidates", 0))};
  const char* seed = std::getenv("ISOCHRON_SEED");
  isochron::RandomStream random(seed != nullptr ? std::stoull(seed) : 1, "planner");
  auto robot = isochron::attach();
  while (robot.wait(100ms)) {
    const auto predator = robot.read<isochron::Motion>("pose");
    const auto prey = robot.read<isochron::Motion>("prey/pose");
    robot.send("controller", think({predator.position, predator.linear}, {prey.position, prey.linear}, limit, random));
  }
}
