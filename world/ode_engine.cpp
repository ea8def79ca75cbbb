#include "world/ode_engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include "world/ode_model.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

constexpr std::size_t numbers_per_body = 3 + 4 + 12 + 3 + 3;  // position, quaternion, matrix, velocities
constexpr std::size_t numbers_held = 6 + 6 + 13;              // wrench, accelerations, placed motion
constexpr int contacts_per_pair = 8;

Vec3 vec3(const dReal* v) { return {v[0], v[1], v[2]}; }
Quat quat(const dReal* v) { return {v[0], v[1], v[2], v[3]}; }
Quat unit(const Quat& q) {
  const double l = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return {q[0] / l, q[1] / l, q[2] / l, q[3] / l};
}

/// Worlds are made and unmade one at a time: ODE keeps global lists of what it can collide.
std::mutex& ode_globals() {
  static std::mutex mutex;
  return mutex;
}
struct OdeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// ODE ends the process on its errors; ours come back as Diverged. Its messages ("LCP internal error, s <= 0") are of a
/// solver that goes on with a looser answer.
[[noreturn]] void throw_error(int, const char* text, va_list values) {
  std::array<char, 300> line{};
  std::vsnprintf(line.data(), line.size(), text, values);
  throw OdeError(line.data());
}
void ignore_message(int, const char*, va_list) {}

void adopt_ode() {
  static std::once_flag once;
  std::call_once(once, [] {
    dInitODE2(0);
    dSetErrorHandler(throw_error);
    dSetDebugHandler(throw_error);
    dSetMessageHandler(ignore_message);
  });
  // Mesh collisions use a cache for each thread.
  thread_local const bool ready = dAllocateODEDataForThread(dAllocateMaskAll) != 0;
  ENSURE(ready, "ODE has no memory for this thread");
}

void write_motion(double*& to, const Motion& m) {
  to = std::copy(m.pose.position.begin(), m.pose.position.end(), to);
  to = std::copy(m.pose.orientation.begin(), m.pose.orientation.end(), to);
  to = std::copy(m.linear.begin(), m.linear.end(), to);
  to = std::copy(m.angular.begin(), m.angular.end(), to);
}
template <std::size_t n>
void take(const double*& from, std::array<double, n>& into) {
  std::copy(from, from + n, into.begin());
  from += n;
}

}  // namespace

OdeEngine::OdeEngine(std::shared_ptr<const MujocoModel> model) : model_(std::move(model)) {
  demand_ode_can(*model_);
  adopt_ode();
  const std::lock_guard lock(ode_globals());
  const mjModel& m = *model_->compiled;
  world_ = dWorldCreate();
  threading_ = dThreadingAllocateSelfThreadedImplementation();  // the default one is shared by all worlds
  dWorldSetStepThreadingImplementation(world_, dThreadingImplementationGetFunctions(threading_), threading_);
  dWorldSetERP(world_, 0.2);
  dWorldSetCFM(world_, 1e-8);
  dWorldSetContactSurfaceLayer(world_, 1e-4);
  const Vec3 g = gravity();
  dWorldSetGravity(world_, g[0], g[1], g[2]);
  joints_ = dJointGroupCreate(0);
  bodies_.resize(static_cast<std::size_t>(m.nbody));
  controls_.resize(static_cast<std::size_t>(m.nu));
  positions_.resize(static_cast<std::size_t>(m.nq));
  velocities_.resize(static_cast<std::size_t>(m.nv));
  for (std::uint32_t b = 1; b < bodies_.size(); ++b) build_body(b);
  for (std::uint32_t g_index = 0; g_index < model_->geometry.size(); ++g_index) build_geom(g_index);
  last_step_ = natural_step();
  before_.resize(state_size());
  tried_from_.resize(state_size());
  reset();
}

OdeEngine::~OdeEngine() {
  const std::lock_guard lock(ode_globals());
  dJointGroupDestroy(joints_);
  for (const Geom& geom : geoms_) dGeomDestroy(geom.id);
  for (const dTriMeshDataID mesh : meshes_) dGeomTriMeshDataDestroy(mesh);
  dWorldDestroy(world_);
  dThreadingFreeImplementation(threading_);
}

void OdeEngine::build_body(std::uint32_t b) {
  const mjModel& m = *model_->compiled;
  if (m.body_jntnum[b] == 0) return;
  Body& body = bodies_[b];
  body.joint = m.body_jntadr[b];
  body.centre = {vec3(m.body_ipos + 3 * b), quat(m.body_iquat + 4 * b)};
  body.id = dBodyCreate(world_);
  const mjtNum* inertia = m.body_inertia + 3 * b;
  dMass mass;
  dMassSetParameters(&mass, m.body_mass[b], 0, 0, 0, inertia[0], inertia[1], inertia[2], 0, 0, 0);
  dBodySetMass(body.id, &mass);
  dBodySetGyroscopicMode(body.id, 1);
}

dGeomID OdeEngine::create_geom(const Geometry& g) {
  switch (g.shape) {
    case Shape::box:
      return dCreateBox(nullptr, 2 * g.size[0], 2 * g.size[1], 2 * g.size[2]);
    case Shape::sphere:
      return dCreateSphere(nullptr, g.size[0]);
    case Shape::capsule:
      return dCreateCapsule(nullptr, g.size[0], 2 * g.size[1]);
    case Shape::cylinder:
      return dCreateCylinder(nullptr, g.size[0], 2 * g.size[1]);
    case Shape::plane:
      return dCreatePlane(nullptr, 0, 0, 1, 0);
    case Shape::mesh: {
      const dTriMeshDataID data = dGeomTriMeshDataCreate();
      dGeomTriMeshDataBuildSingle(data, g.vertices.data(), sizeof g.vertices[0], static_cast<int>(g.vertices.size()),
                                  g.triangles.data(), static_cast<int>(3 * g.triangles.size()), sizeof g.triangles[0]);
      meshes_.push_back(data);
      return dCreateTriMesh(nullptr, data, nullptr, nullptr, nullptr);
    }
    case Shape::ellipsoid:
      break;
  }
  return nullptr;
}

void OdeEngine::build_geom(std::uint32_t index) {
  const Geometry& g = model_->geometry[index];
  if (!g.collides) return;
  const dGeomID id = create_geom(g);
  ENSURE(id != nullptr, "demand_ode_can let a shape through");
  geoms_.push_back({id, index});
  const Body& body = bodies_[g.body];
  if (body.id == nullptr) return;  // placed with its body by reset()
  dGeomSetBody(id, body.id);
  const Quat back = conjugate(body.centre.orientation);
  const Vec3 offset = rotate(back, g.local.position - body.centre.position);
  const Quat turn = multiply(back, g.local.orientation);
  dGeomSetOffsetPosition(id, offset[0], offset[1], offset[2]);
  dGeomSetOffsetQuaternion(id, turn.data());
}

SimSpan OdeEngine::natural_step() const { return SimSpan::from_seconds(model_->compiled->opt.timestep); }

Vec3 OdeEngine::gravity() const {
  const mjOption& o = model_->compiled->opt;
  return (o.disableflags & mjDSBL_GRAVITY) != 0 ? Vec3{} : vec3(o.gravity);
}

void OdeEngine::reset() {
  const mjModel& m = *model_->compiled;
  const int key = model_->start_keyframe;
  std::fill(controls_.begin(), controls_.end(), 0.0);
  for (std::uint32_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];
    body.wrench = {};
    body.acceleration = body.angular_acceleration = {};
    if (body.id != nullptr) {
      const mjtNum* q = (key >= 0 ? m.key_qpos + key * m.nq : m.qpos0) + m.jnt_qposadr[body.joint];
      Motion motion{{vec3(q), unit(quat(q + 3))}, {}, {}};
      if (key >= 0) {
        const mjtNum* v = m.key_qvel + key * m.nv + m.jnt_dofadr[body.joint];
        motion.linear = vec3(v);
        motion.angular = rotate(motion.pose.orientation, vec3(v + 3));
      }
      set_motion(b, motion);
    } else {
      const Pose local{vec3(m.body_pos + 3 * b), quat(m.body_quat + 4 * b)};
      body.placed = {
          b == 0 ? Pose{} : compose(bodies_[static_cast<std::size_t>(m.body_parentid[b])].placed.pose, local), {}, {}};
      place_geoms(b);
    }
  }
  time_ = SimTime::zero();
}

/// Moves the geoms of a body that ODE does not move.
void OdeEngine::place_geoms(std::uint32_t b) {
  for (const Geom& geom : geoms_) {
    const Geometry& g = model_->geometry[geom.model_geom];
    if (g.body != b) continue;
    const Pose pose = compose(bodies_[b].placed.pose, g.local);
    if (g.shape == Shape::plane) {
      const Vec3 normal = rotate(pose.orientation, {0, 0, 1});
      dGeomPlaneSetParams(geom.id, normal[0], normal[1], normal[2], dot(normal, pose.position));
    } else {
      dGeomSetPosition(geom.id, pose.position[0], pose.position[1], pose.position[2]);
      dGeomSetQuaternion(geom.id, pose.orientation.data());
    }
  }
}

Motion OdeEngine::motion(std::uint32_t b) const {
  const Body& body = bodies_[b];
  if (body.id == nullptr) return body.placed;
  const Quat q = multiply(quat(dBodyGetQuaternion(body.id)), conjugate(body.centre.orientation));
  const Vec3 arm = rotate(q, body.centre.position);
  const Vec3 angular = vec3(dBodyGetAngularVel(body.id));
  return {{vec3(dBodyGetPosition(body.id)) - arm, q}, vec3(dBodyGetLinearVel(body.id)) - cross(angular, arm), angular};
}

void OdeEngine::set_motion(std::uint32_t b, const Motion& motion) {
  Body& body = bodies_[b];
  contacts_known_ = false;
  if (body.id == nullptr) {
    ENSURE(model_->compiled->body_mocapid[b] >= 0 || body.placed.pose.position == motion.pose.position,
           "only a free or a mocap body can be placed");
    body.placed = motion;
    place_geoms(b);
    return;
  }
  const Pose centre = compose(motion.pose, body.centre);
  const Vec3 linear = motion.linear + cross(motion.angular, centre.position - motion.pose.position);
  dBodySetPosition(body.id, centre.position[0], centre.position[1], centre.position[2]);
  dBodySetQuaternion(body.id, centre.orientation.data());
  dBodySetLinearVel(body.id, linear[0], linear[1], linear[2]);
  dBodySetAngularVel(body.id, motion.angular[0], motion.angular[1], motion.angular[2]);
  mirror_joint(b);
}

void OdeEngine::set_joint(std::uint32_t joint, std::span<const double> position, std::span<const double> velocity) {
  ENSURE(position.size() == 7 && velocity.size() == 6, "wrong number of joint values");
  const Quat q{position[3], position[4], position[5], position[6]};
  set_motion(model_->catalog.joints[joint].body, {{{position[0], position[1], position[2]}, q},
                                                  {velocity[0], velocity[1], velocity[2]},
                                                  rotate(q, {velocity[3], velocity[4], velocity[5]})});
}

/// positions() and velocities() as the model lays them out: the angular velocity of a free joint in its own frame.
void OdeEngine::mirror_joint(std::uint32_t b) {
  const mjModel& m = *model_->compiled;
  if (bodies_[b].id == nullptr) return;
  const Motion now = motion(b);
  double* q = positions_.data() + m.jnt_qposadr[bodies_[b].joint];
  double* v = velocities_.data() + m.jnt_dofadr[bodies_[b].joint];
  q = std::copy(now.pose.position.begin(), now.pose.position.end(), q);
  std::copy(now.pose.orientation.begin(), now.pose.orientation.end(), q);
  v = std::copy(now.linear.begin(), now.linear.end(), v);
  const Vec3 own = rotate(conjugate(now.pose.orientation), now.angular);
  std::copy(own.begin(), own.end(), v);
}

void OdeEngine::apply_forces() {
  const mjModel& m = *model_->compiled;
  for (const Body& body : bodies_) {
    if (body.id == nullptr) continue;
    const auto& [force, torque] = body.wrench;
    dBodyAddForce(body.id, force[0], force[1], force[2]);
    dBodyAddTorque(body.id, torque[0], torque[1], torque[2]);
  }
  for (int i = 0; i < m.nu; ++i) {
    double value = controls_[static_cast<std::size_t>(i)];
    if (m.actuator_ctrllimited[i] != 0) {
      value = std::clamp(value, m.actuator_ctrlrange[2 * i], m.actuator_ctrlrange[2 * i + 1]);
    }
    value *= m.actuator_gainprm[mjNGAIN * i];
    const auto b = static_cast<std::uint32_t>(m.jnt_bodyid[m.actuator_trnid[2 * i]]);
    const mjtNum* gear = m.actuator_gear + 6 * i;
    // A force on a free joint acts at the frame's origin, a torque in the body's frame: as MuJoCo has it.
    const Motion now = motion(b);
    const Vec3 at = now.pose.position;
    const Vec3 torque = rotate(now.pose.orientation, value * vec3(gear + 3));
    dBodyAddForceAtPos(bodies_[b].id, value * gear[0], value * gear[1], value * gear[2], at[0], at[1], at[2]);
    dBodyAddTorque(bodies_[b].id, torque[0], torque[1], torque[2]);
  }
}

Result<Done, Diverged> OdeEngine::step(SimSpan dt) {
  ENSURE(dt > SimSpan::zero(), "a step must be positive");
  adopt_ode();
  if (const auto why = trouble()) return fail(Diverged{*why});
  save(before_);
  std::optional<std::string> why;
  try {
    advance(dt.seconds(), nullptr);
    why = trouble();
  } catch (const OdeError& error) {
    why = std::string("ODE: ") + error.what();
  }
  if (why) {
    restore(before_);
    return fail(Diverged{*why});
  }
  time_ += dt;
  last_step_ = dt;
  for (std::uint32_t b = 1; b < bodies_.size(); ++b) mirror_joint(b);
  return done();
}

std::optional<std::string> OdeEngine::trouble() const {
  for (std::size_t i = 0; i < controls_.size(); ++i) {
    if (!std::isfinite(controls_[i])) {
      return "actuator " + model_->catalog.actuators[i].name + ": the command is not a number";
    }
  }
  constexpr double too_far = 1e10;  // as in MuJoCo
  const auto wild = [](const Vec3& v) { return !finite(v) || dot(v, v) > too_far * too_far; };
  for (std::uint32_t b = 1; b < bodies_.size(); ++b) {
    const Motion now = motion(b);
    const auto& name = model_->catalog.bodies[b];
    if (wild(now.pose.position)) return "body " + name + ": the position is not a number or beyond 1e10";
    if (wild(now.linear) || wild(now.angular)) return "body " + name + ": the velocity is not a number or beyond 1e10";
  }
  return std::nullopt;
}

void OdeEngine::advance(double dt, std::vector<dJointFeedback>* feedback) {
  find_contacts();
  dJointGroupEmpty(joints_);
  if (feedback != nullptr) feedback->resize(found_.size());
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const dJointID joint = dJointCreateContact(world_, joints_, &found_[i]);
    dJointAttach(joint, dGeomGetBody(found_[i].geom.g1), dGeomGetBody(found_[i].geom.g2));
    if (feedback != nullptr) dJointSetFeedback(joint, &(*feedback)[i]);
  }
  apply_forces();
  for (Body& body : bodies_) {
    if (body.id == nullptr) continue;
    body.acceleration = vec3(dBodyGetLinearVel(body.id));
    body.angular_acceleration = vec3(dBodyGetAngularVel(body.id));
  }
  ENSURE(dWorldStep(world_, dt) != 0, "ODE has no memory for a step");
  for (Body& body : bodies_) {
    if (body.id == nullptr) continue;
    const Vec3 alpha = (1 / dt) * (vec3(dBodyGetAngularVel(body.id)) - body.angular_acceleration);
    const Vec3 at_centre = (1 / dt) * (vec3(dBodyGetLinearVel(body.id)) - body.acceleration);
    const Vec3 omega = vec3(dBodyGetAngularVel(body.id));
    const Quat q = multiply(quat(dBodyGetQuaternion(body.id)), conjugate(body.centre.orientation));
    const Vec3 arm = -1.0 * rotate(q, body.centre.position);
    body.angular_acceleration = alpha;
    body.acceleration = at_centre + cross(alpha, arm) + cross(omega, cross(omega, arm));
  }
  contacts_known_ = false;
}

bool OdeEngine::may_collide(std::uint32_t a, std::uint32_t b) const {
  const mjModel& m = *model_->compiled;
  const auto ga = geoms_[a].model_geom, gb = geoms_[b].model_geom;
  const auto body_a = model_->geometry[ga].body, body_b = model_->geometry[gb].body;
  if (body_a == body_b || (bodies_[body_a].id == nullptr && bodies_[body_b].id == nullptr)) return false;
  return (m.geom_contype[ga] & m.geom_conaffinity[gb]) != 0 || (m.geom_contype[gb] & m.geom_conaffinity[ga]) != 0;
}

/// Sweep along x over bounding boxes; the pairs sorted by number, so that the order says nothing of the past.
void OdeEngine::find_contacts() const {
  bounds_.clear();
  pairs_.clear();
  found_.clear();
  for (std::uint32_t i = 0; i < geoms_.size(); ++i) {
    dReal box[6];
    dGeomGetAABB(geoms_[i].id, box);
    bounds_.push_back({i, {box[0], box[2], box[4]}, {box[1], box[3], box[5]}});
  }
  std::sort(bounds_.begin(), bounds_.end(), [](const Bounds& a, const Bounds& b) {
    return a.low[0] != b.low[0] ? a.low[0] < b.low[0] : a.geom < b.geom;
  });
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    for (std::size_t j = i + 1; j < bounds_.size() && bounds_[j].low[0] <= bounds_[i].high[0]; ++j) {
      const Bounds &a = bounds_[i], &b = bounds_[j];
      if (a.low[1] > b.high[1] || b.low[1] > a.high[1] || a.low[2] > b.high[2] || b.low[2] > a.high[2]) continue;
      if (may_collide(a.geom, b.geom)) pairs_.emplace_back(std::min(a.geom, b.geom), std::max(a.geom, b.geom));
    }
  }
  std::sort(pairs_.begin(), pairs_.end());
  for (const auto& [a, b] : pairs_) collide(a, b);
}

void OdeEngine::collide(std::uint32_t a, std::uint32_t b) const {
  dContactGeom points[contacts_per_pair];
  const int n = dCollide(geoms_[a].id, geoms_[b].id, contacts_per_pair, points, sizeof points[0]);
  for (int i = 0; i < n; ++i) {
    dContact contact{};
    contact.geom = points[i];
    contact.geom.side1 = static_cast<int>(a);
    contact.geom.side2 = static_cast<int>(b);
    contact.surface.mode = dContactApprox1 | dContactSoftERP | dContactSoftCFM;
    contact.surface.mu =
        std::max(model_->geometry[geoms_[a].model_geom].friction, model_->geometry[geoms_[b].model_geom].friction);
    contact.surface.soft_erp = 0.2;
    contact.surface.soft_cfm = 1e-6;
    found_.push_back(contact);
  }
}

/// The forces are those of a step tried out from here; the state is put back bit for bit.
std::span<const Contact> OdeEngine::contacts() const {
  if (contacts_known_) return contacts_;
  auto& self = const_cast<OdeEngine&>(*this);  // restores what it changes
  adopt_ode();
  save(tried_from_);
  self.advance(last_step_.seconds(), &feedback_);
  self.restore(tried_from_);
  contacts_.clear();
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const dContactGeom& g = found_[i].geom;
    // ODE's normal points into the first shape; ours from the first to the second.
    const Vec3 normal = -1.0 * vec3(g.normal);
    // A joint's first force is on its first body, and ODE swaps the two when the first is the world.
    const double along = dot(vec3(feedback_[i].f1), normal);
    const double force = dGeomGetBody(g.g1) != nullptr ? -along : along;
    contacts_.push_back({geoms_[static_cast<std::size_t>(g.side1)].model_geom,
                         geoms_[static_cast<std::size_t>(g.side2)].model_geom, vec3(g.pos), normal, g.depth, force});
  }
  contacts_known_ = true;
  return contacts_;
}

std::size_t OdeEngine::state_size() const {
  return 3 + controls_.size() + bodies_.size() * (numbers_per_body + numbers_held);
}

void OdeEngine::save(std::span<double> state) const {
  ENSURE(state.size() == state_size(), "a state of another size");
  double* to = state.data();
  *to++ = static_cast<double>(time_.ns() / 1'000'000'000);
  *to++ = static_cast<double>(time_.ns() % 1'000'000'000);
  *to++ = static_cast<double>(last_step_.ns());
  to = std::copy(controls_.begin(), controls_.end(), to);
  for (const Body& body : bodies_) {
    for (const Vec3* v : {&body.wrench.force, &body.wrench.torque, &body.acceleration, &body.angular_acceleration}) {
      to = std::copy(v->begin(), v->end(), to);
    }
    write_motion(to, body.placed);
    if (body.id == nullptr) {
      to = std::fill_n(to, numbers_per_body, 0.0);
      continue;
    }
    to = std::copy_n(dBodyGetPosition(body.id), 3, to);
    to = std::copy_n(dBodyGetQuaternion(body.id), 4, to);
    to = std::copy_n(dBodyGetRotation(body.id), 12, to);
    to = std::copy_n(dBodyGetLinearVel(body.id), 3, to);
    to = std::copy_n(dBodyGetAngularVel(body.id), 3, to);
  }
}

void OdeEngine::restore(std::span<const double> state) {
  ENSURE(state.size() == state_size(), "a state of another size");
  const double* from = state.data();
  time_ = SimTime::from_ns(static_cast<std::int64_t>(from[0]) * 1'000'000'000 + static_cast<std::int64_t>(from[1]));
  last_step_ = SimSpan::from_ns(static_cast<std::int64_t>(from[2]));
  from += 3;
  std::copy_n(from, controls_.size(), controls_.begin());
  from += controls_.size();
  for (std::uint32_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];
    for (Vec3* v : {&body.wrench.force, &body.wrench.torque, &body.acceleration, &body.angular_acceleration}) {
      take(from, *v);
    }
    const Motion was = body.placed;
    take(from, body.placed.pose.position);
    take(from, body.placed.pose.orientation);
    take(from, body.placed.linear);
    take(from, body.placed.angular);
    const double* p = from;
    from += numbers_per_body;
    if (body.id == nullptr) {
      if (was.pose.position != body.placed.pose.position || was.pose.orientation != body.placed.pose.orientation) {
        place_geoms(b);
      }
      continue;
    }
    // dBodySetQuaternion would normalise once more and change bits: the body's own memory is written instead, and
    // setting the position tells its geoms that it moved.
    std::copy_n(p + 3, 4, const_cast<dReal*>(dBodyGetQuaternion(body.id)));
    std::copy_n(p + 7, 12, const_cast<dReal*>(dBodyGetRotation(body.id)));
    dBodySetPosition(body.id, p[0], p[1], p[2]);
    dBodySetLinearVel(body.id, p[19], p[20], p[21]);
    dBodySetAngularVel(body.id, p[22], p[23], p[24]);
    dBodySetForce(body.id, 0, 0, 0);
    dBodySetTorque(body.id, 0, 0, 0);
    mirror_joint(b);
  }
  contacts_known_ = false;
}

std::unique_ptr<Engine> OdeEngine::clone() const {
  auto copy = std::make_unique<OdeEngine>(model_);
  std::vector<double> state(state_size());
  save(state);
  copy->restore(state);
  return copy;
}

}  // namespace isochron::world
