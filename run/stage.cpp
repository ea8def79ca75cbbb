#include "run/stage.hpp"

#include <algorithm>
#include <cmath>

#include "run/scene_messages.hpp"
#include "run/state_names.hpp"
#include "scenario/find_file.hpp"
#include "scenario/timed_faults.hpp"
#include "world/fields.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

/// Bodies that move freely: those with a joint of six degrees.
std::vector<std::uint32_t> free_bodies(const world::Catalog& catalog) {
  std::vector<std::uint32_t> bodies;
  for (const world::JointInfo& joint : catalog.joints) {
    if (joint.velocities == 6) bodies.push_back(joint.body);
  }
  return bodies;
}

/// "mujoco", "ode", or where the library is.
std::string engine_of(const Scenario& scenario) {
  const WorldSection& section = *scenario.world;
  if (section.engine == "mujoco" || section.engine == "ode") return section.engine;
  if (auto found = find_library(section.engine, scenario.folder)) return *found;
  throw InputError(section.place_of("engine"), "there is no engine `" + section.engine + "`",
                   "mujoco, ode, or a shared library next to the scenario file or in Isochron's own lib folder");
}

world::PenaltyWalls::Settings settings_of(const WallsSection& walls) {
  return {walls.half_width, walls.reach, walls.stiffness};
}

/// The wind's plain drag is not for aircraft, which have one of their own.
std::vector<std::uint32_t> bodies_in_wind(const Scenario& scenario, const world::Catalog& catalog) {
  std::vector<std::uint32_t> bodies = free_bodies(catalog);
  std::erase_if(bodies, [&](std::uint32_t body) {
    return std::ranges::any_of(scenario.aircraft, [&](const auto& one) { return one.first == catalog.bodies[body]; });
  });
  return bodies;
}

std::unique_ptr<world::World> make_world(const Scenario& scenario, world::PenaltyWalls*& walls, world::Wind*& wind,
                                         std::unique_ptr<Aircraft>& aircraft) {
  const WorldSection& section = *scenario.world;
  auto world =
      std::make_unique<world::World>(world::load_engine(engine_of(scenario), section.model.path), section.step);
  const auto bodies = free_bodies(world->catalog());
  if (section.walls) {
    auto made = std::make_unique<world::PenaltyWalls>(bodies, settings_of(*section.walls));
    walls = made.get();
    world->add(std::move(made));
  }
  if (section.wind) {
    auto made = std::make_unique<world::Wind>(bodies_in_wind(scenario, world->catalog()), section.wind->velocity,
                                              section.wind->drag);
    wind = made.get();
    world->add(std::move(made));
  }
  add_vehicles(scenario, *world);
  aircraft = std::make_unique<Aircraft>(scenario, *world);
  return world;
}

}  // namespace

Stage::Stage(const Scenario& scenario)
    : world_(make_world(scenario, walls_, wind_, aircraft_)),
      catalog_(world_->whole_catalog()),
      scenario_(scenario),
      faults_(scenario.faults.seed.value_or(scenario.seed)),
      vehicles_(scenario, *world_) {
  check_timed_faults(scenario, catalog_);
  sensors_ = std::make_unique<world::SensorSet>(sensor_specs(scenario), catalog_, scenario.seed);
  check_biases(scenario);
  if (sensors_->needs_scene()) {
    scene_ = std::make_unique<world::Scene>(world_->engine().geometry());
  }
  actuator_of_.assign(world_->actuators().size(), -1);
  for (world::ActuatorSpec& spec : actuator_specs(scenario)) {
    const world::Actuator& made = actuators_.emplace_back(std::move(spec), world_->actuators());
    actuator_of_[made.index()] = static_cast<int>(actuators_.size()) - 1;
  }
  auto disturbance = std::make_unique<Disturbance>();
  disturbance_ = disturbance.get();
  world_->add(std::move(disturbance));
  state_ = world_->make_state();
}

/// Sensors that are nodes of their own are checked by those.
void Stage::check_biases(const Scenario& scenario) const {
  for (const TimedFault& fault : scenario.faults.timeline) {
    if (fault.bias.empty() || sensors_->size() == 0) continue;
    const std::size_t dot = std::min(fault.bias.find('.'), fault.bias.size());
    const auto found = find_sensor_field(*sensors_, fault.bias);
    const bool here = find_sensor_field(*sensors_, fault.bias.substr(0, dot) + ".header.stamp.sec").ok();
    if (!found.ok() && here)
      throw InputError(fault.place_of("bias"), found.error(), "as in prey/imu.angular_velocity.z");
  }
}

const world::Reading* Stage::reading(std::uint32_t sensor, SimTime at) const {
  const world::Sensor& from = (*sensors_)[sensor];
  const auto blind = faults_.blind_since(from.full_name(), at);
  return from.latest_at(blind.value_or(at));
}

Result<Done, std::string> Stage::command(std::uint32_t actuator, SimTime at, double value) {
  if (faults_.cut_off(world_->actuators()[actuator].name, at)) return done();  // lost on its way
  // Parts that were added to the world later have actuators that nothing stands between.
  if (const int between = actuator < actuator_of_.size() ? actuator_of_[actuator] : -1; between >= 0) {
    const auto taken = actuators_[static_cast<std::size_t>(between)].command(at, value);
    if (!taken.ok()) return fail(world::to_string(taken.error()));
    return done();
  }
  const auto taken = world_->command(actuator, value);
  if (!taken.ok()) return fail(taken.error().what);
  return done();
}

std::size_t Stage::snapshot_size() {
  world::Carrier counter;
  for (world::Actuator& actuator : actuators_) actuator.carry(counter);
  return world_->snapshot_size() + sensors_->snapshot_size() + counter.numbers();
}

void Stage::snapshot(std::span<double> into) {
  const std::size_t world = world_->snapshot_size(), sensors = sensors_->snapshot_size();
  world_->snapshot(into.first(world));
  sensors_->snapshot(into.subspan(world, sensors));
  carry_actuators(world::Carrier::saving(into.subspan(world + sensors)));
}

void Stage::restore(std::span<const double> from) {
  const std::size_t world = world_->snapshot_size(), sensors = sensors_->snapshot_size();
  world_->restore(from.first(world));
  sensors_->restore(from.subspan(world, sensors));
  carry_actuators(world::Carrier::restoring(from.subspan(world + sensors)));
}

void Stage::carry_actuators(world::Carrier c) {
  for (world::Actuator& actuator : actuators_) actuator.carry(c);
}

void Stage::begin(RunRecord& record, RunWatch& watch, SimSpan every) {
  record_every_ = every;
  record_ = &record;
  watch_ = &watch;
  Journal& journal = record.journal();
  state_channel_ = journal.channel<world::WorldState>("/world/state", {.metadata = state_names(catalog_)});
  transform_channel_ = journal.channel<tf2_msgs::TFMessage>("/tf", {.in_digest = false});
  joint_channel_ = journal.channel<sensor_msgs::JointState>("/joint_states", {.in_digest = false});
  vehicles_.begin(journal);
  aircraft_->begin(journal);
  begin_readings(journal, record.producer());
  record_scene();
  record_state();
}

void Stage::begin_readings(Journal& journal, Producer& producer) {
  readings_ = &producer;
  const std::vector<ChannelDefinition> all = reading_channels();
  std::size_t next = 0;
  for (std::size_t i = 0; i < sensors_->size(); ++i) {
    std::vector<ChannelId>& channels = reading_channels_.emplace_back();
    for (std::size_t output = 0; output < (*sensors_)[i].outputs().size(); ++output, ++next) {
      channels.push_back(journal.channel(all[next].topic, all[next].schema, all[next].options));
    }
  }
}

std::vector<ChannelDefinition> Stage::reading_channels() const {
  std::vector<ChannelDefinition> all;
  for (std::size_t i = 0; i < sensors_->size(); ++i) {
    const world::Sensor& sensor = (*sensors_)[i];
    for (const world::Output& output : sensor.outputs()) {
      const std::string topic = "/" + sensor.full_name() + (output.name.empty() ? "" : "/" + output.name);
      all.push_back({topic, {output.message_name, output.schema}, {}});
    }
  }
  return all;
}

void Stage::look(SimTime at) { look_before(at + SimSpan::from_ns(1)); }

void Stage::look_before(SimTime until) {
  if (sensors_->next_sample() >= until) return;
  const world::WorldView view(*world_, scene_.get());
  sensors_->take_before(until, view, [this](std::size_t sensor, const world::Reading& reading) {
    if (readings_ != nullptr) record_reading(sensor, reading);
    for (const OnReading& tell : on_reading_) tell(sensor, reading);
  });
}

Result<Done, std::string> Stage::take_step() {
  const SimTime now = world_->time();
  const SimTime next = now + world_->step();
  if (watch_ != nullptr) {
    watch_->control().hold(next, record_->clock(), watch_->stop_flag());
    watch_->control().reached(now, record_->journal());
    obey(watch_->control());
  }
  while (!planned_.empty() && planned_.front().at <= now) {
    Mark mark = std::move(planned_.front());
    planned_.erase(planned_.begin());
    mark.at = now;
    if (!obey(mark)) continue;
    if (record_ != nullptr) record_mark(mark);
    done_.push_back(std::move(mark));
  }
  if (!not_applied_.empty()) return fail(not_applied_);
  if (settling_) settle(now);
  look_before(next);
  for (world::Actuator& actuator : actuators_) {
    // The value passed its limits already; only a NaN could be refused, and that was refused on its way in.
    (void)world_->command(actuator.index(), actuator.value_at(now)).ok();
  }
  const auto stepped = world_->advance_to(next);
  if (!stepped.ok()) return fail(stepped.error().what);
  const bool due = record_every_ == SimSpan::zero() || next.since_zero() % record_every_ == SimSpan::zero();
  if (record_ != nullptr && due) record_state();
  if (watch_ != nullptr) watch_->at(next);
  return done();
}

/// False: there is nothing of that name, and nothing was done.
bool Stage::obey(const Mark& mark) {
  if (mark.what == "push") {
    const std::vector<std::string>& bodies = world_->catalog().bodies;
    const auto body = std::find(bodies.begin() + 1, bodies.end(), mark.about);
    if (body == bodies.end()) return false;
    disturbance_->push(static_cast<std::uint32_t>(body - bodies.begin()), mark.force,
                       mark.at + SimSpan::from_ns(std::llround(mark.seconds * 1e9)));
  } else if (mark.what == "set") {
    const auto& actuators = world_->actuators();
    const auto found = std::ranges::find(actuators, mark.about, &world::ActuatorInfo::name);
    if (found == actuators.end()) return false;
    return command(static_cast<std::uint32_t>(found - actuators.begin()), mark.at, mark.force[0]).ok();
  } else if (mark.what == "blade") {
    return aircraft_->lose_blade(mark.about, mark.force[0]);
  } else if (mark.what == "change") {
    return change(mark);
  } else if (SensorFaults::is_one(mark.what)) {
    if (sensors_->size() == 0) return true;  // they are nodes of their own, which know
    return sensor_faults_->add(mark, mark.at + SimSpan::from_ns(std::llround(mark.seconds * 1e9)), *sensors_);
  } else if (mark.what == "disk") {
    if (record_ != nullptr) record_->fill_disk();
  } else if (InjectedFaults::is_fault(mark.what)) {
    faults_.add(mark);
    settling_ = settling_ || mark.what == "slow";
  }
  return true;
}

void Stage::plan(std::vector<Mark> marks) {
  planned_ = std::move(marks);
  std::ranges::stable_sort(planned_, {}, &Mark::at);
}

void Stage::plan_faults(const std::vector<Mark>& marks) {
  for (Mark mark : marks) {
    const std::int64_t step = world_->step().ns();
    mark.at = SimTime::from_ns((mark.at.ns() + step - 1) / step * step);  // at the first step from then on
    const bool sensor = SensorFaults::is_one(mark.what);
    if (sensor)
      (void)sensor_faults_->add(mark, mark.at + SimSpan::from_ns(std::llround(mark.seconds * 1e9)), *sensors_);
    if (InjectedFaults::is_fault(mark.what)) faults_.add(mark);
  }
}

void Stage::slow_down(SimTime now) {
  faults_.slow_down(now, [](const std::string&) { return 1.0; });
}

bool Stage::change(const Mark& mark) {
  const auto set = override_of(mark.about);
  if (!set || !check_change(scenario_.base(), *set).ok()) return false;
  const SimTime until =
      mark.seconds > 0 ? mark.at + SimSpan::from_ns(std::llround(mark.seconds * 1e9)) : SimTime::never();
  scenario_.add(*set, until);
  apply();
  settling_ = true;
  return true;
}

void Stage::settle(SimTime now) {
  if (scenario_.expire(now)) apply();
  faults_.slow_down(now, [&](const std::string& program) {
    const std::size_t slash = program.find('/');
    if (!changed_ || slash == std::string::npos) return 1.0;
    return ChangedScenario::slowness(scenario_.base(), *changed_, program.substr(0, slash), program.substr(slash + 1));
  });
}

void Stage::apply() {
  changed_ = scenario_.now();
  apply_fields(*changed_);
  apply_sensors(*changed_);
  apply_actuators(*changed_);
}

void Stage::apply_fields(const Scenario& scenario) {
  const WorldSection& section = *scenario.world;
  const auto bodies = free_bodies(world_->catalog());
  aircraft_->set_air(scenario);
  if (walls_ == nullptr && section.walls) {
    auto made = std::make_unique<world::PenaltyWalls>(bodies, settings_of(*section.walls));
    walls_ = made.get();
    disturbance_->add(std::move(made));
  } else if (walls_ != nullptr) {
    walls_->set(section.walls ? settings_of(*section.walls) : world::PenaltyWalls::Settings{0, 0, 0});
  }
  if (wind_ == nullptr && section.wind) {
    auto made = std::make_unique<world::Wind>(bodies_in_wind(scenario, world_->catalog()), section.wind->velocity,
                                              section.wind->drag);
    wind_ = made.get();
    disturbance_->add(std::move(made));
  } else if (wind_ != nullptr) {
    section.wind ? wind_->set(section.wind->velocity, section.wind->drag) : wind_->set({}, 0);
  }
}

/// Sensors made anew remember what the old ones did.
void Stage::apply_sensors(const Scenario& scenario) {
  auto made = std::make_unique<world::SensorSet>(sensor_specs(scenario), catalog_, scenario.seed);
  if (made->size() != sensors_->size()) return;  // they are nodes of their own
  if (made->snapshot_size() != sensors_->snapshot_size()) {
    not_applied_ =
        "a change of a sensor's rate or delay needs another memory, and cannot be made in the middle of a run";
    return;
  }
  std::vector<double> memory(sensors_->snapshot_size());
  sensors_->snapshot(memory);
  made->restore(memory);
  sensors_ = std::move(made);
  sensor_faults_->install(*sensors_);
}

void Stage::apply_actuators(const Scenario& scenario) {
  std::vector<world::Actuator> made;
  for (world::ActuatorSpec& spec : actuator_specs(scenario)) made.emplace_back(std::move(spec), world_->actuators());
  world::Carrier before, after;
  for (world::Actuator& actuator : actuators_) actuator.carry(before);
  for (world::Actuator& actuator : made) actuator.carry(after);
  if (made.size() != actuators_.size()) return;
  if (before.numbers() != after.numbers()) {
    not_applied_ = "a change of an actuator's delay needs another memory, and cannot be made in the middle of a run";
    return;
  }
  std::vector<double> memory(before.numbers());
  carry_actuators(world::Carrier::saving(memory));
  actuators_ = std::move(made);
  carry_actuators(world::Carrier::restoring(memory));
}

void Stage::obey(RunControl& control) {
  for (Mark& mark : control.take(world_->time())) {
    mark.at = world_->time();
    if (obey(mark)) record_mark(mark);
  }
}

void Stage::record_mark(const Mark& mark) {
  if (!mark_channel_) mark_channel_ = record_->journal().channel<Mark>(marks_topic);
  record_->producer().write(*mark_channel_, mark.at, mark);
}

void Stage::record_scene() {
  const ChannelId channel = record_->journal().channel<scene::SceneUpdate>("/scene", {.in_digest = false});
  record_->producer().write(channel, world_->time(), scene::scene_for_journal(world_->engine()));
}

void Stage::record_state() {
  world_->read(state_);
  Producer& producer = record_->producer();
  fill(message_, state_);
  producer.write(state_channel_, state_.time, message_);
  if (state_.time < next_view_) return;
  next_view_ = state_.time + SimSpan(10ms);  // a picture does not need more
  fill(transforms_, state_, world_->catalog());
  producer.write(transform_channel_, state_.time, transforms_);
  vehicles_.write(producer, state_);
  aircraft_->write(producer, state_);
  fill(joints_, state_, world_->catalog());
  if (!joints_.name.empty()) producer.write(joint_channel_, state_.time, joints_);
}

void Stage::record_reading(std::size_t sensor, const world::Reading& reading) {
  for (std::size_t output = 0; output < reading_channels_[sensor].size(); ++output) {
    readings_->write_bytes(reading_channels_[sensor][output], reading.available(), reading.bytes(output));
  }
}

}  // namespace isochron
