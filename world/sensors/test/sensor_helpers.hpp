#pragma once
// What the tests of sensors share: specs in a line, and a run of one sensor over a scripted world.

#include <memory>
#include <string>
#include <vector>

#include "msg/ros_messages.hpp"
#include "world/sensors/make_sensor.hpp"
#include "world/sensors/test/scripted_engine.hpp"

namespace isochron::world {

inline SimTime at_ms(std::int64_t ms) { return SimTime::from_ns(ms * 1'000'000); }
inline SimSpan ms(std::int64_t n) { return std::chrono::milliseconds(n); }

inline SensorSpec on_body(SensorType type, const std::string& body, SimSpan period, const std::string& name = "it") {
  SensorSpec spec;
  spec.robot = "robot", spec.name = name, spec.type = type, spec.body = body, spec.period = period;
  return spec;
}

/// Lets the sensor look at each of its times up to `until`, with the world at exactly that time.
template <class F>
void run_until(ScriptedEngine& engine, Scene* scene, Sensor& sensor, SimTime until, F&& made) {
  while (sensor.next_sample() <= until) {
    engine.set_time(sensor.next_sample());
    const WorldView view(engine, scene);
    if (const Reading* reading = sensor.take(view)) made(*reading);
  }
}

template <Message M>
M decoded(const Reading& reading, std::size_t output = 0) {
  M message;
  EXPECT_TRUE(reading.decode(message, output));
  return message;
}

/// All messages of a run.
template <Message M>
std::vector<M> messages_of(ScriptedEngine& engine, Scene* scene, const SensorSpec& spec, SimTime until,
                           std::uint64_t seed = 1) {
  const auto sensor = make_sensor(spec, engine.catalog(), seed);
  std::vector<M> all;
  run_until(engine, scene, *sensor, until, [&](const Reading& reading) { all.push_back(decoded<M>(reading)); });
  return all;
}

/// The bytes of all readings of a run, one after the other.
inline std::vector<std::byte> bytes_of(ScriptedEngine& engine, Scene* scene, const SensorSpec& spec, SimTime until,
                                       std::uint64_t seed = 1) {
  const auto sensor = make_sensor(spec, engine.catalog(), seed);
  std::vector<std::byte> all;
  run_until(engine, scene, *sensor, until, [&](const Reading& reading) {
    for (std::size_t i = 0; i < sensor->outputs().size(); ++i) {
      all.insert(all.end(), reading.bytes(i).begin(), reading.bytes(i).end());
    }
  });
  return all;
}

}  // namespace isochron::world
