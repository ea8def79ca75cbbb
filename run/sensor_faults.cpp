#include "run/sensor_faults.hpp"

#include "core/nearest_name.hpp"

namespace isochron {
namespace {

/// The name of one output's record in the journal, without its first slash.
std::string topic_of(const world::Sensor& sensor, const world::Output& output) {
  return sensor.full_name() + (output.name.empty() ? "" : "/" + output.name);
}

}  // namespace

Result<SensorField, std::string> find_sensor_field(const world::SensorSet& sensors, std::string_view name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string topic(name.substr(0, dot));
  std::vector<std::string> topics;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    for (std::size_t output = 0; output < sensors[i].outputs().size(); ++output) {
      const world::Output& what = sensors[i].outputs()[output];
      topics.push_back(topic_of(sensors[i], what));
      if (topics.back() != topic) continue;
      if (dot == name.size()) return fail("`" + topic + "` is a whole sensor; name a field of its message");
      auto schema = parse_ros2msg(what.message_name, what.schema);
      if (!schema.ok()) return fail(schema.error());
      auto way = find_numbers(*schema, name.substr(dot + 1));
      if (!way.ok()) return fail(way.error());
      return SensorField{i, output, FieldReader(std::make_shared<const MessageSchema>(std::move(*schema)), *way)};
    }
  }
  const std::string hint = nearest_hint(topic, topics);
  return fail("there is no sensor `" + topic + "`" + (hint.empty() ? "" : "; " + hint));
}

bool SensorFaults::add(const Mark& mark, SimTime until, world::SensorSet& sensors) {
  Fault fault{0, mark.at, until, std::nullopt, mark.force[0]};
  if (mark.what == "bias") {
    auto found = find_sensor_field(sensors, mark.about);
    if (!found.ok()) return false;
    fault.sensor = found->sensor;
    fault.field = std::move(*found);
  } else {
    while (fault.sensor < sensors.size() && sensors[fault.sensor].full_name() != mark.about) ++fault.sensor;
    if (fault.sensor == sensors.size()) return false;
  }
  faults_.push_back(std::move(fault));
  install(sensors);
  return true;
}

void SensorFaults::install(world::SensorSet& sensors) {
  for (const Fault& fault : faults_) {
    sensors[fault.sensor].set_spoil(
        [this, sensor = fault.sensor](SimTime sampled, world::Reading& fresh, const world::Reading* before) {
          spoil(sensor, sampled, fresh, before);
        });
  }
}

void SensorFaults::spoil(std::size_t sensor, SimTime sampled, world::Reading& fresh,
                         const world::Reading* before) const {
  bool frozen = false;
  for (const Fault& fault : faults_) {
    if (fault.sensor != sensor || sampled < fault.from || sampled >= fault.until) continue;
    if (!fault.field && before != nullptr) fresh.repeat(*before), frozen = true;
  }
  if (frozen) return;  // what it repeats may have been biased already
  for (const Fault& fault : faults_) {
    if (fault.sensor != sensor || !fault.field || sampled < fault.from || sampled >= fault.until) continue;
    (void)fault.field->field.add(fresh.change(fault.field->output), fault.by);
  }
}

}  // namespace isochron
