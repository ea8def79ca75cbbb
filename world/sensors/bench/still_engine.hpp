#pragma once
// A world for measuring sensors alone: a town of boxes, poles and a hilly mesh of 50,000 triangles, in which one robot
// stands. Nothing is computed between steps, so what is measured is seeing.

#include "world/engine.hpp"

namespace isochron::bench {

class StillEngine final : public world::Engine {
 public:
  StillEngine();
  void move_robot(const world::Vec3& to) { robot_.pose.position = to; }
  void set_time(SimTime time) { time_ = time; }
  static constexpr std::uint32_t robot_body = 1;

  std::string_view name() const override { return "still"; }
  const world::Catalog& catalog() const override { return catalog_; }
  const std::vector<world::Geometry>& geometry() const override { return geometry_; }
  SimSpan natural_step() const override { return std::chrono::milliseconds(1); }
  SimTime time() const override { return time_; }
  Result<Done, world::Diverged> step(SimSpan dt) override {
    time_ += dt;
    return done();
  }
  void reset() override { time_ = SimTime::zero(); }
  void set_control(std::uint32_t, double) override {}
  double control(std::uint32_t) const override { return 0; }
  void set_wrench(std::uint32_t, const world::Wrench&) override {}
  world::Motion motion(std::uint32_t body) const override { return body == robot_body ? robot_ : world::Motion{}; }
  world::Vec3 acceleration(std::uint32_t) const override { return {}; }
  void set_motion(std::uint32_t, const world::Motion& motion) override { robot_ = motion; }
  std::span<const double> positions() const override { return {}; }
  std::span<const double> velocities() const override { return {}; }
  void set_joint(std::uint32_t, std::span<const double>, std::span<const double>) override {}
  std::span<const double> sensor(std::uint32_t) const override { return {}; }
  std::span<const world::Contact> contacts() const override { return {}; }
  std::size_t state_size() const override { return 0; }
  void save(std::span<double>) const override {}
  void restore(std::span<const double>) override {}
  std::unique_ptr<world::Engine> clone() const override { return std::make_unique<StillEngine>(*this); }

 private:
  void add(const char* name, world::Shape shape, world::Vec3 size, world::Vec3 at, std::uint32_t body = 0);
  void add_hills();

  world::Catalog catalog_;
  std::vector<world::Geometry> geometry_;
  world::Motion robot_;
  SimTime time_;
};

}  // namespace isochron::bench
