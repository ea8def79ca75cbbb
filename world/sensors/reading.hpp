#pragma once
// One reading of a sensor: the bytes of its messages (CDR, ready for a journal or a link), of which world time it is,
// and when it becomes available. Readings live in the sensor's ring; their buffers are made at set-up.
//
// Threads: the owner of the sensor.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/cdr.hpp"
#include "core/ensure.hpp"
#include "core/schema.hpp"
#include "core/time.hpp"
#include "world/saved.hpp"

namespace isochron::world {

/// One kind of message that a sensor gives; a camera has up to three.
struct Output {
  std::string name;          // "" for a sensor's only one; else image, depth, segmentation
  std::string message_name;  // sensor_msgs/msg/Imu
  std::string schema;        // ros2msg text
};
template <Message M>
Output output_of(std::string name = {}) {
  return {std::move(name), message_name<M>(), ros2msg_schema<M>()};
}

class Reading {
 public:
  [[nodiscard]] SimTime taken() const { return taken_; }
  [[nodiscard]] SimTime available() const { return available_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t output = 0) const {
    return {buffers_[output].data(), sizes_[output]};
  }
  /// Fills a message that the caller keeps: no allocation once its vectors have their size.
  template <Message M>
  [[nodiscard]] bool decode(M& message, std::size_t output = 0) const {
    cdr::Reader reader(bytes(output).subspan(cdr_header_size));
    reader.get(message);
    return reader.ok();
  }

  /// The most bytes that an output ever has.
  [[nodiscard]] std::size_t capacity(std::size_t output = 0) const { return buffers_[output].size(); }

  // What the sensor itself calls.
  void reserve(std::size_t output, std::size_t size) {
    if (output >= buffers_.size()) buffers_.resize(output + 1), sizes_.resize(output + 1);
    buffers_[output].resize(size);
  }
  void carry(Carrier& c) {
    c(taken_), c(available_), c(sequence_), c.list(sizes_);
    for (std::vector<std::byte>& buffer : buffers_) c.list(buffer);
  }
  void stamp(SimTime taken, SimTime available, std::uint64_t sequence) {
    taken_ = taken, available_ = available, sequence_ = sequence;
  }
  /// What it says, to be changed in place.
  [[nodiscard]] std::span<std::byte> change(std::size_t output) { return {buffers_[output].data(), sizes_[output]}; }
  /// Says the same as another reading of its sensor, with its own stamp: every message begins with it.
  void repeat(const Reading& other) {
    const std::size_t stamped = cdr_header_size + sizeof(std::int32_t) + sizeof(std::uint32_t);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (other.sizes_[i] < stamped || sizes_[i] < stamped) continue;
      const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(stamped),
                           end = static_cast<std::ptrdiff_t>(other.sizes_[i]);
      std::copy(other.buffers_[i].begin() + begin, other.buffers_[i].begin() + end, buffers_[i].begin() + begin);
      sizes_[i] = other.sizes_[i];
    }
  }
  template <Message M>
  void put(const M& message, std::size_t output = 0) {
    ENSURE(cdr_size(message) <= buffers_[output].size(), "a reading is larger than its sensor announced");
    sizes_[output] = cdr_write(message, buffers_[output]);
  }
  /// The same of a message that ends with many bytes: `message` is without them. They are written where they will be
  /// read, into what this returns.
  template <Message M>
  [[nodiscard]] std::span<std::byte> put_head(const M& message, std::size_t bytes, std::size_t output) {
    const std::size_t head = cdr_size(message);
    ENSURE(head + bytes <= buffers_[output].size(), "a reading is larger than its sensor announced");
    cdr_write(message, buffers_[output]);
    const auto count = static_cast<std::uint32_t>(bytes);
    std::memcpy(&buffers_[output][head - sizeof count], &count, sizeof count);
    sizes_[output] = head + bytes;
    return std::span(buffers_[output]).subspan(head, bytes);
  }

 private:
  SimTime taken_;
  SimTime available_ = SimTime::never();
  std::uint64_t sequence_ = 0;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<std::size_t> sizes_;
};

}  // namespace isochron::world
