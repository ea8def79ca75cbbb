#pragma once
// A world whose bodies move as the test says: position, velocity and acceleration are given, not computed. It stands in
// for a dynamics engine where a test must know the truth exactly.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "world/engine.hpp"

namespace isochron::world {

class ScriptedEngine final : public Engine {
 public:
  struct State {
    Motion motion;
    Vec3 acceleration{};
    Vec3 angular_acceleration{};
  };
  using Script = std::function<State(double seconds)>;

  ScriptedEngine() {
    add_body("world", [](double) { return State{}; });
  }

  std::uint32_t add_body(const std::string& name, Script script) {
    catalog_.bodies.push_back(name);
    catalog_.masses.push_back(1);
    scripts_.push_back(std::move(script));
    return static_cast<std::uint32_t>(catalog_.bodies.size() - 1);
  }
  std::uint32_t add_fixed_body(const std::string& name, const Vec3& position) {
    return add_body(name, [position](double) { return State{{{position, {1, 0, 0, 0}}, {}, {}}, {}, {}}; });
  }
  std::uint32_t add_shape(const std::string& name, std::uint32_t body, Shape shape, Vec3 size, Vec3 at = {},
                          std::array<float, 4> rgba = {0.5F, 0.5F, 0.5F, 1}) {
    Geometry geometry;
    geometry.name = name, geometry.body = body, geometry.shape = shape, geometry.size = size;
    geometry.local.position = at, geometry.rgba = rgba;
    geometry_.push_back(geometry);
    return static_cast<std::uint32_t>(geometry_.size() - 1);
  }
  void add_joint(const std::string& name, std::uint32_t positions = 1) {
    JointInfo joint;
    joint.name = name, joint.positions = positions, joint.velocities = positions == 7 ? 6 : positions;
    joint.position_at = static_cast<std::uint32_t>(positions_.size());
    joint.velocity_at = static_cast<std::uint32_t>(velocities_.size());
    catalog_.joints.push_back(joint);
    positions_.resize(positions_.size() + joint.positions);
    velocities_.resize(velocities_.size() + joint.velocities);
  }
  Catalog& edit_catalog() { return catalog_; }
  std::vector<Geometry>& edit_geometry() { return geometry_; }
  std::vector<Contact>& edit_contacts() { return contacts_; }
  std::vector<double>& edit_positions() { return positions_; }
  std::vector<double>& edit_velocities() { return velocities_; }
  std::vector<double>& edit_sensor() { return sensor_; }
  void set_gravity(const Vec3& gravity) { gravity_ = gravity; }
  void set_time(SimTime time) { time_ = time; }

  std::string_view name() const override { return "scripted"; }
  const Catalog& catalog() const override { return catalog_; }
  const std::vector<Geometry>& geometry() const override { return geometry_; }
  SimSpan natural_step() const override { return std::chrono::milliseconds(1); }
  SimTime time() const override { return time_; }
  Result<Done, Diverged> step(SimSpan dt) override {
    time_ += dt;
    return done();
  }
  void reset() override { time_ = SimTime::zero(); }
  void set_control(std::uint32_t actuator, double value) override {
    if (controls_.size() <= actuator) controls_.resize(actuator + 1);
    controls_[actuator] = value;
  }
  double control(std::uint32_t actuator) const override { return controls_[actuator]; }
  void set_wrench(std::uint32_t, const Wrench&) override {}
  Motion motion(std::uint32_t body) const override { return scripts_[body](time_.seconds()).motion; }
  Vec3 acceleration(std::uint32_t body) const override { return scripts_[body](time_.seconds()).acceleration; }
  Vec3 angular_acceleration(std::uint32_t body) const override {
    return scripts_[body](time_.seconds()).angular_acceleration;
  }
  Vec3 gravity() const override { return gravity_; }
  void set_motion(std::uint32_t, const Motion&) override {}
  std::span<const double> positions() const override { return positions_; }
  std::span<const double> velocities() const override { return velocities_; }
  void set_joint(std::uint32_t, std::span<const double>, std::span<const double>) override {}
  std::span<const double> sensor(std::uint32_t) const override { return sensor_; }
  std::span<const Contact> contacts() const override { return contacts_; }
  std::size_t state_size() const override { return 1; }
  void save(std::span<double> state) const override { state[0] = static_cast<double>(time_.ns()); }
  void restore(std::span<const double> state) override {
    time_ = SimTime::from_ns(static_cast<std::int64_t>(state[0]));
  }
  std::unique_ptr<Engine> clone() const override { return std::make_unique<ScriptedEngine>(*this); }

 private:
  Catalog catalog_;
  std::vector<Geometry> geometry_;
  std::vector<Script> scripts_;
  std::vector<Contact> contacts_;
  std::vector<double> positions_, velocities_, controls_, sensor_;
  Vec3 gravity_{0, 0, -9.81};
  SimTime time_;
};

}  // namespace isochron::world
