#include "run/vehicles.hpp"

#include <cmath>

#include "core/nearest_name.hpp"
#include "run/traffic_bodies.hpp"
#include "world/vehicle/kinematic_car.hpp"

namespace isochron {
namespace {

using world::World;

world::CarSettings car_settings(const VehicleSection& section) {
  world::CarSettings settings = section.car;
  settings.tyre = section.car.tyres;
  settings.powertrain = section.car.drive;
  if (!section.car.drive.torque.empty()) {
    settings.powertrain.curve.clear();
    for (const auto& [rpm, torque] : section.car.drive.torque) settings.powertrain.curve.push_back({rpm, torque});
  }
  if (section.start) settings.start_speed = section.start->speed;
  return settings;
}

world::KinematicCarSettings kinematic_settings(const VehicleSection& section) {
  world::KinematicCarSettings settings;
  settings.wheelbase = section.car.front_axle - section.car.rear_axle;
  settings.rear_axle = section.car.rear_axle;
  settings.max_steer = section.car.max_steer;
  settings.half_track = section.car.half_track;
  settings.axle_height = section.car.axle_height;
  settings.wheel_radius = section.car.tyres.radius;
  settings.friction = section.car.tyres.friction;
  settings.height = section.car.tyres.radius - section.car.axle_height;
  if (section.start) settings.start_speed = section.start->speed;
  return settings;
}

std::unique_ptr<world::Driver> driver_of(const VehicleSection& section) {
  const DriverSection& driver = section.driver;
  if (!driver.file.empty()) return std::make_unique<world::FileDriver>(driver.file.path);
  if (driver.path.empty()) return nullptr;
  world::PathDriverSettings settings;
  settings.max_steer = section.car.max_steer;
  settings.wheelbase = section.car.front_axle - section.car.rear_axle;
  settings.lateral_acceleration = driver.lateral_acceleration;
  settings.look_ahead = driver.look_ahead;
  settings.follow = driver.follow;
  settings.follow.desired_speed = driver.speed;
  auto made = std::make_unique<world::PathDriver>(driver.path, driver.closed, settings);
  if (driver.stop_before) made->stop_before(*driver.stop_before);
  return made;
}

/// Upright on the ground, whatever its slope: the springs find the rest.
void place(const StartSection& start, World& world, const world::Ground& ground, std::uint32_t body, double height) {
  constexpr double from_above = 1e4;
  const auto [x, y] = start.position;
  const auto below = ground.below(x, y, from_above);
  if (!below) throw InputError(start.place, "there is no ground under the vehicle's start");
  const double c = std::cos(start.heading), s = std::sin(start.heading);
  const world::Quat turned{std::cos(start.heading / 2), 0, 0, std::sin(start.heading / 2)};
  const world::Motion motion{{{x, y, below->height + height}, turned}, {start.speed * c, start.speed * s, 0}, {}};
  if (const auto done = world.place(body, motion); !done.ok()) throw InputError(start.place, done.error().what);
}

/// The driver acts before its car does, so it is added first.
void seat(const VehicleSection& section, World& world, world::Part& car, std::uint32_t body,
          const std::vector<std::uint32_t>& others) {
  auto driver = driver_of(section);
  if (!driver) return;
  world.add(std::make_unique<world::Seat>(std::move(driver), car, body, section.kind == VehicleKind::kinematic,
                                          section.driver.every, others));
}

void add_vehicle(const std::string& name, const VehicleSection& section, World& world,
                 const std::shared_ptr<const world::Ground>& ground, const std::vector<std::uint32_t>& others) {
  const std::uint32_t body = world.body(name);
  if (section.kind == VehicleKind::kinematic) {
    const auto settings = kinematic_settings(section);
    if (section.start) place(*section.start, world, *ground, body, settings.height);
    auto car = std::make_unique<world::KinematicCar>(world.engine(), name, settings, ground);
    seat(section, world, *car, body, others);
    return world.add(std::move(car));
  }
  auto car = std::make_unique<world::Car>(world.engine(), name, car_settings(section), ground);
  if (section.start) place(*section.start, world, *ground, body, car->rest_height());
  seat(section, world, *car, body, others);
  world.add(std::move(car));
}

}  // namespace

void add_vehicles(const Scenario& scenario, World& world) {
  if (scenario.vehicles.empty()) return;
  std::vector<Mistake> mistakes;
  std::vector<std::uint32_t> bodies;
  for (const auto& [name, section] : scenario.vehicles) {
    if (const auto body = world.catalog().body(name)) {
      bodies.push_back(*body);
    } else {
      mistakes.push_back({section.place, "vehicle `" + name + "`: the model has no body of that name",
                          nearest_hint(name, world.catalog().bodies)});
    }
  }
  std::shared_ptr<const world::Ground> ground;
  collect_mistakes(scenario.place_of("vehicles"), mistakes,
                   [&] { ground = std::make_shared<const world::Ground>(world.engine()); });
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  const std::vector<std::uint32_t> traffic = bodies_of_traffic(scenario, world.engine());
  bodies.insert(bodies.end(), traffic.begin(), traffic.end());
  for (const auto& [name, section] : scenario.vehicles) {
    collect_mistakes(section.place, mistakes,
                     [&, &name = name, &section = section] { add_vehicle(name, section, world, ground, bodies); });
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

VehicleRecord::VehicleRecord(const Scenario& scenario, const World& world) {
  for (const auto& [name, section] : scenario.vehicles) {
    vehicles_.push_back({name,
                         section.kind == VehicleKind::full,
                         world.actuator(name + "/steer"),
                         world.sensor_at(world.sensor(name + "/speed")),
                         {}});
  }
}

void VehicleRecord::begin(Journal& journal) {
  for (Vehicle& vehicle : vehicles_) {
    vehicle.channel = journal.channel<VehicleState>("/vehicles/" + vehicle.name, {.in_digest = false});
  }
}

/// The order of commands and readings is that of car.hpp and kinematic_car.hpp.
void VehicleRecord::write(Producer& producer, const world::State& state) {
  for (const Vehicle& vehicle : vehicles_) {
    const double* command = &state.commands[vehicle.command_at];
    const double* reading = &state.sensors[vehicle.sensor_at];
    message_ = {};
    message_.stamp = state.time;
    message_.speed = reading[0];
    message_.steer = command[0];
    if (vehicle.full) {
      message_.throttle = command[1];
      message_.brake = command[2];
      message_.rpm = reading[1];
      message_.gear = reading[2];
      for (std::size_t i = 0; i < 4; ++i) {
        message_.wheel_speed[i] = reading[3 + i];
        message_.suspension[i] = reading[7 + i];
        message_.tyre_load[i] = reading[11 + i];
      }
    } else {
      message_.acceleration = command[1];
    }
    producer.write(vehicle.channel, state.time, message_);
  }
}

}  // namespace isochron
