#pragma once
// An Engine is a dynamics library behind the smallest interface that the rest of Isochron needs: names, one step,
// commands, state. It knows nothing of scenario files, pace or participants. MuJoCo and ODE stand behind it; a user's
// own engine is a class of this kind, linked in or loaded from a shared library (plugin.hpp).
//
// Promises: the same model, commands and steps give the same bits, in any process and after restore(), whatever other
//           engines do in other threads.
// Requires: controls and wrenches hold until the next write. step(dt) is called with the same dt all along, unless
//           takes_any_step().
// Threads:  owner thread. Different engines are independent.
// Cost:     step, save, restore and all reads: no allocation after the first step.
// Fails:    a step that gives a NaN or diverges says which quantity of which body; the state before it is kept.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/input_error.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "world/geometry.hpp"

namespace isochron::world {

struct ActuatorInfo {
  std::string name;
  double low = 0;  // low == high: unlimited
  double high = 0;
};
struct JointInfo {
  std::string name;
  std::uint32_t positions = 1;    // 1 hinge or slide, 4 ball, 7 free
  std::uint32_t velocities = 1;   // 1, 3, 6
  std::uint32_t position_at = 0;  // first index in positions() and velocities()
  std::uint32_t velocity_at = 0;
  std::uint32_t body = 0;  // the body that it moves
};
struct SensorInfo {
  std::string name;
  std::uint32_t dimensions = 1;
};
/// A named frame fixed to a body; where sensors are mounted.
struct SiteInfo {
  std::string name;
  std::uint32_t body = 0;
  Pose local;
};
struct Camera {
  std::string name;
  std::uint32_t body = 0;
  Pose local;                 // looks along −z, y up, as MuJoCo and OpenGL have it
  double vertical_fov = 0.8;  // radians
};

/// Everything that has a name, in the model's order. Body 0 is the world.
struct Catalog {
  std::vector<std::string> bodies;
  std::vector<double> masses;
  std::vector<Vec3> centres;           // of mass, in the body's frame
  std::vector<std::uint32_t> parents;  // of each body; the world is its own
  std::vector<JointInfo> joints;
  std::vector<ActuatorInfo> actuators;
  std::vector<SensorInfo> sensors;
  std::vector<SiteInfo> sites;
  std::vector<Camera> cameras;

  [[nodiscard]] std::optional<std::uint32_t> body(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> joint(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> actuator(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> sensor(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> site(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> camera(std::string_view name) const;
};

struct Wrench {
  Vec3 force{};   // at the body's centre of mass, world frame
  Vec3 torque{};  // world frame
};

struct Contact {
  std::uint32_t geometry_a = 0;
  std::uint32_t geometry_b = 0;
  Vec3 position{};
  Vec3 normal{};     // from a to b
  double depth = 0;  // > 0 when they overlap
  double normal_force = 0;
};

/// Why a step was not taken.
struct Diverged {
  std::string what;  // "body prey: position is NaN", as the user should read it
};

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  // "mujoco", "ode", …
  [[nodiscard]] virtual const Catalog& catalog() const = 0;
  [[nodiscard]] virtual const std::vector<Geometry>& geometry() const = 0;

  /// The step that the model asks for, and whether any other will do.
  [[nodiscard]] virtual SimSpan natural_step() const = 0;
  [[nodiscard]] virtual bool takes_any_step() const { return true; }
  [[nodiscard]] virtual SimTime time() const = 0;
  /// Advances by dt. An adaptive engine may try and reject inside; only the accepted state is ever visible.
  virtual Result<Done, Diverged> step(SimSpan dt) = 0;
  /// Back to the model's initial state and time zero.
  virtual void reset() = 0;

  virtual void set_control(std::uint32_t actuator, double value) = 0;
  [[nodiscard]] virtual double control(std::uint32_t actuator) const = 0;
  /// Holds until the next call for that body; zero takes it away.
  virtual void set_wrench(std::uint32_t body, const Wrench& wrench) = 0;

  [[nodiscard]] virtual Motion motion(std::uint32_t body) const = 0;
  /// d²x/dt² of the body's frame origin over the last step, world frame: 0 at rest, gravity() in free fall. An
  /// accelerometer reads this minus gravity().
  [[nodiscard]] virtual Vec3 acceleration(std::uint32_t body) const = 0;
  [[nodiscard]] virtual Vec3 angular_acceleration(std::uint32_t) const { return {}; }  // world frame
  [[nodiscard]] virtual Vec3 gravity() const { return {0, 0, -9.81}; }
  /// Whether set_motion may be called for it: it has a free joint or is a kinematic stand-in.
  [[nodiscard]] virtual bool can_place(std::uint32_t body) const;
  /// Places a body; its velocity too.
  virtual void set_motion(std::uint32_t body, const Motion& motion) = 0;
  /// Whether a body is run into or only seen; false = this engine cannot change that. Its children are not touched.
  [[nodiscard]] virtual bool set_solid(std::uint32_t /*body*/, bool /*solid*/) { return false; }
  [[nodiscard]] virtual std::span<const double> positions() const = 0;   // of all joints, at JointInfo::position_at
  [[nodiscard]] virtual std::span<const double> velocities() const = 0;  // at JointInfo::velocity_at
  virtual void set_joint(std::uint32_t joint, std::span<const double> position, std::span<const double> velocity) = 0;
  [[nodiscard]] virtual std::span<const double> sensor(std::uint32_t sensor) const = 0;
  /// In the present state, with the forces that hold in it.
  [[nodiscard]] virtual std::span<const Contact> contacts() const = 0;

  /// The whole state, controls and wrenches included, as numbers. save and restore do not allocate.
  [[nodiscard]] virtual std::size_t state_size() const = 0;
  virtual void save(std::span<double> state) const = 0;
  virtual void restore(std::span<const double> state) = 0;
  /// An independent engine in the same state: what a planner rolls forward.
  [[nodiscard]] virtual std::unique_ptr<Engine> clone() const = 0;
};

/// Loads a model file: MJCF (.xml) or URDF (.urdf). `engine` is "mujoco", "ode", or the path of a shared library.
/// Throws InputError with the place in the model file.
std::unique_ptr<Engine> load_engine(std::string_view engine, const std::string& model_file);

}  // namespace isochron::world
