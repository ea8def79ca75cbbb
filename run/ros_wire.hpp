#pragma once
// Middleware as the bridge to it needs it (ros_bridge.hpp): topics of messages as CDR, services, and who is at the
// other end. There are two wires: ROS 2 as it is, and ROS 1, whose bytes are made from CDR and back.
//
// Requires: what names mean may be asked at any time. open(), then advertise() and subscribe(), then start(); publish()
//           and the rest until close().
// Threads:  the bridge's. Messages and news come on threads of the middleware.
// Fails:    wrong names: InputError, placed. Nobody to talk to: open() throws what says what to start.

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bridge/ros2/types.hpp"
#include "core/clock.hpp"
#include "msg/robot_types.hpp"
#include "run/run.hpp"
#include "scenario/ros2_section.hpp"

namespace isochron {

/// Where robots are, for whoever asks: set by the bridge.
class RobotStates {
 public:
  struct State {
    std::string robot;
    Motion motion;
  };
  void set(SimTime now, std::vector<State>& states) {
    const std::lock_guard lock(mutex_);
    now_ = now;
    std::swap(states_, states);
  }
  [[nodiscard]] std::pair<SimTime, std::vector<State>> get() const {
    const std::lock_guard lock(mutex_);
    return {now_, states_};
  }

 private:
  mutable std::mutex mutex_;
  SimTime now_;
  std::vector<State> states_;
};

/// What services act on; outlives the wire.
struct RosHost {
  const Scenario& scenario;
  RunWatch& watch;
  Clock& clock;
  const RobotStates& robots;
};

/// What anybody may ask a run for by a std_srvs/Trigger: `answer` does it, and gives a JSON object.
struct RosTrigger {
  const char* name;
  std::string (*answer)(const RosHost& host);
};
std::span<const RosTrigger> ros_triggers();

class RosWire {
 public:
  using Fill = std::function<void(std::span<std::byte>)>;
  /// A whole message of the topic's type.
  using Take = std::function<void(std::span<const std::byte> cdr)>;
  using News = std::function<void(const std::string& what)>;

  virtual ~RosWire() = default;
  RosWire() = default;
  RosWire(const RosWire&) = delete;
  RosWire& operator=(const RosWire&) = delete;

  [[nodiscard]] const ros2::Types& types() const { return types_; }
  /// The only types that go over it, as its users call them; none = all that are known.
  [[nodiscard]] virtual std::vector<std::string> only() const { return {}; }
  /// The full name of a topic that an entry of the scenario calls `given`, or nothing.
  [[nodiscard]] virtual std::string topic(const std::string& given, const std::string& entry,
                                          const Section& section) const = 0;

  /// `news`: told what is wrong with others.
  virtual void open(News news) = 0;
  virtual std::size_t advertise(const std::string& topic, const std::string& type, const ros2::Qos& qos) = 0;
  virtual std::size_t subscribe(const std::string& topic, const std::string& type, const ros2::Qos& qos, Take take) = 0;
  virtual void start(const RosHost& host) = 0;
  virtual void close() = 0;
  /// False: a reader is too slow, and the message is lost.
  virtual bool publish(std::size_t topic, std::size_t size, const Fill& fill) = 0;
  /// Who is at the other end: of an advertised topic, of a subscribed one.
  [[nodiscard]] virtual unsigned listeners(std::size_t advertised) const = 0;
  [[nodiscard]] virtual unsigned speakers(std::size_t subscribed) const = 0;
  /// Where it looks for others; "" where that helps nobody.
  [[nodiscard]] virtual std::string where() const = 0;

 protected:
  ros2::Types types_;
};

/// What InputError says of a name has no place yet.
template <class F>
decltype(auto) placed(const Place& place, F&& what) {
  try {
    return what();
  } catch (const InputError& error) {
    const Mistake& mistake = error.mistakes().front();
    throw InputError(mistake.place.file.empty() ? place : mistake.place, mistake.what, mistake.hint);
  }
}

/// One middleware of a scenario, in the words of ROS 2, which has more of them.
struct RosPart {
  std::string name;    // of its node and topics: ros, ros2
  std::string others;  // "ROS 2 nodes"
  Ros2Section section;
  std::unique_ptr<RosWire> (*make_wire)(const Ros2Section& section);

  /// Whether it writes to the world.
  [[nodiscard]] bool writes() const;
};
std::vector<RosPart> ros_parts(const Scenario& scenario);
/// What the report of a run with nodes of ROS has to say; who of them keeps it from repeating, and why.
std::vector<std::string> ros_notes(const Scenario& scenario);
std::vector<std::string> ros_spoilers(const Scenario& scenario);

std::unique_ptr<RosWire> make_ros1_wire(const Ros2Section& section);
std::unique_ptr<RosWire> make_ros2_wire(const Ros2Section& section);

}  // namespace isochron
