#pragma once
// A message's bytes as ROS 1 puts them on the wire: little endian, without padding; strings and lists behind their
// length in 32 bits. A Header has a sequence number there that ROS 2, and so ours, has not: written as 0 (roscpp's own
// publishers count for themselves), skipped when read.
//
// Promises: ros_read(ros_write(m)) == m. Reading never goes beyond the bytes given, whatever is in them.
// Cost:     writing reuses the vector's room.

#include <cstddef>
#include <cstring>
#include <span>

#include "core/result.hpp"
#include "msg/ros_messages.hpp"

namespace isochron::link {

class RosWriter {
 public:
  explicit RosWriter(std::vector<std::byte>& out) : out_(out) {}

  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) { copy(&value, sizeof value); }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    copy(text.data(), text.size());
  }
  void put(SimTime time) {
    put(static_cast<std::uint32_t>(time.ns() / 1'000'000'000));
    put(static_cast<std::uint32_t>(time.ns() % 1'000'000'000));
  }
  template <class T, std::size_t n>
  void put(const std::array<T, n>& values) {
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    if constexpr (std::is_arithmetic_v<T>) {
      copy(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) put(value);
    }
  }
  template <Message T>
  void put(const T& message) {
    if constexpr (std::is_same_v<T, std_msgs::Header>) put(std::uint32_t{0});
    for_each_field(message, [this](const char*, const auto& value) { this->put(value); });
  }

 private:
  void copy(const void* from, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(from);
    out_.insert(out_.end(), bytes, bytes + size);
  }
  std::vector<std::byte>& out_;
};

/// After the first value that does not fit, ok() is false and nothing more is read.
class RosReader {
 public:
  explicit RosReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

  template <class T>
  requires std::is_arithmetic_v<T>
  void get(T& value) {
    if (!room(sizeof value)) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = bytes_[0] != std::byte{0};
    } else {
      std::memcpy(&value, bytes_.data(), sizeof value);
    }
    bytes_ = bytes_.subspan(sizeof value);
  }
  void get(std::string& text) {
    const std::uint32_t size = length();
    if (!room(size)) return;
    text.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
  }
  void get(SimTime& time) {
    std::uint32_t seconds = 0, nanoseconds = 0;
    get(seconds), get(nanoseconds);
    ok_ = ok_ && nanoseconds < 1'000'000'000;
    if (ok_) time = SimTime::from_ns(std::int64_t{seconds} * 1'000'000'000 + nanoseconds);
  }
  template <class T, std::size_t n>
  void get(std::array<T, n>& values) {
    for (T& value : values) get(value);
  }
  template <class T>
  void get(std::vector<T>& values) {
    const std::uint32_t size = length();  // every element takes a byte or more: no lie makes us allocate much
    if (!room(size)) return;
    values.resize(size);
    for (std::size_t i = 0; i < size && ok_; ++i) get(values[i]);
  }
  template <Message T>
  void get(T& message) {
    if constexpr (std::is_same_v<T, std_msgs::Header>) (void)length();  // the sequence number
    for_each_field(message, [this](const char*, auto& value) {
      if (ok_) this->get(value);
    });
  }

 private:
  std::uint32_t length() {
    std::uint32_t size = 0;
    get(size);
    return size;
  }
  bool room(std::size_t size) {
    ok_ = ok_ && bytes_.size() >= size;
    return ok_;
  }
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

/// Replaces what is in `out`.
template <Message T>
void ros_write(const T& message, std::vector<std::byte>& out) {
  out.clear();
  RosWriter(out).put(message);
}

template <Message T>
Result<T, std::string> ros_read(std::span<const std::byte> bytes) {
  T message;
  RosReader reader(bytes);
  reader.get(message);
  if (!reader.ok() || !reader.at_end()) return fail(std::string("not a ") + message_name<T>());
  return message;
}

}  // namespace isochron::link
