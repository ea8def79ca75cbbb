#include "world/sensors/sensor_set.hpp"

#include <algorithm>

#include "world/sensors/make_sensor.hpp"

namespace isochron::world {

SensorSet::SensorSet(const std::vector<SensorSpec>& specs, const Catalog& catalog, std::uint64_t seed) {
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (Mistake& mistake : check(specs[i], catalog)) mistakes.push_back(std::move(mistake));
    for (std::size_t j = 0; j < i; ++j) {
      if (specs[i].robot != specs[j].robot || specs[i].name != specs[j].name) continue;
      mistakes.push_back({specs[i].place, "two sensors of one robot are named `" + specs[i].name + "`", {}});
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  for (const SensorSpec& spec : specs) sensors_.push_back(make_sensor(spec, catalog, seed));
}

Sensor* SensorSet::find(std::string_view robot, std::string_view name) {
  for (const auto& sensor : sensors_) {
    if (sensor->spec().robot == robot && sensor->spec().name == name) return sensor.get();
  }
  return nullptr;
}

bool SensorSet::needs_scene() const {
  return std::any_of(sensors_.begin(), sensors_.end(), [](const auto& sensor) {
    const SensorType type = sensor->spec().type;
    return type == SensorType::gps || type == SensorType::range || type == SensorType::lidar ||
           type == SensorType::camera || type == SensorType::optical_flow;
  });
}

SimTime SensorSet::next_sample() const {
  SimTime next = SimTime::never();
  for (const auto& sensor : sensors_) next = std::min(next, sensor->next_sample());
  return next;
}

std::size_t SensorSet::snapshot_size() {
  Carrier counter;
  for (const auto& sensor : sensors_) sensor->carry(counter);
  return counter.numbers();
}

void SensorSet::snapshot(std::span<double> into) { carry(Carrier::saving(into)); }
void SensorSet::restore(std::span<const double> from) { carry(Carrier::restoring(from)); }

void SensorSet::carry(Carrier c) {
  for (const auto& sensor : sensors_) sensor->carry(c);
}

void SensorSet::take_before(SimTime until, const WorldView& view,
                            const std::function<void(std::size_t, const Reading&)>& made) {
  // Time by time, not sensor by sensor: readings come out in the order in which they were taken.
  for (SimTime now = next_sample(); now < until; now = next_sample()) {
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      if (sensors_[i]->next_sample() != now) continue;
      if (const Reading* reading = sensors_[i]->take(view); reading != nullptr && made) made(i, *reading);
    }
  }
}

}  // namespace isochron::world
