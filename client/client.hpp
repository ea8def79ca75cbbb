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
// Sensors are read by their names, too: small readings as the plain types of core/sensor_types.hpp, pictures and scans
// as the messages of core/ros_messages.hpp.
//
// A type has a name that both sides check: that of ISOCHRON_MESSAGE, or float64, int32, float64[3] and the like.
// Fixed-size types travel as they stand in memory; messages with strings or vectors travel as CDR.
//
// Threads: any; each thread that waits, waits for itself.
// Fails:   throws ClientError with a sentence that names what is wrong. After the end of the run reads give the last
//          state and writes do nothing; wait() and receive() return nothing.

#include <chrono>
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

/// A message between programs and the time at which it was sent.
template <class T>
struct Received {
  T value;
  SimTime sent;
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
    check(isochron_read(handle_, name, type_name<T>().c_str(), &value, sizeof value));
    return value;
  }
  /// A variable without a fixed size: a picture, a scan. None before the first one is available.
  template <Message T>
  requires(!PlainValue<T>) std::optional<T> read(const char* name) {
    std::size_t size = 0;
    std::vector<std::byte>& buffer = room();
    const int status =
        isochron_read_message(handle_, name, type_name<T>().c_str(), buffer.data(), buffer.size(), &size, nullptr);
    check(status);
    if (size == 0) return std::nullopt;
    return decoded<T>(std::span<const std::byte>(buffer).first(size));
  }
  template <PlainValue T>
  void write(const char* name, const T& value) {
    check(isochron_write(handle_, name, type_name<T>().c_str(), &value, sizeof value));
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
      std::vector<std::byte>& buffer = room();
      const int status = isochron_receive(handle_, from, type_name<T>().c_str(), buffer.data(), buffer.size(), &size,
                                          until.ns(), &sent);
      if (check(status) != ISOCHRON_OK) return std::nullopt;
      return Received<T>{decoded<T>(std::span<const std::byte>(buffer).first(size)), SimTime::from_ns(sent)};
    }
  }

  [[nodiscard]] SimTime now() const { return SimTime::from_ns(isochron_now(handle_)); }
  void log(const std::string& text) { check(isochron_log(handle_, text.c_str())); }

 private:
  static constexpr std::size_t largest_message = 512 * 1024;

  /// For a message of any size; one for each thread, since any may call.
  static std::vector<std::byte>& room() {
    thread_local std::vector<std::byte> buffer(largest_message);
    return buffer;
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
