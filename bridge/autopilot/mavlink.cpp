#include "bridge/autopilot/mavlink.hpp"

#include <algorithm>

#include "bridge/autopilot/sha256.hpp"

namespace isochron::autopilot::mavlink {
namespace {

constexpr auto magic_1 = std::byte{0xfe}, magic_2 = std::byte{0xfd};
constexpr std::size_t header_1 = 6, header_2 = 10, checksum_size = 2, signature_size = 13;
constexpr auto is_signed = std::byte{1};

template <class... M>
std::optional<std::uint8_t> find_extra(std::uint32_t id, List<M...>) {
  std::optional<std::uint8_t> found;
  ((M::id == id ? void(found = M::extra) : void()), ...);
  return found;
}

/// CRC-16/MCRF4XX.
std::uint16_t checksum(std::span<const std::byte> bytes, std::uint8_t extra) {
  std::uint16_t crc = 0xffff;
  const auto take = [&crc](std::uint8_t byte) {
    std::uint8_t t = byte ^ static_cast<std::uint8_t>(crc);
    t = static_cast<std::uint8_t>(t ^ (t << 4));
    crc = static_cast<std::uint16_t>((crc >> 8) ^ (t << 8) ^ (t << 3) ^ (t >> 4));
  };
  for (const std::byte byte : bytes) take(static_cast<std::uint8_t>(byte));
  take(extra);
  return crc;
}

/// The first six bytes of a hash over key, frame, link and stamp.
std::array<std::byte, 6> signature_of(const SigningKey& key, std::span<const std::byte> frame_and_stamp) {
  const Sha256::Digest digest = Sha256().add(key).add(frame_and_stamp).finish();
  std::array<std::byte, 6> first{};
  std::copy_n(digest.begin(), first.size(), first.begin());
  return first;
}

std::uint64_t stamp_at(std::span<const std::byte> bytes) {
  std::uint64_t stamp = 0;
  std::memcpy(&stamp, bytes.data(), 6);
  return stamp;
}

}  // namespace

bool Parser::signature_right(std::span<const std::byte> whole, const Frame& frame) {
  if (!key_) return true;
  if (!frame.has_signature) return false;
  const auto signature = whole.last(signature_size);
  const auto wanted = signature_of(*key_, whole.first(whole.size() - 6));
  if (!std::equal(wanted.begin(), wanted.end(), signature.begin() + 7)) return false;
  const auto who = std::tuple(frame.system, frame.component, static_cast<std::uint8_t>(signature[0]));
  const std::uint64_t stamp = stamp_at(signature.subspan(1, 6));
  const auto known = newest_.find(who);
  if (known != newest_.end() && stamp <= known->second) return false;  // said before
  newest_[who] = stamp;
  return true;
}

std::optional<Frame> Parser::next() {
  std::size_t at = 0;
  std::optional<Frame> found;
  while (!found && at < waiting_.size()) {
    const auto rest = std::span(waiting_).subspan(at);
    const bool two = rest[0] == magic_2;
    if (!two && rest[0] != magic_1) {
      ++at;
      ++figures_.skipped_bytes;
      continue;
    }
    const std::size_t header = two ? header_2 : header_1;
    if (rest.size() < header) break;
    const auto length = static_cast<std::size_t>(rest[1]);
    const std::byte incompatible = two ? rest[2] : std::byte{0};
    if ((incompatible & ~is_signed) != std::byte{0}) {  // a frame of a kind that we do not know
      ++at;
      ++figures_.skipped_bytes;
      continue;
    }
    const bool carries = two && incompatible == is_signed;
    const std::size_t size = header + length + checksum_size + (carries ? signature_size : 0);
    if (rest.size() < size) break;
    const auto whole = rest.first(size);
    Frame frame;
    const std::size_t who = two ? 4 : 2;
    frame.version = two ? 2 : 1;
    frame.sequence = static_cast<std::uint8_t>(whole[who]);
    frame.system = static_cast<std::uint8_t>(whole[who + 1]);
    frame.component = static_cast<std::uint8_t>(whole[who + 2]);
    frame.id = static_cast<std::uint32_t>(whole[who + 3]);
    if (two) {
      frame.id |= static_cast<std::uint32_t>(whole[8]) << 8 | static_cast<std::uint32_t>(whole[9]) << 16;
    }
    frame.has_signature = carries;
    frame.size = length;
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(header), length, frame.bytes.begin());
    const auto extra = find_extra(frame.id, All{});
    if (!extra) {  // of the many that are not for us; its checksum cannot be known
      ++figures_.unknown;
      at += size;
      continue;
    }
    const std::size_t covered = header - 1 + length;
    if (checksum(whole.subspan(1, covered), *extra) != get<std::uint16_t>(whole, 1 + covered)) {
      ++figures_.bad_checksums;
      ++at;
      continue;
    }
    at += size;
    if (!signature_right(whole, frame)) {
      ++figures_.bad_signatures;
      continue;
    }
    ++figures_.frames;
    found = frame;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
  return found;
}

void Sender::frame(std::uint32_t id, std::uint8_t extra, Bytes& to) {
  while (payload_.size() > 1 && payload_.back() == std::byte{0}) payload_.pop_back();
  const std::size_t begin = to.size();
  to.push_back(magic_2);
  put(to, static_cast<std::uint8_t>(payload_.size()));
  put(to, static_cast<std::uint8_t>(key_ ? 1 : 0));
  put(to, std::uint8_t{0});
  put(to, sequence_++);
  put(to, system_);
  put(to, component_);
  put(to, static_cast<std::uint8_t>(id));
  put(to, static_cast<std::uint8_t>(id >> 8));
  put(to, static_cast<std::uint8_t>(id >> 16));
  to.insert(to.end(), payload_.begin(), payload_.end());
  put(to, checksum(std::span(to).subspan(begin + 1), extra));
  if (!key_) return;
  ++stamp_;
  put(to, std::uint8_t{0});  // the link
  for (int i = 0; i < 6; ++i) put(to, static_cast<std::uint8_t>(stamp_ >> (8 * i)));
  const auto signature = signature_of(*key_, std::span(to).subspan(begin));
  to.insert(to.end(), signature.begin(), signature.end());
}

namespace {

constexpr double gravity = 9.80665;
constexpr double air_density = 1.225;

template <class T>
T within(double value) {
  if (!(value == value)) return 0;
  return static_cast<T>(std::llround(std::clamp(value, static_cast<double>(std::numeric_limits<T>::min()),
                                                static_cast<double>(std::numeric_limits<T>::max()))));
}

std::array<float, 3> as_floats(const Vec3& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

std::uint64_t micros(SimTime at) { return static_cast<std::uint64_t>(at.ns() / 1000); }

HilSensor sensor_of(const VehicleState& state) {
  HilSensor message;
  message.time_usec = micros(state.at);
  message.acc = as_floats(state.accel);
  message.gyr = as_floats(state.gyro);
  message.fields_updated = HilSensor::accel | HilSensor::gyro;
  if (state.magnetic_fresh) {
    message.mag = as_floats(state.magnetic);
    message.fields_updated |= HilSensor::magnetic;
  }
  if (state.air.fresh) {
    message.abs_pressure = static_cast<float>(state.air.pressure / 100);
    message.pressure_alt = static_cast<float>(state.air.altitude);
    message.temperature = static_cast<float>(state.air.temperature);
    message.fields_updated |= HilSensor::air;
  }
  if (state.airspeed) {
    message.diff_pressure = static_cast<float>(0.5 * air_density * *state.airspeed * *state.airspeed / 100);
    message.fields_updated |= HilSensor::airspeed;
  }
  return message;
}

HilGps gps_of(const VehicleState& state) {
  const VehicleState::Fix& fix = state.fix;
  HilGps message;
  message.time_usec = micros(state.at);
  message.fix_type = fix.valid ? 3 : 0;
  message.satellites_visible = fix.valid ? 10 : 0;
  if (!fix.valid) return message;
  message.lat = within<std::int32_t>(fix.latitude * 1e7);
  message.lon = within<std::int32_t>(fix.longitude * 1e7);
  message.alt = within<std::int32_t>(fix.altitude * 1e3);
  message.eph = within<std::uint16_t>(fix.horizontal * 100);
  message.epv = within<std::uint16_t>(fix.vertical * 100);
  message.vn = within<std::int16_t>(fix.velocity[0] * 100);
  message.ve = within<std::int16_t>(fix.velocity[1] * 100);
  message.vd = within<std::int16_t>(fix.velocity[2] * 100);
  const double speed = std::hypot(fix.velocity[0], fix.velocity[1]);
  message.vel = within<std::uint16_t>(speed * 100);
  if (speed > 0) {
    const double course = std::atan2(fix.velocity[1], fix.velocity[0]) * 57.29577951308232;
    message.cog = within<std::uint16_t>((course < 0 ? course + 360 : course) * 100);
  }
  return message;
}

HilStateQuaternion truth_of(const VehicleState& state) {
  HilStateQuaternion message;
  message.time_usec = micros(state.at);
  for (std::size_t i = 0; i < 4; ++i) message.attitude[i] = static_cast<float>(state.attitude[i]);
  const auto rates = as_floats(state.gyro);
  message.rollspeed = rates[0];
  message.pitchspeed = rates[1];
  message.yawspeed = rates[2];
  message.lat = within<std::int32_t>(state.latitude * 1e7);
  message.lon = within<std::int32_t>(state.longitude * 1e7);
  message.alt = within<std::int32_t>(state.altitude * 1e3);
  message.vx = within<std::int16_t>(state.velocity[0] * 100);
  message.vy = within<std::int16_t>(state.velocity[1] * 100);
  message.vz = within<std::int16_t>(state.velocity[2] * 100);
  message.ind_airspeed = message.true_airspeed = within<std::uint16_t>(state.airspeed.value_or(0) * 100);
  message.xacc = within<std::int16_t>(state.accel[0] / gravity * 1000);
  message.yacc = within<std::int16_t>(state.accel[1] / gravity * 1000);
  message.zacc = within<std::int16_t>(state.accel[2] / gravity * 1000);
  return message;
}

HilOpticalFlow flow_of(const VehicleState& state) {
  const VehicleState::Flow& flow = *state.flow;
  HilOpticalFlow message;
  message.time_usec = micros(state.at);
  message.integration_time_us = flow.over_us;
  message.integrated_x = static_cast<float>(flow.moved[0]);
  message.integrated_y = static_cast<float>(flow.moved[1]);
  const auto turned = as_floats(flow.gyro);
  message.integrated_xgyro = turned[0];
  message.integrated_ygyro = turned[1];
  message.integrated_zgyro = turned[2];
  message.distance = static_cast<float>(flow.distance);
  message.quality = flow.quality;
  return message;
}

}  // namespace

void send_state(const VehicleState& state, const SimulatorOptions& options, Sender& sender, Bytes& to) {
  sender.send(sensor_of(state), to);
  if (state.fix.fresh) sender.send(gps_of(state), to);
  if (state.flow && state.flow->fresh) sender.send(flow_of(state), to);
  for (std::size_t i = 0; i < state.ranges.size(); ++i) {
    if (!state.ranges[i] || !std::isfinite(*state.ranges[i])) continue;
    DistanceSensor message;
    message.time_boot_ms = static_cast<std::uint32_t>(state.at.ns() / 1'000'000);
    message.max_distance = 10'000;
    message.current_distance = within<std::uint16_t>(*state.ranges[i] * 100);
    message.sensor = static_cast<std::uint8_t>(i);
    sender.send(message, to);
  }
  if (options.truth) sender.send(truth_of(state), to);
}

Controls controls_of(const HilActuatorControls& message) {
  Controls controls;
  controls.count = message.controls.size();
  controls.armed = (message.mode & HilActuatorControls::armed) != 0;
  for (std::size_t i = 0; i < controls.count; ++i) controls.channels[i] = static_cast<double>(message.controls[i]);
  return controls;
}

}  // namespace isochron::autopilot::mavlink
