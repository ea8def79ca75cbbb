#pragma once
// What a robot program includes. It is written once and runs in every mode, on the development machine and on the
// target: the environment says to whom it is attached.
//
//     auto robot = isochron::attach();
//     while (auto now = robot.wait(10ms)) {          // idle until the next release; false when the run is over
//       auto pose = robot.read<Pose>("pose");        // sampled at this program's own time
//       robot.write("thrust", steer(pose));          // held until the next write
//     }
//
// read_all() and write_all() do several in one request, at one time.
//
// Sensors are read by their names, too: small readings as the plain types of msg/sensor_types.hpp, pictures and scans
// as the messages of msg/ros_messages.hpp.
//
// A type has a name that both sides check: that of ISOCHRON_MESSAGE, or float64, int32, float64[3] and the like.
// Fixed-size types travel as they stand in memory; messages with strings or vectors travel as CDR.
//
// Threads: any; each thread that waits, waits for itself.
// Fails:   throws ClientError with a sentence that names what is wrong. After the end of the run reads give the last
//          state and writes do nothing; wait() and receive() return nothing.

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/isochron.h"
#include "core/cdr.hpp"
#include "core/message.hpp"
#include "core/schema.hpp"
#include "core/time.hpp"

namespace isochron {

class ClientError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class T>
concept PlainValue = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

/// The name under which a type is checked.
template <class T>
std::string type_name() {
  if constexpr (Message<T>) {
    return message_name<T>();
  } else {
    return schema::type_text<T>();
  }
}

/// The same, made once.
template <class T>
const char* type_name_of() {
  static const std::string name = type_name<T>();
  return name.c_str();
}

inline constexpr const char* octets_type = "octets";

/// A message between programs and the time at which it was sent.
template <class T>
struct Received {
  T value;
  SimTime sent;
};

/// A variable that read_all() fills, and one that write_all() writes: its name, and where the value is.
class ReadInto {
 public:
  template <PlainValue T>
  ReadInto(const char* name, T& value) : item_{name, type_name_of<T>(), &value, sizeof value} {}

 private:
  friend class Robot;
  isochron_item item_;
};
class WriteFrom {
 public:
  template <PlainValue T>
  WriteFrom(const char* name, const T& value) : item_{name, type_name_of<T>(), const_cast<T*>(&value), sizeof value} {}

 private:
  friend class Robot;
  isochron_item item_;  // whose data is not changed
};

class Robot {
 public:
  explicit Robot(isochron_robot* handle) : handle_(handle) {}

  /// Idle until the next release of this period; zero: as the scenario declares.
  std::optional<SimTime> wait(SimSpan period = {}) {
    std::int64_t now = 0;
    const int status = isochron_wait(handle_, period.ns(), &now);  // before `now` is looked at
    return released(status, now);
  }
  std::optional<SimTime> wait_until(SimTime until) {
    std::int64_t now = 0;
    const int status = isochron_wait_until(handle_, until.ns(), &now);
    return released(status, now);
  }

  template <PlainValue T>
  T read(const char* name) {
    T value{};
    check(isochron_read(handle_, name, type_name_of<T>(), &value, sizeof value));
    return value;
  }
  /// A variable without a fixed size: a picture, a scan. None before the first one is available.
  template <Message T>
  requires(!PlainValue<T>) std::optional<T> read(const char* name) {
    std::size_t size = 0;
    const std::span<std::byte> buffer = room();
    const int status =
        isochron_read_message(handle_, name, type_name<T>().c_str(), buffer.data(), buffer.size(), &size, nullptr);
    check(status);
    if (size == 0) return std::nullopt;
    return decoded<T>(buffer.first(size));
  }
  template <PlainValue T>
  void write(const char* name, const T& value) {
    check(isochron_write(handle_, name, type_name_of<T>(), &value, sizeof value));
  }

  /// Several in one request, sampled at one time, which is returned:
  ///     robot.read_all({{"pose", pose}, {"imu", imu}});
  SimTime read_all(std::span<const ReadInto> variables) {
    const auto items = items_of(variables);
    std::int64_t at = 0;
    check(isochron_read_all(handle_, items.data(), items.size(), &at));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].size != 0 && items[i].size != variables[i].item_.size)
        throw ClientError(std::string(items[i].name) + " has another size than its type here");
    }
    return SimTime::from_ns(at);
  }
  SimTime read_all(std::initializer_list<ReadInto> variables) {
    return read_all(std::span(variables.begin(), variables.size()));
  }
  /// Several in one request: all hold from one time on, or none is written.
  ///     robot.write_all({{"left", 0.5}, {"right", -0.5}});
  void write_all(std::span<const WriteFrom> variables) {
    const auto items = items_of(variables);
    check(isochron_write_all(handle_, items.data(), items.size()));
  }
  void write_all(std::initializer_list<WriteFrom> variables) {
    write_all(std::span(variables.begin(), variables.size()));
  }

  template <class T>
  void send(const char* to, const T& value) {
    if constexpr (PlainValue<T>) {
      check(isochron_send(handle_, to, type_name<T>().c_str(), &value, sizeof value));
    } else {
      const std::vector<std::byte> bytes = cdr_bytes(value);
      check(isochron_send(handle_, to, type_name<T>().c_str(), bytes.data(), bytes.size()));
    }
  }
  /// Bytes as they are: a frame for a radio.
  void send_octets(const char* to, std::span<const std::uint8_t> octets) {
    check(isochron_send(handle_, to, octets_type, octets.data(), octets.size()));
  }
  std::optional<Received<std::vector<std::uint8_t>>> receive_octets(const char* from, SimTime until = SimTime::zero()) {
    std::int64_t sent = 0;
    std::size_t size = 0;
    const std::span<std::byte> buffer = room();
    const int status =
        isochron_receive(handle_, from, octets_type, buffer.data(), buffer.size(), &size, until.ns(), &sent);
    if (check(status) != ISOCHRON_OK) return std::nullopt;
    const auto* first = reinterpret_cast<const std::uint8_t*>(buffer.data());
    return Received<std::vector<std::uint8_t>>{{first, first + size}, SimTime::from_ns(sent)};
  }
  /// The oldest message that is there; "" = from anybody.
  template <class T>
  std::optional<Received<T>> receive(const char* from = "") {
    return receive_until<T>(from, SimTime::zero());
  }
  /// Waits for one, at most until then.
  template <class T>
  std::optional<Received<T>> receive_until(const char* from, SimTime until) {
    std::int64_t sent = 0;
    std::size_t size = 0;
    if constexpr (PlainValue<T>) {
      T value{};
      const int status =
          isochron_receive(handle_, from, type_name<T>().c_str(), &value, sizeof value, &size, until.ns(), &sent);
      if (check(status) != ISOCHRON_OK) return std::nullopt;
      if (size != sizeof value) throw ClientError("a message has another size than its type here");
      return Received<T>{value, SimTime::from_ns(sent)};
    } else {
      const std::span<std::byte> buffer = room();
      const int status = isochron_receive(handle_, from, type_name<T>().c_str(), buffer.data(), buffer.size(), &size,
                                          until.ns(), &sent);
      if (check(status) != ISOCHRON_OK) return std::nullopt;
      return Received<T>{decoded<T>(buffer.first(size)), SimTime::from_ns(sent)};
    }
  }

  [[nodiscard]] SimTime now() const { return SimTime::from_ns(isochron_now(handle_)); }
  void log(const std::string& text) { check(isochron_log(handle_, text.c_str())); }

 private:
  static constexpr std::size_t largest_message = 8 << 20;

  /// Kept for each thread, so that a loop does not allocate.
  template <class Variable>
  static std::span<isochron_item> items_of(std::span<const Variable> variables) {
    thread_local std::vector<isochron_item> items;
    items.clear();
    for (const Variable& variable : variables) items.push_back(variable.item_);
    return items;
  }
  /// For a message of any size; one for each thread, since any may call. What is never written to takes no memory.
  static std::span<std::byte> room() {
    thread_local const std::unique_ptr<std::byte[]> buffer(new std::byte[largest_message]);
    return {buffer.get(), largest_message};
  }
  template <class T>
  static T decoded(std::span<const std::byte> bytes) {
    auto value = cdr_read<T>(bytes);
    if (!value.ok()) throw ClientError("a message is not what its type says");
    return std::move(value).value();
  }
  static int check(int status) {
    if (status < 0) throw ClientError(isochron_error());
    return status;
  }
  static std::optional<SimTime> released(int status, std::int64_t now) {
    if (check(status) == ISOCHRON_ENDED) return std::nullopt;
    return SimTime::from_ns(now);
  }
  isochron_robot* handle_;
};

inline Robot attach() {
  isochron_robot* handle = nullptr;
  if (isochron_attach(&handle) < 0) throw ClientError(isochron_error());
  return Robot(handle);
}

}  // namespace isochron
