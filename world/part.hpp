#pragma once
// A Part is what acts on a world besides its engine: a force field, a vehicle's wheels and drive train. It is called
// before every step, adds its forces, and may have commands, readings and a state of its own; all three appear in the
// World beside the engine's, under the names that the part gives them.
//
// Promises: a part sees the state at the start of the step, and its forces hold for that step only.
// Threads:  the world's owner thread.
// Cost:     act() does not allocate.

#include <span>
#include <vector>

#include "world/engine.hpp"
#include "world/vectors.hpp"

namespace isochron::world {

/// The forces of all parts in one step, summed for each body in the order in which the parts were added.
class Wrenches {
 public:
  explicit Wrenches(std::size_t bodies) : sums_(bodies), touched_(bodies, 0) { list_.reserve(bodies); }

  void add(std::uint32_t body, const Wrench& wrench) {
    if (touched_[body] == 0) {
      touched_[body] = 1;
      list_.push_back(body);
    }
    sums_[body].force = sums_[body].force + wrench.force;
    sums_[body].torque = sums_[body].torque + wrench.torque;
  }
  /// A force at a point, both in the world's frame, on a body whose centre of mass is at `centre`.
  void add_at(std::uint32_t body, const Vec3& force, const Vec3& point, const Vec3& centre) {
    add(body, {force, cross(point - centre, force)});
  }

  [[nodiscard]] const std::vector<std::uint32_t>& touched() const { return list_; }
  [[nodiscard]] const Wrench& sum(std::uint32_t body) const { return sums_[body]; }
  void clear() {
    for (const std::uint32_t body : list_) {
      sums_[body] = {};
      touched_[body] = 0;
    }
    list_.clear();
  }

 private:
  std::vector<Wrench> sums_;
  std::vector<char> touched_;
  std::vector<std::uint32_t> list_;
};

class Part {
 public:
  virtual ~Part() = default;

  /// Adds what acts on bodies during the step of dt that is about to be taken.
  virtual void act(Engine& engine, SimSpan dt, Wrenches& wrenches) = 0;

  [[nodiscard]] virtual std::vector<ActuatorInfo> actuators() const { return {}; }
  /// Holds until the next one for that actuator.
  virtual void command(std::uint32_t /*actuator*/, double /*value*/) {}
  /// The command in force, whoever gave it: a World's user, or a driver in the seat.
  [[nodiscard]] virtual double commanded(std::uint32_t /*actuator*/) const { return 0; }
  [[nodiscard]] virtual std::vector<SensorInfo> sensors() const { return {}; }
  /// All its readings, one after the other.
  virtual void read(std::span<double> /*values*/) const {}

  /// Its commands belong to its state.
  [[nodiscard]] virtual std::size_t state_size() const { return 0; }
  virtual void save(std::span<double> /*state*/) const {}
  virtual void restore(std::span<const double> /*state*/) {}
};

}  // namespace isochron::world
