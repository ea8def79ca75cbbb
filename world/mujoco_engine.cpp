#include "world/mujoco_engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "world/vectors.hpp"

namespace isochron::world {
namespace {

Vec3 vec3(const mjtNum* v) { return {v[0], v[1], v[2]}; }
Quat quat(const mjtNum* v) { return {v[0], v[1], v[2], v[3]}; }
void put(mjtNum* to, std::span<const double> from) { std::copy(from.begin(), from.end(), to); }

bool bad(const mjtNum* values, int count, int& at) {
  for (at = 0; at < count; ++at) {
    if (!std::isfinite(values[at])) return true;
  }
  return false;
}

}  // namespace

MujocoEngine::MujocoEngine(std::shared_ptr<const MujocoModel> model)
    : model_(std::move(model)), options_(*model_->compiled), data_(mj_makeData(&options_)) {
  if (!data_) throw InputError(Place{model_->file, 0, 0}, "not enough memory for the model's state");
  mocap_velocities_.resize(6 * static_cast<std::size_t>(options_.nmocap));
  contacts_.reserve(static_cast<std::size_t>(options_.nconmax));
  warm_start_.resize(static_cast<std::size_t>(options_.nv));
  list_state();
  before_.resize(state_size_);
  find_inert();
  reset();
  solve_contacts();  // while a lack of memory can still be mended
  if (!broken_.empty()) throw InputError(Place{model_->file, 0, 0}, broken_);
}

void MujocoEngine::list_state() {
  const mjModel& m = options_;
  const auto add = [this](double* at, int count) {
    if (count > 0) state_.push_back({at, static_cast<std::size_t>(count)});
  };
  add(data_->qpos, m.nq);  // first: save() puts the unscaled quaternions there
  add(data_->qvel, m.nv);
  add(data_->act, m.na);
  add(data_->qacc_warmstart, m.nv);
  add(data_->ctrl, m.nu);
  add(data_->xfrc_applied, 6 * m.nbody);
  add(data_->mocap_pos, 3 * m.nmocap);
  add(data_->mocap_quat, 4 * m.nmocap);
  add(data_->sensordata, m.nsensordata);  // those of accelerations cannot be found again from the rest
  add(mocap_velocities_.data(), 6 * m.nmocap);
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_type[j] == mjJNT_FREE) quaternions_.push_back(m.jnt_qposadr[j] + 3);
    if (m.jnt_type[j] == mjJNT_BALL) quaternions_.push_back(m.jnt_qposadr[j]);
  }
  unscaled_.resize(quaternions_.size());
  state_size_ = 2;  // time
  for (const Part& part : state_) state_size_ += part.count;
}

/// Moving an inert body (a car's wheel that is only seen) needs no new contacts or sensors, so it costs nothing.
void MujocoEngine::find_inert() {
  const mjModel& m = options_;
  std::vector<char> needed(static_cast<std::size_t>(m.nbody), m.neq > 0 ? 1 : 0);
  const auto need = [&](int body) { needed[static_cast<std::size_t>(body)] = 1; };
  for (int b = 1; b < m.nbody; ++b) need(m.body_parentid[b]);
  for (int g = 0; g < m.ngeom; ++g) {
    if (m.geom_contype[g] != 0 || m.geom_conaffinity[g] != 0) need(m.geom_bodyid[g]);
  }
  for (int s = 0; s < m.nsensor; ++s) {
    if (m.sensor_type[s] == mjSENS_RANGEFINDER) std::fill(needed.begin(), needed.end(), 1);
    const int id = m.sensor_objid[s];
    switch (m.sensor_objtype[s]) {
      case mjOBJ_BODY:
      case mjOBJ_XBODY:
        need(id);
        break;
      case mjOBJ_GEOM:
        need(m.geom_bodyid[id]);
        break;
      case mjOBJ_SITE:
        need(m.site_bodyid[id]);
        break;
      case mjOBJ_CAMERA:
        need(m.cam_bodyid[id]);
        break;
      default:
        break;
    }
  }
  inert_.assign(static_cast<std::size_t>(m.nmocap), 0);
  for (int b = 0; b < m.nbody; ++b) {
    if (m.body_mocapid[b] >= 0)
      inert_[static_cast<std::size_t>(m.body_mocapid[b])] = needed[static_cast<std::size_t>(b)] == 0;
  }
}

SimSpan MujocoEngine::natural_step() const { return SimSpan::from_seconds(model_->compiled->opt.timestep); }

Result<Done, Diverged> MujocoEngine::step(SimSpan dt) {
  ENSURE(dt > SimSpan::zero(), "a step must be positive");
  save(before_);
  options_.opt.timestep = dt.seconds();
  data_->time = time_.seconds();
  auto why = trouble();
  if (!why) {
    guarded([this] { forward(); });
    why = trouble();
  }
  if (why) {
    for (mjWarningStat& warning : data_->warning) warning = {};
    broken_.clear();
    restore(before_);
    return fail(Diverged{*why});
  }
  time_ += dt;
  contacts_known_ = false;
  return done();
}

/// MuJoCo ends the process on its errors; ours throws, and this is where that stops. The next step() tells.
template <class F>
void MujocoEngine::guarded(F&& f) const {
  const int stack = data_->pstack;
  try {
    f();
  } catch (const MujocoError& error) {
    data_->pstack = stack;
    broken_ = std::string("MuJoCo: ") + error.what();
    if (broken_.ends_with("Stack overflow")) broken_ += ": raise <size nstack>";
  }
}

void MujocoEngine::forward() {
  refresh();
  if (options_.opt.integrator == mjINT_RK4) {
    mj_step(&options_, data_.get());  // its halves cannot be taken apart
  } else {
    mj_step2(&options_, data_.get());
  }
  if (std::exchange(placed_, false) && options_.nsensor == 0) {  // sensors are read after every step
    mj_checkPos(&options_, data_.get());
    mj_checkVel(&options_, data_.get());
    known_ = Known::nothing;
    find_motion();
  } else {
    keep_quaternions();
    mj_step1(&options_, data_.get());
  }
}

/// MuJoCo scales the quaternions in qpos to length one whenever it computes positions. Doing that twice is not the same
/// as once (15 % of quaternions flip between two neighbours for ever), so what save() gives is the one before scaling.
void MujocoEngine::keep_quaternions() const {
  for (std::size_t i = 0; i < quaternions_.size(); ++i) unscaled_[i] = quat(data_->qpos + quaternions_[i]);
}

/// The beginning of mj_fwdPosition, and the velocities that follow from it.
void MujocoEngine::find_motion() const {
  if (known_ != Known::nothing) return;
  keep_quaternions();
  guarded([this] {
    mj_kinematics(&options_, data_.get());
    mj_comPos(&options_, data_.get());
    mj_comVel(&options_, data_.get());
  });
  known_ = Known::motion;
}

/// The rest of it, without doing its beginning again, and of mj_step1.
void MujocoEngine::refresh() const {
  if (known_ == Known::all) return;
  find_motion();
  guarded([this] {
    mjData* const d = data_.get();
    mj_camlight(&options_, d);
    mj_tendon(&options_, d);
    mj_crb(&options_, d);
    mj_factorM(&options_, d);
    mj_collision(&options_, d);
    mj_makeConstraint(&options_, d);
    mj_transmission(&options_, d);
    mj_projectConstraint(&options_, d);
    mj_sensorPos(&options_, d);
    mj_fwdVelocity(&options_, d);
    mj_sensorVel(&options_, d);
  });
  known_ = Known::all;
}

/// What MuJoCo warned of, as the user should read it.
std::optional<std::string> MujocoEngine::trouble() const {
  const mjModel& m = options_;
  int at = 0;
  const auto position = [&](int q) {
    const auto& joints = model_->catalog.joints;
    const auto after = std::find_if(joints.begin(), joints.end(),
                                    [q](const JointInfo& j) { return j.position_at > static_cast<std::uint32_t>(q); });
    const JointInfo& joint = *(after - 1);
    return "body " + model_->catalog.bodies[joint.body] + ", joint " + joint.name;
  };
  const auto body_of = [&](int dof) {
    return "body " + model_->catalog.bodies[static_cast<std::size_t>(m.dof_bodyid[dof])];
  };
  const auto warned = [&](mjtWarning w) {
    return data_->warning[w].number > 0 ? (at = data_->warning[w].lastinfo, true) : false;
  };

  if (!broken_.empty()) return broken_;
  if (warned(mjWARN_BADCTRL)) {
    return "actuator " + model_->catalog.actuators[static_cast<std::size_t>(at)].name + ": the command is not a number";
  }
  if (warned(mjWARN_BADQPOS) || (known_ != Known::all && bad(data_->qpos, m.nq, at))) {
    return position(at) + ": the position is not a number or beyond 1e10";
  }
  if (warned(mjWARN_BADQVEL) || (known_ != Known::all && bad(data_->qvel, m.nv, at))) {
    return body_of(at) + ": the velocity is not a number or beyond 1e10";
  }
  if (warned(mjWARN_BADQACC)) return body_of(at) + ": the acceleration is not a number or beyond 1e10";
  if (warned(mjWARN_INERTIA)) return body_of(at) + ": the inertia is too close to singular";
  if (warned(mjWARN_CONTACTFULL)) {
    return "more contacts than the model has room for (" + std::to_string(m.nconmax) + "): raise <size nconmax>";
  }
  if (warned(mjWARN_CNSTRFULL)) {
    return "more constraints than the model has room for (" + std::to_string(m.njmax) + "): raise <size njmax>";
  }
  return std::nullopt;
}

void MujocoEngine::reset() {
  if (model_->start_keyframe >= 0) {
    mj_resetDataKeyframe(&options_, data_.get(), model_->start_keyframe);
  } else {
    mj_resetData(&options_, data_.get());
  }
  std::fill(mocap_velocities_.begin(), mocap_velocities_.end(), 0.0);
  time_ = SimTime::zero();
  known_ = Known::nothing;
  contacts_known_ = false;
}

void MujocoEngine::set_wrench(std::uint32_t body, const Wrench& wrench) {
  put(data_->xfrc_applied + 6 * body, wrench.force);
  put(data_->xfrc_applied + 6 * body + 3, wrench.torque);
}

Motion MujocoEngine::motion(std::uint32_t body) const {
  const int mocap = options_.body_mocapid[body];
  if (mocap >= 0) {
    const double* v = mocap_velocities_.data() + 6 * mocap;
    return {{vec3(data_->mocap_pos + 3 * mocap), quat(data_->mocap_quat + 4 * mocap)}, vec3(v), vec3(v + 3)};
  }
  find_motion();
  // MuJoCo keeps velocities about the centre of mass of the whole tree that the body belongs to.
  const double* v = data_->cvel + 6 * body;
  const Vec3 position = vec3(data_->xpos + 3 * body);
  const Vec3 angular = vec3(v);
  const Vec3 from_centre = position - vec3(data_->subtree_com + 3 * options_.body_rootid[body]);
  return {{position, quat(data_->xquat + 4 * body)}, vec3(v + 3) + cross(angular, from_centre), angular};
}

/// [angular, linear] about the tree's centre of mass, from the accelerations that the last step found.
std::array<double, 6> MujocoEngine::spatial_acceleration(std::uint32_t body) const {
  refresh();
  std::array<double, 6> sum{};
  for (int b = static_cast<int>(body); b > 0; b = options_.body_parentid[b]) {
    for (int i = 0; i < options_.body_dofnum[b]; ++i) {
      const int dof = options_.body_dofadr[b] + i;
      for (int k = 0; k < 6; ++k) {
        sum[static_cast<std::size_t>(k)] +=
            data_->cdof[6 * dof + k] * data_->qacc_warmstart[dof] + data_->cdof_dot[6 * dof + k] * data_->qvel[dof];
      }
    }
  }
  return sum;
}

Vec3 MujocoEngine::acceleration(std::uint32_t body) const {
  const auto a = spatial_acceleration(body);
  const Motion now = motion(body);
  const Vec3 from_centre = now.pose.position - vec3(data_->subtree_com + 3 * options_.body_rootid[body]);
  return Vec3{a[3], a[4], a[5]} + cross({a[0], a[1], a[2]}, from_centre) + cross(now.angular, now.linear);
}

Vec3 MujocoEngine::angular_acceleration(std::uint32_t body) const {
  const auto a = spatial_acceleration(body);
  return {a[0], a[1], a[2]};
}

Vec3 MujocoEngine::gravity() const {
  return (options_.opt.disableflags & mjDSBL_GRAVITY) != 0 ? Vec3{} : vec3(options_.opt.gravity);
}

void MujocoEngine::set_motion(std::uint32_t body, const Motion& motion) {
  const mjModel& m = options_;
  contacts_known_ = false;
  if (const int mocap = m.body_mocapid[body]; mocap >= 0) {
    put(data_->mocap_pos + 3 * mocap, motion.pose.position);
    put(data_->mocap_quat + 4 * mocap, motion.pose.orientation);
    put(mocap_velocities_.data() + 6 * mocap, motion.linear);
    put(mocap_velocities_.data() + 6 * mocap + 3, motion.angular);
    if (inert_[static_cast<std::size_t>(mocap)] == 0) known_ = Known::nothing;
    return;
  }
  const int joint = m.body_jntadr[body];
  ENSURE(joint >= 0 && m.jnt_type[joint] == mjJNT_FREE, "only a free or a mocap body can be placed");
  put(data_->qpos + m.jnt_qposadr[joint], motion.pose.position);
  put(data_->qpos + m.jnt_qposadr[joint] + 3, motion.pose.orientation);
  put(data_->qvel + m.jnt_dofadr[joint], motion.linear);
  // A free joint's angular velocity is kept in the body's own frame.
  put(data_->qvel + m.jnt_dofadr[joint] + 3, rotate(conjugate(motion.pose.orientation), motion.angular));
  known_ = Known::nothing;
  placed_ = true;
}

std::span<const double> MujocoEngine::positions() const {
  find_motion();
  return {data_->qpos, static_cast<std::size_t>(options_.nq)};
}
std::span<const double> MujocoEngine::velocities() const {
  return {data_->qvel, static_cast<std::size_t>(options_.nv)};
}

void MujocoEngine::set_joint(std::uint32_t joint, std::span<const double> position, std::span<const double> velocity) {
  const JointInfo& info = model_->catalog.joints[joint];
  ENSURE(position.size() == info.positions && velocity.size() == info.velocities, "wrong number of joint values");
  put(data_->qpos + info.position_at, position);
  put(data_->qvel + info.velocity_at, velocity);
  known_ = Known::nothing;
  contacts_known_ = false;
}

std::span<const double> MujocoEngine::sensor(std::uint32_t sensor) const {
  refresh();
  return {data_->sensordata + options_.sensor_adr[sensor], static_cast<std::size_t>(options_.sensor_dim[sensor])};
}

/// Forces of the present state are solved for only when somebody asks. The solver's warm start is put back, so that
/// asking changes no bit of what follows.
void MujocoEngine::solve_contacts() const {
  refresh();
  std::copy_n(data_->qacc_warmstart, warm_start_.size(), warm_start_.data());
  guarded([this] {
    mj_fwdActuation(&options_, data_.get());
    mj_fwdAcceleration(&options_, data_.get());
    mj_fwdConstraint(&options_, data_.get());
  });
  std::copy_n(warm_start_.data(), warm_start_.size(), data_->qacc_warmstart);
}

std::span<const Contact> MujocoEngine::contacts() const {
  if (contacts_known_) return contacts_;
  solve_contacts();
  contacts_.clear();
  for (int i = 0; i < data_->ncon; ++i) {
    const mjContact& c = data_->contact[i];
    std::array<mjtNum, 6> force{};
    mj_contactForce(&options_, data_.get(), i, force.data());
    contacts_.push_back({static_cast<std::uint32_t>(c.geom1), static_cast<std::uint32_t>(c.geom2), vec3(c.pos),
                         vec3(c.frame), -c.dist, force[0]});
  }
  contacts_known_ = true;
  return contacts_;
}

std::size_t MujocoEngine::state_size() const { return state_size_; }

void MujocoEngine::save(std::span<double> state) const {
  ENSURE(state.size() == state_size_, "a state of another size");
  double* to = state.data();
  *to++ = static_cast<double>(time_.ns() / 1'000'000'000);  // two doubles hold any time exactly
  *to++ = static_cast<double>(time_.ns() % 1'000'000'000);
  for (const Part& part : state_) {
    std::copy_n(part.at, part.count, to);
    to += part.count;
  }
  if (known_ == Known::nothing) return;
  for (std::size_t i = 0; i < quaternions_.size(); ++i) put(state.data() + 2 + quaternions_[i], unscaled_[i]);
}

void MujocoEngine::restore(std::span<const double> state) {
  ENSURE(state.size() == state_size_, "a state of another size");
  const double* from = state.data();
  time_ = SimTime::from_ns(static_cast<std::int64_t>(from[0]) * 1'000'000'000 + static_cast<std::int64_t>(from[1]));
  from += 2;
  for (const Part& part : state_) {
    std::copy_n(from, part.count, part.at);
    from += part.count;
  }
  known_ = Known::nothing;
  contacts_known_ = false;
}

std::unique_ptr<Engine> MujocoEngine::clone() const {
  auto copy = std::make_unique<MujocoEngine>(model_);
  std::vector<double> state(state_size_);
  save(state);
  copy->restore(state);
  copy->options_.opt = options_.opt;
  if (!contype_.empty()) copy->own_solidity(contype_, conaffinity_);
  return copy;
}

void MujocoEngine::own_solidity(std::vector<int> contype, std::vector<int> conaffinity) {
  contype_ = std::move(contype);
  conaffinity_ = std::move(conaffinity);
  options_.geom_contype = contype_.data();
  options_.geom_conaffinity = conaffinity_.data();
  known_ = Known::nothing;
}

bool MujocoEngine::set_solid(std::uint32_t body, bool solid) {
  const mjModel& m = *model_->compiled;
  if (contype_.empty()) {
    own_solidity({m.geom_contype, m.geom_contype + m.ngeom}, {m.geom_conaffinity, m.geom_conaffinity + m.ngeom});
  }
  for (int g = 0; g < m.ngeom; ++g) {
    if (m.geom_bodyid[g] != static_cast<int>(body)) continue;
    const auto at = static_cast<std::size_t>(g);
    contype_[at] = solid ? m.geom_contype[g] : 0;
    conaffinity_[at] = solid ? m.geom_conaffinity[g] : 0;
  }
  known_ = Known::nothing;
  return true;
}

}  // namespace isochron::world
