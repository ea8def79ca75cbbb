#pragma once
// A user's controller inside the world's process, for `callback` mode: on each release it is given the whole state and
// writes commands; its computing costs no simulated time. It lives in a shared library whose source ends with
//
//     ISOCHRON_CONTROLLER(PreyController)
//
// where PreyController is a Controller made from a ControllerSetup. The constructor looks its names up, may throw
// InputError, and release() is called from the world's thread ever after. docs/world.md shows one.
//
// Promises: release() sees one whole state; what it writes is taken together, after it returned.
// Fails:    what a controller throws is caught and reported under its name; nothing it wrote in that call is taken.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "world/plugin.hpp"
#include "world/sensors/reading.hpp"
#include "world/state.hpp"
#include "world/world.hpp"

namespace isochron::world {

/// Changes whenever something below does.
inline constexpr std::uint32_t controller_interface = 3;

/// The sensors that the scenario declares, as a controller reads them: what was available at the time of its release.
class Senses {
 public:
  virtual ~Senses() = default;
  /// Of this robot by name, of another one as "prey/imu". Throws InputError with the nearest name.
  [[nodiscard]] virtual std::uint32_t find(std::string_view sensor) const = 0;
  /// The newest reading; null when there is none yet. `latest(i)->decode(message)` with msg/ros_messages.hpp.
  [[nodiscard]] virtual const Reading* latest(std::uint32_t sensor) const = 0;
  /// For a sensor without a period: lets it look, and says when the answer is there.
  virtual SimTime ask(std::uint32_t sensor) = 0;
  /// The time of this release; the state's may be earlier by less than a step.
  [[nodiscard]] virtual SimTime now() const = 0;
};

/// What a controller says to other programs and hears of them, and of its robot's radio ("v2x"), as executables do. Only
/// during a release; what is sent leaves when its computing is over.
class Letters {
 public:
  virtual ~Letters() = default;
  /// The oldest letter of this type that has arrived from `from`: "planner", "prey/planner", "v2x", or "" for any program.
  /// False: there is none. A radio is listened to from the first time on.
  virtual bool receive(std::string_view from, std::string_view type, std::vector<std::byte>& into) = 0;
  virtual void send(std::string_view to, std::string_view type, std::span<const std::byte> bytes) = 0;
};

/// What a controller knows when it is made.
struct ControllerSetup {
  std::string name;                            // of this participant
  std::string robot;                           // that it belongs to; "" when there is one robot only
  SimSpan period;                              // between releases
  std::uint64_t seed = 0;                      // of the run: RandomStream(seed, name) is this controller's own
  std::map<std::string, std::string> options;  // as the scenario gives them
  const World* world = nullptr;                // to look up names: world->actuator("prey/fx")
  Senses* senses = nullptr;                    // as long as the controller lives; null outside of a scenario
  Letters* letters = nullptr;                  // the same; null also in mode realtime
};

/// What a controller wants, until its call is over.
class Commands {
 public:
  explicit Commands(std::size_t actuators) : values_(actuators), written_(actuators, 0) { order_.reserve(actuators); }

  /// Holds until the next write. `actuator` is from World::actuator().
  void set(std::uint32_t actuator, double value) {
    if (written_.at(actuator) == 0) order_.push_back(actuator);
    written_[actuator] = 1;
    values_[actuator] = value;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& written() const { return order_; }
  [[nodiscard]] double value(std::uint32_t actuator) const { return values_[actuator]; }
  void clear() {
    for (const std::uint32_t actuator : order_) written_[actuator] = 0;
    order_.clear();
  }

 private:
  std::vector<double> values_;
  std::vector<char> written_;
  std::vector<std::uint32_t> order_;
};

class Controller {
 public:
  virtual ~Controller() = default;
  virtual void release(const State& state, Commands& commands) = 0;
};

/// Why a release came to nothing: "controller prey: …".
struct ControllerFault {
  std::string what;
};

/// One controller at work on a world.
class ControllerHost {
 public:
  ControllerHost(std::string name, std::unique_ptr<Controller> controller, const World& world);
  /// Where commands go: to the world itself, or by way of what stands between.
  using Taker = std::function<Result<Done, std::string>(std::uint32_t actuator, double value)>;
  /// Reads the world, calls the controller, takes its commands: none of them when one is not a number.
  Result<Done, ControllerFault> release(World& world);
  Result<Done, ControllerFault> release(const World& world, const Taker& take);
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::unique_ptr<Controller> controller_;
  State state_;
  Commands commands_;
};

/// Throws InputError that names the library.
std::unique_ptr<Controller> load_controller(const std::string& library, const ControllerSetup& setup);

}  // namespace isochron::world

#define ISOCHRON_CONTROLLER(Type)                                                                                \
  extern "C" std::uint32_t isochron_controller_interface() {                                                     \
    return ::isochron::world::controller_interface * 1000 + ::isochron::world::engine_interface;                 \
  }                                                                                                              \
  extern "C" ::isochron::world::Controller* isochron_controller(const ::isochron::world::ControllerSetup* setup, \
                                                                char* why, std::size_t why_size) {               \
    try {                                                                                                        \
      return new Type(*setup);                                                                                   \
    } catch (const std::exception& error) {                                                                      \
      ::isochron::world::tell(error.what(), why, why_size);                                                      \
    } catch (...) {                                                                                              \
      ::isochron::world::tell("it threw something that is no std::exception", why, why_size);                    \
    }                                                                                                            \
    return nullptr;                                                                                              \
  }
