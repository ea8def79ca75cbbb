#pragma once
// All sensors of one world: who looks next, and a look for all whose time has come. They look in their declared order,
// which is also the order of their readings at equal times.
//
// Threads: owner thread. Cost: as its sensors; one pass over them for each call.

#include <functional>
#include <memory>
#include <vector>

#include "world/sensors/sensor.hpp"

namespace isochron::world {

class SensorSet {
 public:
  /// Throws InputError with the mistakes of all of them; two of one robot with the same name are one, too.
  SensorSet(const std::vector<SensorSpec>& specs, const Catalog& catalog, std::uint64_t seed);

  [[nodiscard]] std::size_t size() const { return sensors_.size(); }
  [[nodiscard]] Sensor& operator[](std::size_t index) { return *sensors_[index]; }
  [[nodiscard]] const Sensor& operator[](std::size_t index) const { return *sensors_[index]; }
  /// Null if there is none.
  [[nodiscard]] Sensor* find(std::string_view robot, std::string_view name);
  /// Whether any of them casts rays: the world then needs a Scene.
  [[nodiscard]] bool needs_scene() const;

  /// The earliest time at which one of them wants to look.
  [[nodiscard]] SimTime next_sample() const;
  /// Lets all look whose time is before `until`; `view` is the state in force till then. `made` is called for each
  /// reading that is complete. Call it with the state at t before stepping to t + dt, until = t + dt.
  void take_before(SimTime until, const WorldView& view,
                   const std::function<void(std::size_t sensor, const Reading&)>& made);

  /// As World::snapshot(), for all of them; a set made alike takes it back. Does not allocate.
  [[nodiscard]] std::size_t snapshot_size();
  void snapshot(std::span<double> into);
  void restore(std::span<const double> from);

 private:
  void carry(Carrier c);
  std::vector<std::unique_ptr<Sensor>> sensors_;
};

}  // namespace isochron::world
