#pragma once
// ODE behind Engine, so that results do not hang on one engine: free bodies, mocap bodies, motors on free joints, and
// contacts of boxes, spheres, capsules, cylinders, planes and meshes. The model file is read by MuJoCo's importer and
// built again out of ODE's bodies.
//
// ODE keeps more than it shows, so three of its parts are replaced to make a step a function of the state alone:
//   * its spaces order pairs by the history of motion: pairs are found here, by a sweep along x, and sorted;
//   * its quick step shuffles rows with one random seed for the whole process: the direct step is used, which does not;
//   * setting an orientation rounds it again: restore() writes quaternion and matrix as they were.
//
// Cost:     no allocation in a step, as long as there are no more contacts than in some step before it.
// Fails:    InputError for joints other than free ones, sensors, constraints and other actuators than motors.

#include <ode/ode.h>

#include "world/engine.hpp"
#include "world/mujoco_model.hpp"

namespace isochron::world {

class OdeEngine final : public Engine {
 public:
  explicit OdeEngine(std::shared_ptr<const MujocoModel> model);
  ~OdeEngine() override;
  OdeEngine(const OdeEngine&) = delete;
  OdeEngine& operator=(const OdeEngine&) = delete;

  [[nodiscard]] std::string_view name() const override { return "ode"; }
  [[nodiscard]] const Catalog& catalog() const override { return model_->catalog; }
  [[nodiscard]] const std::vector<Geometry>& geometry() const override { return model_->geometry; }
  [[nodiscard]] SimSpan natural_step() const override;
  [[nodiscard]] SimTime time() const override { return time_; }
  Result<Done, Diverged> step(SimSpan dt) override;
  void reset() override;

  void set_control(std::uint32_t actuator, double value) override { controls_[actuator] = value; }
  [[nodiscard]] double control(std::uint32_t actuator) const override { return controls_[actuator]; }
  void set_wrench(std::uint32_t body, const Wrench& wrench) override { bodies_[body].wrench = wrench; }

  [[nodiscard]] Motion motion(std::uint32_t body) const override;
  [[nodiscard]] Vec3 acceleration(std::uint32_t body) const override { return bodies_[body].acceleration; }
  [[nodiscard]] Vec3 angular_acceleration(std::uint32_t body) const override {
    return bodies_[body].angular_acceleration;
  }
  [[nodiscard]] Vec3 gravity() const override;
  [[nodiscard]] bool can_place(std::uint32_t body) const override {
    return model_->compiled->body_mocapid[body] >= 0 || Engine::can_place(body);
  }
  void set_motion(std::uint32_t body, const Motion& motion) override;
  [[nodiscard]] std::span<const double> positions() const override { return positions_; }
  [[nodiscard]] std::span<const double> velocities() const override { return velocities_; }
  void set_joint(std::uint32_t joint, std::span<const double> position, std::span<const double> velocity) override;
  [[nodiscard]] std::span<const double> sensor(std::uint32_t) const override { return {}; }
  [[nodiscard]] std::span<const Contact> contacts() const override;

  [[nodiscard]] std::size_t state_size() const override;
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;
  [[nodiscard]] std::unique_ptr<Engine> clone() const override;

 private:
  struct Body {
    dBodyID id = nullptr;  // null: fixed or mocap
    int joint = -1;        // its free joint
    Pose centre;           // ODE's frame (centre of mass, principal axes) in the model's body frame
    Motion placed;         // of a fixed or mocap body
    Wrench wrench;
    Vec3 acceleration{};
    Vec3 angular_acceleration{};
  };
  struct Geom {
    dGeomID id = nullptr;
    std::uint32_t model_geom = 0;
  };
  struct Bounds {
    std::uint32_t geom;
    double low[3];
    double high[3];
  };
  void build_body(std::uint32_t body);
  void build_geom(std::uint32_t geom);
  [[nodiscard]] dGeomID create_geom(const Geometry& geometry);
  void find_contacts() const;
  void collide(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool may_collide(std::uint32_t a, std::uint32_t b) const;
  void advance(double dt, std::vector<dJointFeedback>* feedback);
  void apply_forces();
  void place_geoms(std::uint32_t body);
  void mirror_joint(std::uint32_t body);
  [[nodiscard]] std::optional<std::string> trouble() const;

  std::shared_ptr<const MujocoModel> model_;
  dWorldID world_ = nullptr;
  dThreadingImplementationID threading_ = nullptr;
  dJointGroupID joints_ = nullptr;
  std::vector<Body> bodies_;
  std::vector<Geom> geoms_;
  std::vector<dTriMeshDataID> meshes_;
  std::vector<double> controls_, positions_, velocities_, before_;
  SimTime time_;
  SimSpan last_step_;
  mutable std::vector<Bounds> bounds_;
  mutable std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  mutable std::vector<dContact> found_;  // side1/side2 of its geom are our geom indices
  mutable std::vector<Contact> contacts_;
  mutable std::vector<double> tried_from_;
  mutable std::vector<dJointFeedback> feedback_;
  mutable bool contacts_known_ = false;
};

}  // namespace isochron::world
