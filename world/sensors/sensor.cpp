#include "world/sensors/sensor.hpp"

#include <algorithm>

namespace isochron::world {
namespace {

std::string stream_name(const SensorSpec& spec, const char* what) {
  return "sensor/" + spec.robot + "/" + spec.name + what;
}

std::string frame_of(const SensorSpec& spec) {
  if (!spec.frame.empty()) return spec.frame;
  return spec.robot.empty() ? spec.name : spec.robot + "/" + spec.name;
}

}  // namespace

std::size_t readings_kept(const SensorSpec& spec) {
  constexpr std::size_t for_askers = 4;
  if (spec.period <= SimSpan::zero()) return for_askers;
  // Those on their way, those kept, the one that is the latest, and the one being made.
  return static_cast<std::size_t>((spec.latency + spec.jitter + spec.keep) / spec.period) + 3;
}

Sensor::Sensor(SensorSpec spec, std::uint64_t seed, std::vector<Output> outputs, std::uint32_t looks)
    : spec_(std::move(spec)),
      full_name_(spec_.robot + "/" + spec_.name),
      frame_id_(frame_of(spec_)),
      outputs_(std::move(outputs)),
      looks_(looks),
      next_sample_(spec_.period > SimSpan::zero() ? SimTime::zero() + spec_.phase : SimTime::never()),
      noise_(seed, stream_name(spec_, "")),
      jitter_(seed, stream_name(spec_, "/jitter")),
      acquire_(seed, stream_name(spec_, "/acquire")),
      ring_(readings_kept(spec_)) {}

void Sensor::reserve(std::size_t output, std::size_t bytes) {
  for (Reading& reading : ring_) reading.reserve(output, bytes);
}

void Sensor::carry(Carrier& c) {
  c(part_), c(sequence_), c(next_sample_), c(last_available_), c(asked_ready_);
  c(noise_), c(jitter_), c(acquire_);
  for (Reading& reading : ring_) reading.carry(c);
  carry_more(c);
}

SimSpan Sensor::draw(RandomStream& stream) const {
  if (spec_.jitter <= SimSpan::zero()) return SimSpan::zero();
  return SimSpan::from_ns(static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(spec_.jitter.ns()) + 1)));
}

const Reading* Sensor::take(const WorldView& view) {
  ENSURE(next_sample_ != SimTime::never(), "a sensor took a sample that nobody asked for");
  ENSURE(view.time() <= next_sample_, "a sensor was shown a world later than its sample");
  Reading& reading = ring_[sequence_ % ring_.size()];
  reading.stamp(view.time(), SimTime::never(), sequence_);  // an old reading must not be found while it is overwritten
  look(view, view.time(), part_, reading);
  const SimTime sampled = next_sample_;
  const bool complete = ++part_ == looks_;
  if (complete && spoil_) {
    spoil_(sampled, reading, sequence_ > 0 ? &ring_[(sequence_ - 1) % ring_.size()] : nullptr);
  }
  if (complete) {
    SimTime available = asked_ready_;
    if (available == SimTime::never()) available = sampled + spec_.latency + draw(jitter_);
    last_available_ = std::max(last_available_, available);
    reading.stamp(view.time(), last_available_, sequence_++);
    part_ = 0;
    asked_ready_ = SimTime::never();
  }
  schedule_next();
  return complete ? &reading : nullptr;
}

void Sensor::schedule_next() {
  if (spec_.period <= SimSpan::zero()) {
    next_sample_ = SimTime::never();
    return;
  }
  const auto turn = static_cast<std::int64_t>(sequence_);
  // From the start each time, so that parts that do not divide the period never add up to a drift.
  next_sample_ = SimTime::zero() + spec_.phase + turn * spec_.period + part_ * spec_.period / looks_;
}

const Reading* Sensor::latest_at(SimTime now) const {
  const std::uint64_t held = std::min<std::uint64_t>(sequence_, ring_.size());
  for (std::uint64_t back = 1; back <= held; ++back) {
    const Reading& reading = ring_[(sequence_ - back) % ring_.size()];
    if (reading.available() <= now) return &reading;
  }
  return nullptr;
}

SimTime Sensor::next_available(SimTime now) const {
  const std::uint64_t held = std::min<std::uint64_t>(sequence_, ring_.size());
  SimTime next = SimTime::never();
  for (std::uint64_t back = 1; back <= held; ++back) {
    const SimTime available = ring_[(sequence_ - back) % ring_.size()].available();
    if (available <= now) break;
    next = std::min(next, available);
  }
  return next;
}

SimSpan Sensor::acquisition() { return spec_.acquire + draw(acquire_); }

SimTime Sensor::ask(SimTime now) {
  const SimTime ready = now + acquisition();
  if (spec_.period > SimSpan::zero()) return ready;
  if (asked_ready_ != SimTime::never()) return asked_ready_;  // it is about to look already: both get that reading
  asked_ready_ = std::max({ready, now + spec_.latency, last_available_});
  next_sample_ = asked_ready_ - spec_.latency;
  return asked_ready_;
}

}  // namespace isochron::world
