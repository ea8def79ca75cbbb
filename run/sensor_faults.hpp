#pragma once
// Sensors that say what is not so: a frozen one repeats its last reading with new stamps, a biased one is off by a
// constant. What they say instead is what everybody gets, the journal included.
//
// Promises: what a sensor draws from its random streams is the same as without faults.
// Threads:  the sensors'. Cost: without a fault nothing is called.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "journal/field_reader.hpp"
#include "scenario/mark.hpp"
#include "world/sensors/sensor_set.hpp"

namespace isochron {

/// A number of a sensor's message, or a list of them, by its name in the journal: "prey/imu.angular_velocity.z".
struct SensorField {
  std::size_t sensor = 0, output = 0;
  FieldReader field;
};
/// Fails: a sentence that says what is not there.
Result<SensorField, std::string> find_sensor_field(const world::SensorSet& sensors, std::string_view name);

class SensorFaults {
 public:
  [[nodiscard]] static bool is_one(std::string_view what) { return what == "freeze" || what == "bias"; }
  /// False: there is no such sensor or field. Lasts from `from` until `until`.
  bool add(const Mark& mark, SimTime until, world::SensorSet& sensors);
  /// Sensors that were made anew are spoilt like those before them.
  void install(world::SensorSet& sensors);

 private:
  struct Fault {
    std::size_t sensor;
    SimTime from, until;
    std::optional<SensorField> field;  // none: it is frozen
    double by = 0;
  };
  void spoil(std::size_t sensor, SimTime sampled, world::Reading& fresh, const world::Reading* before) const;
  std::vector<Fault> faults_;
};

}  // namespace isochron
