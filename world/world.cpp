#include "world/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "world/names.hpp"

namespace isochron::world {
namespace {

constexpr std::size_t motion_numbers = 13;
constexpr std::size_t head_numbers = 3;  // branch, seconds, nanoseconds
static_assert(sizeof(Motion) == motion_numbers * sizeof(double), "a Motion is copied as numbers");

template <class Items>
std::uint32_t demand(const Items& items, std::string_view kind, std::string_view name) {
  const auto at = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  if (at == items.end()) throw no_such(kind, name, names_of(items));
  return static_cast<std::uint32_t>(at - items.begin());
}

bool finite_motion(const Motion& m) {
  const Quat& q = m.pose.orientation;
  return finite(m.pose.position) && finite(m.linear) && finite(m.angular) && std::isfinite(q[0] + q[1] + q[2] + q[3]) &&
         q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-12;
}

}  // namespace

struct World::Held {
  std::unique_ptr<Part> part;
  std::size_t actuator_at;
  std::uint32_t actuators;
  std::size_t sensor_at;  // of its numbers
  std::size_t sensor_numbers;
};

World::World(std::unique_ptr<Engine> engine, std::optional<SimSpan> step)
    : engine_(std::move(engine)),
      step_(step.value_or(engine_->natural_step())),
      pushes_(engine_->catalog().bodies.size()),
      wrenches_(engine_->catalog().bodies.size()) {
  if (step_ <= SimSpan::zero()) throw InputError(Place{}, "the world's step must be positive");
  if (!engine_->takes_any_step() && step_ != engine_->natural_step()) {
    throw InputError(Place{}, "the engine " + std::string(engine_->name()) + " takes steps of " +
                                  std::to_string(engine_->natural_step().ns()) + " ns only");
  }
  actuators_ = engine_->catalog().actuators;
  engine_actuators_ = actuators_.size();
  for (const SensorInfo& info : engine_->catalog().sensors) {
    sensors_.push_back(info);
    sensor_at_.push_back(static_cast<std::uint32_t>(sensor_numbers_));
    sensor_numbers_ += info.dimensions;
  }
  applied_.reserve(pushes_.size());
  lay_out();
}

World::~World() = default;

void World::add(std::unique_ptr<Part> part) {
  Held held{std::move(part), actuators_.size(), 0, sensor_numbers_, 0};
  for (ActuatorInfo& info : held.part->actuators()) actuators_.push_back(std::move(info)), ++held.actuators;
  for (SensorInfo& info : held.part->sensors()) {
    sensor_at_.push_back(static_cast<std::uint32_t>(sensor_numbers_));
    sensor_numbers_ += info.dimensions;
    sensors_.push_back(std::move(info));
  }
  held.sensor_numbers = sensor_numbers_ - held.sensor_at;
  parts_.push_back(std::move(held));
  lay_out();
}

/// Readers may come only after set-up, so a larger board may take the place of the old one.
void World::lay_out() {
  position_count_ = engine_->positions().size();
  velocity_count_ = engine_->velocities().size();
  sheet_sensors_ = head_numbers + motion_numbers * engine_->catalog().bodies.size() + position_count_ + velocity_count_;
  const std::size_t numbers = sheet_sensors_ + sensor_numbers_ + actuators_.size();
  sheet_.resize(numbers);
  board_ = std::make_unique<StateBoard>(numbers);
  show();
}

std::uint32_t World::actuator(std::string_view name) const { return demand(actuators_, "actuator", name); }
std::uint32_t World::sensor(std::string_view name) const { return demand(sensors_, "sensor", name); }
std::uint32_t World::joint(std::string_view name) const { return demand(catalog().joints, "joint", name); }
std::uint32_t World::body(std::string_view name) const {
  if (const auto found = catalog().body(name)) return *found;
  throw no_such("body", name, catalog().bodies);
}

Catalog World::whole_catalog() const {
  Catalog whole = catalog();
  whole.actuators = actuators_;
  whole.sensors = sensors_;
  return whole;
}

std::span<const double> World::reading(std::uint32_t sensor) const {
  return {&sheet_[sheet_sensors_ + sensor_at_[sensor]], sensors_[sensor].dimensions};
}

Result<Done, Refused> World::command(std::uint32_t actuator, double value) {
  ENSURE(actuator < actuators_.size(), "no such actuator");
  if (!std::isfinite(value)) {
    return fail(Refused{"actuator " + actuators_[actuator].name + ": the command is not a number"});
  }
  if (actuator < engine_actuators_) {
    engine_->set_control(actuator, value);
    return done();
  }
  const auto after =
      std::find_if(parts_.begin(), parts_.end(), [actuator](const Held& held) { return held.actuator_at > actuator; });
  Held& held = *(after - 1);
  held.part->command(static_cast<std::uint32_t>(actuator - held.actuator_at), value);
  return done();
}

Result<Done, Refused> World::push(std::uint32_t body, const Wrench& wrench) {
  ENSURE(body < pushes_.size(), "no such body");
  if (!finite(wrench.force) || !finite(wrench.torque)) {
    return fail(Refused{"body " + catalog().bodies[body] + ": the force is not a number"});
  }
  pushes_[body] = wrench;
  engine_->set_wrench(body, wrench);
  return done();
}

Result<Done, Refused> World::place(std::uint32_t body, const Motion& motion) {
  ENSURE(body < pushes_.size(), "no such body");
  if (!finite_motion(motion)) return fail(Refused{"body " + catalog().bodies[body] + ": the pose is not a number"});
  if (!engine_->can_place(body)) {
    return fail(Refused{"body " + catalog().bodies[body] + ": only a free or a mocap body can be placed"});
  }
  engine_->set_motion(body, motion);
  return done();
}

Result<Done, Diverged> World::advance_to(SimTime t) {
  if (diverged_) return fail(*diverged_);
  while (engine_->time() + step_ <= t) {
    if (auto result = one_step(); !result) {
      diverged_ = result.error();
      return result;
    }
  }
  return done();
}

Result<Done, Diverged> World::one_step() {
  if (!parts_.empty()) gather_forces();
  if (auto result = engine_->step(step_); !result) return result;
  show();
  return done();
}

void World::gather_forces() {
  wrenches_.clear();
  for (const Held& held : parts_) held.part->act(*engine_, step_, wrenches_);
  for (const std::uint32_t body : applied_) engine_->set_wrench(body, pushes_[body]);
  applied_.assign(wrenches_.touched().begin(), wrenches_.touched().end());
  for (const std::uint32_t body : applied_) {
    const Wrench& sum = wrenches_.sum(body);
    engine_->set_wrench(body, {pushes_[body].force + sum.force, pushes_[body].torque + sum.torque});
  }
}

void World::show() {
  double* to = sheet_.data();
  const std::int64_t ns = engine_->time().ns();
  *to++ = static_cast<double>(branch_);
  *to++ = static_cast<double>(ns / 1'000'000'000);
  *to++ = static_cast<double>(ns % 1'000'000'000);
  const std::size_t bodies = pushes_.size();
  for (std::uint32_t b = 0; b < bodies; ++b) {
    const Motion motion = engine_->motion(b);
    std::memcpy(to, &motion, sizeof motion);
    to += motion_numbers;
  }
  const auto copy = [&to](std::span<const double> from) { to = std::copy(from.begin(), from.end(), to); };
  copy(engine_->positions());
  copy(engine_->velocities());
  for (std::uint32_t s = 0; s < catalog().sensors.size(); ++s) copy(engine_->sensor(s));
  for (const Held& held : parts_) {
    held.part->read({to, held.sensor_numbers});
    to += held.sensor_numbers;
  }
  for (std::uint32_t a = 0; a < engine_actuators_; ++a) *to++ = engine_->control(a);
  for (const Held& held : parts_) {
    for (std::uint32_t a = 0; a < held.actuators; ++a) *to++ = held.part->commanded(a);
  }
  board_->write(sheet_);
}

State World::make_state() const {
  State state;
  state.bodies.resize(pushes_.size());
  state.positions.resize(position_count_);
  state.velocities.resize(velocity_count_);
  state.sensors.resize(sensor_numbers_);
  state.commands.resize(actuators_.size());
  read(state);
  return state;
}

void World::read(State& into) const {
  thread_local std::vector<double> sheet;
  sheet.resize(board_->numbers());
  board_->read(sheet);
  const double* from = sheet.data();
  into.branch = static_cast<std::uint64_t>(from[0]);
  into.time = SimTime::from_ns(static_cast<std::int64_t>(from[1]) * 1'000'000'000 + static_cast<std::int64_t>(from[2]));
  from += head_numbers;
  std::memcpy(static_cast<void*>(into.bodies.data()), from, into.bodies.size() * sizeof(Motion));
  from += motion_numbers * into.bodies.size();
  const auto take = [&from](std::vector<double>& values) {
    std::copy_n(from, values.size(), values.begin());
    from += values.size();
  };
  take(into.positions);
  take(into.velocities);
  take(into.sensors);
  take(into.commands);
}

std::size_t World::snapshot_size() const {
  std::size_t size = engine_->state_size() + 6 * pushes_.size();
  for (const Held& held : parts_) size += held.part->state_size();
  return size;
}

void World::snapshot(std::span<double> into) const {
  ENSURE(into.size() == snapshot_size(), "a snapshot of another size");
  engine_->save(into.first(engine_->state_size()));
  into = into.subspan(engine_->state_size());
  std::memcpy(into.data(), pushes_.data(), pushes_.size() * sizeof(Wrench));
  into = into.subspan(6 * pushes_.size());
  for (const Held& held : parts_) {
    held.part->save(into.first(held.part->state_size()));
    into = into.subspan(held.part->state_size());
  }
}

void World::restore(std::span<const double> from) {
  ENSURE(from.size() == snapshot_size(), "a snapshot of another size");
  engine_->restore(from.first(engine_->state_size()));
  from = from.subspan(engine_->state_size());
  std::memcpy(static_cast<void*>(pushes_.data()), from.data(), pushes_.size() * sizeof(Wrench));
  from = from.subspan(6 * pushes_.size());
  for (const Held& held : parts_) {
    held.part->restore(from.first(held.part->state_size()));
    from = from.subspan(held.part->state_size());
  }
  // Forces of parts belong to one step: whatever the engine still carries of them goes before the next one.
  applied_.clear();
  for (std::uint32_t b = 0; b < pushes_.size(); ++b) applied_.push_back(b);
  ++branch_;
  diverged_.reset();
  show();
}

}  // namespace isochron::world
