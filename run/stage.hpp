#pragma once
// The stage of a scenario: its world with forces, vehicles, sensors and actuators, and the record of what happens
// there. Every mode plays on the same stage; they differ in who may act when.
//
// Promises: the state at t is whole and recorded before anybody acts on it. What is recorded depends on the commands
//           and their times only.
// Threads:  owner thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "run/aircraft.hpp"
#include "run/disturbance.hpp"
#include "run/injected_faults.hpp"
#include "run/run_record.hpp"
#include "run/sensor_faults.hpp"
#include "run/vehicles.hpp"
#include "scenario/run_changes.hpp"
#include "scenario/scenario.hpp"
#include "world/actuators/actuator.hpp"
#include "world/fields.hpp"
#include "world/messages.hpp"
#include "world/scene.hpp"
#include "world/sensors/sensor_set.hpp"
#include "world/world.hpp"

namespace isochron {

class Stage {
 public:
  /// Throws InputError, placed in the scenario or in the model.
  explicit Stage(const Scenario& scenario);

  [[nodiscard]] world::World& world() { return *world_; }
  [[nodiscard]] world::SensorSet& sensors() { return *sensors_; }
  [[nodiscard]] SimSpan step() const { return world_->step(); }
  /// All that has a name, parts of vehicles included.
  [[nodiscard]] const world::Catalog& catalog() const { return catalog_; }
  /// The world as sensors see it now.
  [[nodiscard]] world::WorldView view() { return world::WorldView(*world_, scene_.get()); }
  /// A sensor's newest reading at `at`, as whoever reads it gets it: a blind one gives what it had before. Null: none.
  [[nodiscard]] const world::Reading* reading(std::uint32_t sensor, SimTime at) const;
  /// What sensors see; null where none sees.
  [[nodiscard]] world::Scene* scene() { return scene_.get(); }
  [[nodiscard]] const Aircraft& aircraft() const { return *aircraft_; }
  /// What a person or a timeline broke.
  [[nodiscard]] InjectedFaults& faults() { return faults_; }
  /// For a stage that mirrors a world: what `slow` does from `now` on.
  void slow_down(SimTime now);
  /// Commands to an actuator that the scenario gives a delay or a limit pass through it; others go straight to the
  /// model.
  Result<Done, std::string> command(std::uint32_t actuator, SimTime at, double value);

  /// Makes the channels and records the first state. The watch is obeyed before each step. `every`: how often the state
  /// is recorded; zero = after every step.
  void begin(RunRecord& record, RunWatch& watch, SimSpan every = SimSpan::zero());
  /// For a world that is a node of flows, where nobody watches: what is done to it when, known beforehand.
  void plan(std::vector<Mark> marks);
  /// What of it was done since the last call.
  [[nodiscard]] std::vector<Mark> take_done() { return std::exchange(done_, {}); }
  /// The same for a stage that mirrors such a world: what its sensors and programs suffer.
  void plan_faults(const std::vector<Mark>& marks);
  /// Instead of begin(), where another stage of the same run records the world: only the sensors' readings are.
  void begin_readings(Journal& journal, Producer& producer);
  /// Who else is told of each reading, as it is complete; lives as long as the stage steps.
  using OnReading = std::function<void(std::size_t sensor, const world::Reading& reading)>;
  void tell_readings(OnReading on_reading) { on_reading_.push_back(std::move(on_reading)); }
  /// What begin_readings() makes: a channel for each output of each sensor, in their order.
  [[nodiscard]] std::vector<ChannelDefinition> reading_channels() const;
  /// Lets the sensors look whose time has come at `at`, in the present state. Whoever reads a sensor at `at` calls it.
  void look(SimTime at);
  /// One step of the world, with all sensors that look before it ends.
  Result<Done, std::string> take_step();

  /// World, sensors and actuators together, as numbers; the same stage or one made alike takes it back, and then does
  /// what it did before, bit for bit. Neither allocates. The record is not part of it.
  [[nodiscard]] std::size_t snapshot_size();
  void snapshot(std::span<double> into);
  void restore(std::span<const double> from);

 private:
  void carry_actuators(world::Carrier c);
  void look_before(SimTime until);
  void obey(RunControl& control);
  bool obey(const Mark& mark);
  bool change(const Mark& mark);
  void check_biases(const Scenario& scenario) const;
  void apply();
  void apply_fields(const Scenario& scenario);
  void apply_sensors(const Scenario& scenario);
  void apply_actuators(const Scenario& scenario);
  /// What lasted for a while ends.
  void settle(SimTime now);
  void record_scene();
  void record_mark(const Mark& mark);
  void record_state();
  void record_reading(std::size_t sensor, const world::Reading& reading);

  world::PenaltyWalls* walls_ = nullptr;  // the world's, or added later; null: there are none
  world::Wind* wind_ = nullptr;
  std::unique_ptr<Aircraft> aircraft_;
  std::unique_ptr<world::World> world_;
  world::Catalog catalog_;
  std::unique_ptr<world::SensorSet> sensors_;
  std::unique_ptr<world::Scene> scene_;
  std::vector<world::Actuator> actuators_;
  std::vector<int> actuator_of_;  // by the world's actuator; -1 = none between

  Disturbance* disturbance_ = nullptr;  // the world's
  ChangedScenario scenario_;
  std::string not_applied_;          // why a change could not be made
  std::optional<Scenario> changed_;  // as it is now, if something was changed
  bool settling_ = false;            // something lasts for a while, or computing is slower
  std::vector<Mark> planned_;        // of a stage without a watch: what is done when, by time
  std::vector<Mark> done_;
  InjectedFaults faults_;
  std::unique_ptr<SensorFaults> sensor_faults_ = std::make_unique<SensorFaults>();
  RunRecord* record_ = nullptr;
  Producer* readings_ = nullptr;  // null: nobody wants them
  std::vector<OnReading> on_reading_;
  RunWatch* watch_ = nullptr;
  VehicleRecord vehicles_;
  world::State state_;
  world::WorldState message_;
  tf2_msgs::TFMessage transforms_;
  sensor_msgs::JointState joints_;
  ChannelId state_channel_, transform_channel_, joint_channel_;
  std::optional<ChannelId> mark_channel_;  // made for the first mark: a run without any has the digest it always had
  std::vector<std::vector<ChannelId>> reading_channels_;
  SimTime next_view_;
  SimSpan record_every_;
};

/// Sensor and actuator declarations of a scenario as the world takes them.
std::vector<world::SensorSpec> sensor_specs(const Scenario& scenario);
std::vector<world::ActuatorSpec> actuator_specs(const Scenario& scenario);

}  // namespace isochron
