#pragma once
// MuJoCo behind Engine. One step is MuJoCo's second half (forces, solve, integrate) and then its first half (positions,
// contacts, velocities), so that what is read after a step belongs to the time after it, at no extra cost:
//
//     state(t) known ──► forces, solver, integrate ──► positions, contacts, velocities of t + dt known
//
// Bodies that are placed before each step (others' agents) would make it do the first half twice: after a step with
// such, contacts and what else is not motion are left to whoever asks for it.
//
// Every warning that MuJoCo would print and go on with is a Diverged here: a full contact buffer drops contacts, and
// the run would look fine.
//
// Time is our own count of nanoseconds; MuJoCo's seconds are set from it before each step.

#include <mujoco/mujoco.h>

#include "world/engine.hpp"
#include "world/mujoco_model.hpp"

namespace isochron::world {

class MujocoEngine final : public Engine {
 public:
  explicit MujocoEngine(std::shared_ptr<const MujocoModel> model);

  [[nodiscard]] std::string_view name() const override { return "mujoco"; }
  [[nodiscard]] const Catalog& catalog() const override { return model_->catalog; }
  [[nodiscard]] const std::vector<Geometry>& geometry() const override { return model_->geometry; }
  [[nodiscard]] SimSpan natural_step() const override;
  [[nodiscard]] SimTime time() const override { return time_; }
  Result<Done, Diverged> step(SimSpan dt) override;
  void reset() override;

  void set_control(std::uint32_t actuator, double value) override { data_->ctrl[actuator] = value; }
  [[nodiscard]] double control(std::uint32_t actuator) const override { return data_->ctrl[actuator]; }
  void set_wrench(std::uint32_t body, const Wrench& wrench) override;

  [[nodiscard]] Motion motion(std::uint32_t body) const override;
  [[nodiscard]] Vec3 acceleration(std::uint32_t body) const override;
  [[nodiscard]] Vec3 angular_acceleration(std::uint32_t body) const override;
  [[nodiscard]] Vec3 gravity() const override;
  [[nodiscard]] bool can_place(std::uint32_t body) const override {
    return model_->compiled->body_mocapid[body] >= 0 || Engine::can_place(body);
  }
  void set_motion(std::uint32_t body, const Motion& motion) override;
  [[nodiscard]] bool set_solid(std::uint32_t body, bool solid) override;
  [[nodiscard]] std::span<const double> positions() const override;
  [[nodiscard]] std::span<const double> velocities() const override;
  void set_joint(std::uint32_t joint, std::span<const double> position, std::span<const double> velocity) override;
  [[nodiscard]] std::span<const double> sensor(std::uint32_t sensor) const override;
  [[nodiscard]] std::span<const Contact> contacts() const override;

  [[nodiscard]] std::size_t state_size() const override;
  void save(std::span<double> state) const override;
  void restore(std::span<const double> state) override;
  [[nodiscard]] std::unique_ptr<Engine> clone() const override;

  /// The library's own view, for what Engine does not tell (mass matrix, Jacobians). Read only.
  [[nodiscard]] const mjModel& mujoco_model() const { return options_; }
  [[nodiscard]] const mjData& mujoco_data() const {
    refresh();
    return *data_;
  }

 private:
  struct DeleteData {
    void operator()(mjData* data) const { mj_deleteData(data); }
  };
  struct Part {
    double* at;
    std::size_t count;
  };
  void own_solidity(std::vector<int> contype, std::vector<int> conaffinity);
  void list_state();
  void find_inert();
  void forward();
  template <class F>
  void guarded(F&& f) const;
  void keep_quaternions() const;
  void find_motion() const;
  void refresh() const;
  void solve_contacts() const;
  [[nodiscard]] std::optional<std::string> trouble() const;
  [[nodiscard]] std::array<double, 6> spatial_acceleration(std::uint32_t body) const;

  std::shared_ptr<const MujocoModel> model_;  // shared with clones; see load_mujoco_model
  mjModel options_;                           // a shallow copy: the arrays are model_'s, the time step is our own
  std::vector<int> contype_, conaffinity_;    // options_' own once a body's solidity was changed; else empty
  std::unique_ptr<mjData, DeleteData> data_;
  SimTime time_;
  std::vector<double> mocap_velocities_;  // 6 for each mocap body: MuJoCo places these but knows no velocity for them
  std::vector<char> inert_;               // by mocap body: nothing in the model depends on where it is
  std::vector<Part> state_;               // what save() copies, in order
  std::vector<int> quaternions_;          // where they stand in qpos
  mutable std::vector<Quat> unscaled_;    // as they were before the positions were computed
  std::size_t state_size_ = 0;
  std::vector<double> before_;  // the state before the step under way
  /// What has been computed from the positions and velocities that were set: where bodies are and how they move, or
  /// all.
  enum class Known : std::uint8_t { nothing, motion, all };
  mutable Known known_ = Known::nothing;
  bool placed_ = false;                  // bodies were placed since the last step
  mutable bool contacts_known_ = false;  // contacts_ is of the present state
  mutable std::vector<Contact> contacts_;
  mutable std::vector<double> warm_start_;
  mutable std::string broken_;  // MuJoCo's last error, until a step has told it
};

}  // namespace isochron::world
