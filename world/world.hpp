#pragma once
// A World is the participant around an engine: it holds commands, takes steps of one length, and shows each accepted
// state whole. What it does depends on its model, commands and number of steps only; how far each advance_to() goes,
// and who reads in between, changes nothing.
//
// Promises: commands hold until the next write. A reader sees a whole state with its time; (branch, time) never goes
//           back. States are those at whole multiples of step() from the start; none of a rejected step is ever seen.
// Requires: add() before the first advance_to().
// Threads:  owner thread; read() from any thread.
// Cost:     after the first step no allocation, no lock.
// Fails:    a diverged world keeps and shows its last good state, and takes no further step until restore().

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "world/engine.hpp"
#include "world/part.hpp"
#include "world/state.hpp"
#include "world/state_board.hpp"

namespace isochron::world {

/// Why a command was not taken: "actuator prey/fx: the command is not a number".
struct Refused {
  std::string what;
};

class World {
 public:
  /// The step is the model's own unless given. Throws InputError for a step that the engine cannot take.
  explicit World(std::unique_ptr<Engine> engine, std::optional<SimSpan> step = std::nullopt);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// A force field, a vehicle. Its actuators and sensors come after those that are there.
  void add(std::unique_ptr<Part> part);

  /// The engine's actuators and sensors, then those of the parts in the order of add().
  [[nodiscard]] const std::vector<ActuatorInfo>& actuators() const { return actuators_; }
  [[nodiscard]] const std::vector<SensorInfo>& sensors() const { return sensors_; }
  /// Where a sensor's numbers begin in State::sensors.
  [[nodiscard]] std::uint32_t sensor_at(std::uint32_t sensor) const { return sensor_at_[sensor]; }
  /// By name; throw InputError with the nearest name.
  [[nodiscard]] std::uint32_t actuator(std::string_view name) const;
  [[nodiscard]] std::uint32_t sensor(std::string_view name) const;
  [[nodiscard]] std::uint32_t body(std::string_view name) const;
  [[nodiscard]] std::uint32_t joint(std::string_view name) const;
  [[nodiscard]] const Catalog& catalog() const { return engine_->catalog(); }
  /// The same with the actuators and sensors of the parts: for sensors that look at those.
  [[nodiscard]] Catalog whole_catalog() const;
  /// What a sensor says in the latest state; owner thread.
  [[nodiscard]] std::span<const double> reading(std::uint32_t sensor) const;

  Result<Done, Refused> command(std::uint32_t actuator, double value);
  /// A force on a body until the next call for it; parts' forces come on top.
  Result<Done, Refused> push(std::uint32_t body, const Wrench& wrench);
  /// Puts a free or mocap body somewhere.
  Result<Done, Refused> place(std::uint32_t body, const Motion& motion);

  [[nodiscard]] SimSpan step() const { return step_; }
  [[nodiscard]] SimTime time() const { return engine_->time(); }
  /// Steps while a whole step fits before t.
  Result<Done, Diverged> advance_to(SimTime t);

  /// The latest state that was shown; any thread. `into` comes from make_state() and is filled without allocation.
  void read(State& into) const;
  [[nodiscard]] State make_state() const;

  /// The engine, its parts, and forces; as numbers. The same world or one made alike takes it back.
  [[nodiscard]] std::size_t snapshot_size() const;
  void snapshot(std::span<double> into) const;
  /// Begins a new branch, shown at once.
  void restore(std::span<const double> from);

  /// For sensors and others that run in the owner's thread; they must not step it.
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] const Engine& engine() const { return *engine_; }

 private:
  struct Held;  // one part and where its numbers begin
  Result<Done, Diverged> one_step();
  void gather_forces();
  void show();
  void lay_out();

  std::unique_ptr<Engine> engine_;
  SimSpan step_;
  std::vector<Held> parts_;
  std::vector<ActuatorInfo> actuators_;
  std::vector<SensorInfo> sensors_;
  std::vector<std::uint32_t> sensor_at_;
  std::size_t engine_actuators_ = 0;
  std::size_t sensor_numbers_ = 0;
  std::size_t position_count_ = 0, velocity_count_ = 0;  // for readers: only the owner asks the engine
  std::vector<Wrench> pushes_;                           // what push() asked for
  Wrenches wrenches_;                                    // of this step
  std::vector<std::uint32_t> applied_;                   // bodies that carry forces of parts from the step before
  std::uint64_t branch_ = 0;
  std::optional<Diverged> diverged_;
  std::unique_ptr<StateBoard> board_;
  std::vector<double> sheet_;      // the state as it is written on the board
  std::size_t sheet_sensors_ = 0;  // where sensors begin in it
};

}  // namespace isochron::world
