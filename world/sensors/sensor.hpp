#pragma once
// A Sensor is a participant that looks at the world when its period says so and hands out what it saw later, as real
// ones do. It owns its time: samples at phase + k · period, each available after the latency and a jitter of its own
// random stream. Kinds of sensors (imu.cpp, lidar.cpp, …) say what a sample is; make_sensor() makes them.
//
// Promises: latest_at(t) is the newest reading that was available at t. With s the time of its sample,
//           available = s + latency + j, 0 ≤ j ≤ jitter, never before that of an earlier reading.
//           The same seed, robot, name and world give the same bytes, whatever other sensors there are: noise, jitter
//           and acquisition draw from three streams named after the sensor.
// Requires: take(view) at next_sample(), with the world's state at that time or the last one before it.
// Threads:  owner thread.
// Cost:     no allocation after construction (a scene's commit aside, see scene.hpp).

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "core/time.hpp"
#include "world/sensors/reading.hpp"
#include "world/sensors/spec.hpp"
#include "world/sensors/world_view.hpp"

namespace isochron::world {

class Sensor {
 public:
  virtual ~Sensor() = default;
  Sensor(const Sensor&) = delete;
  Sensor& operator=(const Sensor&) = delete;

  [[nodiscard]] const SensorSpec& spec() const { return spec_; }
  /// "robot/sensor".
  [[nodiscard]] const std::string& full_name() const { return full_name_; }
  [[nodiscard]] std::span<const Output> outputs() const { return outputs_; }
  /// The most bytes that a reading has of an output.
  [[nodiscard]] std::size_t largest(std::size_t output) const { return ring_[0].capacity(output); }

  /// When it wants to look at the world next; never() for one that waits to be asked.
  [[nodiscard]] SimTime next_sample() const { return next_sample_; }
  /// Looks. Returns the reading that is now complete, or null (a turning LiDAR needs several looks).
  const Reading* take(const WorldView& view);

  /// The newest reading available at `now`; null if there is none yet, or `now` is longer ago than the spec's `keep`.
  [[nodiscard]] const Reading* latest_at(SimTime now) const;
  /// When the first reading after `now` becomes available, of those taken so far.
  [[nodiscard]] SimTime next_available(SimTime now) const;

  /// How long the next one who asks is kept waiting: `acquire` and a jitter. Each call draws anew.
  SimSpan acquisition();
  /// Somebody asks at `now` (003, Fig. 8). Returns when the answer is there; the answer is latest_at(that time). A
  /// sensor without a period looks at the world for it, `latency` before the answer.
  SimTime ask(SimTime now);

  /// What a broken sensor makes of a complete reading before anybody has it. `before`: the reading before; null = none.
  using Spoil = std::function<void(SimTime sampled, Reading& fresh, const Reading* before)>;
  void set_spoil(Spoil spoil) { spoil_ = std::move(spoil); }

  /// All that it will do depends on: its time, its random streams, readings on their way, and what its kind adds.
  void carry(Carrier& c);

 protected:
  Sensor(SensorSpec spec, std::uint64_t seed, std::vector<Output> outputs, std::uint32_t looks = 1);
  /// Set-up, for each output: the largest message that will be put.
  void reserve(std::size_t output, std::size_t bytes);

  /// One look, the `part`-th of the reading; at the last one `into` must be filled. `stamp` is the world's time.
  virtual void look(const WorldView& view, SimTime stamp, std::uint32_t part, Reading& into) = 0;
  /// What a kind remembers from one look to the next.
  virtual void carry_more(Carrier&) {}
  [[nodiscard]] RandomStream& noise() { return noise_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] const std::string& frame_id() const { return frame_id_; }

 private:
  void schedule_next();
  SimSpan draw(RandomStream& stream) const;

  SensorSpec spec_;
  std::string full_name_;
  std::string frame_id_;
  std::vector<Output> outputs_;
  std::uint32_t looks_;  // for each reading
  std::uint32_t part_ = 0;
  std::uint64_t sequence_ = 0;  // of the reading being made; readings before it are in the ring
  SimTime next_sample_;
  SimTime last_available_ = SimTime::before_all();
  SimTime asked_ready_ = SimTime::never();
  RandomStream noise_;
  RandomStream jitter_;
  RandomStream acquire_;
  std::vector<Reading> ring_;
  Spoil spoil_;
};

/// How many readings a sensor of this spec holds at once.
std::size_t readings_kept(const SensorSpec& spec);

}  // namespace isochron::world
