#pragma once
// MAVLink's frames: bytes in, messages out, and back. Version 2 is written; 1 and 2 are read.
//
//      v2   fd, length, incompatible, compatible, sequence, system, component, id[3], payload, checksum[2],
//      signature[13]? v1   fe, length, sequence, system, component, id, payload, checksum[2]
//
// Zeros at a payload's end are not sent, and are there again when it is read.
//
// Promises: whatever bytes come, they are skipped or give frames whose checksum (and signature, with a key) is right.
// Threads:  owner. Cost: allocates for bytes that wait for the rest of their frame.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "bridge/autopilot/bytes.hpp"
#include "bridge/autopilot/mavlink_messages.hpp"
#include "bridge/autopilot/vehicle.hpp"

namespace isochron::autopilot::mavlink {

using SigningKey = std::array<std::byte, 32>;

struct Frame {
  std::uint8_t version = 2, sequence = 0, system = 0, component = 0;
  std::uint32_t id = 0;
  bool has_signature = false;
  std::size_t size = 0;
  std::array<std::byte, 255> bytes{};
  [[nodiscard]] std::span<const std::byte> payload() const { return std::span(bytes).first(size); }
};

struct PayloadReader {
  std::span<const std::byte> from;
  std::size_t at = 0;
  template <class T>
  void one(T& value) {
    value = get_part<T>();
  }
  template <class T, std::size_t n>
  void one(std::array<T, n>& values) {
    for (T& value : values) value = get_part<T>();
  }
  void operator()(auto&... fields) { (one(fields), ...); }

 private:
  /// What was cut off is zero, also within a number.
  template <class T>
  T get_part() {
    T value{};
    const std::size_t have = at < from.size() ? std::min(sizeof value, from.size() - at) : 0;
    if (have > 0) std::memcpy(&value, from.data() + at, have);
    at += sizeof value;
    return value;
  }
};

struct PayloadWriter {
  Bytes& to;
  template <class T>
  void one(const T& value) {
    put(to, value);
  }
  template <class T, std::size_t n>
  void one(const std::array<T, n>& values) {
    for (const T& value : values) put(to, value);
  }
  void operator()(const auto&... fields) { (one(fields), ...); }
};

/// The message that a frame holds, if it is one of this kind.
template <class M>
[[nodiscard]] std::optional<M> as(const Frame& frame) {
  if (frame.id != M::id) return std::nullopt;
  M message;
  M::wire(PayloadReader{frame.payload()}, message);
  return message;
}

class Parser {
 public:
  struct Figures {
    std::uint64_t frames = 0, skipped_bytes = 0, bad_checksums = 0, unknown = 0, bad_signatures = 0;
  };
  /// With a key frames without a right signature are dropped.
  explicit Parser(std::optional<SigningKey> key = {}) : key_(key) {}
  void push(std::span<const std::byte> bytes) { waiting_.insert(waiting_.end(), bytes.begin(), bytes.end()); }
  /// The next good frame of what was pushed.
  std::optional<Frame> next();
  [[nodiscard]] const Figures& figures() const { return figures_; }
  void forget() { waiting_.clear(); }

 private:
  bool signature_right(std::span<const std::byte> whole, const Frame& frame);
  std::optional<SigningKey> key_;
  Bytes waiting_;
  std::map<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>, std::uint64_t> newest_;  // stamps of signatures
  Figures figures_;
};

class Sender {
 public:
  Sender(std::uint8_t system, std::uint8_t component, std::optional<SigningKey> key = {})
      : system_(system), component_(component), key_(key) {}
  /// Appends the message's frame.
  template <class M>
  void send(const M& message, Bytes& to) {
    payload_.clear();
    M::wire(PayloadWriter{payload_}, message);
    frame(M::id, M::extra, to);
  }
  /// Of signatures: 10 µs since 2015. It only grows.
  void set_stamp(std::uint64_t stamp) { stamp_ = std::max(stamp_, stamp); }

 private:
  void frame(std::uint32_t id, std::uint8_t extra, Bytes& to);
  std::uint8_t system_, component_;
  std::optional<SigningKey> key_;
  std::uint64_t stamp_ = 0;
  std::uint8_t sequence_ = 0;
  Bytes payload_;
};

/// What PX4 is told in one frame of the simulation: HIL_SENSOR, and what else is new.
struct SimulatorOptions {
  bool truth = true;  // HIL_STATE_QUATERNION
};
void send_state(const VehicleState& state, const SimulatorOptions& options, Sender& sender, Bytes& to);
[[nodiscard]] Controls controls_of(const HilActuatorControls& message);

}  // namespace isochron::autopilot::mavlink
