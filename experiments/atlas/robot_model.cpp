#include "experiments/atlas/robot_model.hpp"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <stdexcept>

namespace atlas {
namespace {

using RowMatrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Vector3 vector(const mjtNum* v) { return {v[0], v[1], v[2]}; }

int need(const mjModel* m, int type, const char* name) {
  const int id = mj_name2id(m, type, name);
  if (id < 0) throw std::runtime_error(std::string("the robot's model has no `") + name + "`");
  return id;
}

}  // namespace

void RobotModel::FreeModel::operator()(mjModel_* m) const { mj_deleteModel(m); }
void RobotModel::FreeData::operator()(mjData_* d) const { mj_deleteData(d); }

RobotModel::RobotModel(const std::string& file) {
  char why[500] = "";
  model_.reset(mj_loadXML(file.c_str(), nullptr, why, sizeof why));
  if (!model_) throw std::runtime_error(file + ": " + why);
  const mjModel* m = model_.get();
  if (m->nv != dof || m->nq != joints + 7 || m->nu != joints) throw std::runtime_error(file + " is not our robot");
  data_.reset(mj_makeData(m));
  sole_ids_[left] = need(m, mjOBJ_SITE, "l_sole");
  sole_ids_[right] = need(m, mjOBJ_SITE, "r_sole");
  pelvis_id_ = need(m, mjOBJ_BODY, "pelvis");
  chest_id_ = need(m, mjOBJ_BODY, "upper_torso");
  mass_ = m->body_subtreemass[pelvis_id_];
  for (int i = 0; i < joints; ++i) limits_[static_cast<std::size_t>(i)] = m->actuator_ctrlrange[2 * i + 1];
}

RobotModel::~RobotModel() = default;

std::array<double, joints + 7> RobotModel::start() const {
  std::array<double, joints + 7> position{};
  const int key = need(model_.get(), mjOBJ_KEY, "start");
  std::copy_n(model_->key_qpos + key * model_->nq, position.size(), position.begin());
  return position;
}

void RobotModel::move(std::span<const double, joints + 7> position, std::span<const double, dof> velocity) {
  const mjModel* m = model_.get();
  mjData* d = data_.get();
  std::copy(position.begin(), position.end(), d->qpos);
  std::copy(velocity.begin(), velocity.end(), d->qvel);
  mj_kinematics(m, d);
  mj_comPos(m, d);
  mj_comVel(m, d);
  mj_subtreeVel(m, d);
  for (const Side side : {left, right}) look(soles_[side], mjOBJ_SITE, sole_ids_[side]);
  look(pelvis_, mjOBJ_XBODY, pelvis_id_);
  look(chest_, mjOBJ_XBODY, chest_id_);
}

void RobotModel::update(std::span<const double, joints + 7> position, std::span<const double, dof> velocity) {
  const mjModel* m = model_.get();
  mjData* d = data_.get();
  move(position, velocity);
  mj_crb(m, d);
  mj_fullM(m, M_.data(), d->qM);
  mj_passive(m, d);
  mj_rne(m, d, 0, h_.data());
  for (int i = 0; i < dof; ++i) h_[i] -= d->qfrc_passive[i];
  std::fill_n(d->qacc, dof, 0.0);
  mj_rnePostConstraint(m, d);  // accelerations at v̇ = 0, in a frame that falls upwards with g
  for (const Side side : {left, right}) differentiate(soles_[side], mjOBJ_SITE, sole_ids_[side]);
  differentiate(pelvis_, mjOBJ_XBODY, pelvis_id_);
  differentiate(chest_, mjOBJ_XBODY, chest_id_);
}

/// `type` is mjOBJ_SITE, or mjOBJ_XBODY: a body's own frame (mjOBJ_BODY would be its inertial one).
void RobotModel::look(Frame& frame, int type, int id) {
  const bool site = type == mjOBJ_SITE;
  frame.position = vector((site ? data_->site_xpos : data_->xpos) + 3 * id);
  frame.rotation = Eigen::Map<const RowMatrix3>((site ? data_->site_xmat : data_->xmat) + 9 * id);
  mjtNum motion[6];
  mj_objectVelocity(model_.get(), data_.get(), type, id, motion, 0);
  frame.angular = vector(motion);
  frame.linear = vector(motion + 3);
}

void RobotModel::differentiate(Frame& frame, int type, int id) {
  const int body = type == mjOBJ_SITE ? model_->site_bodyid[id] : id;
  mj_jac(model_.get(), data_.get(), frame.J_linear.data(), frame.J_angular.data(), frame.position.data(), body);
  mjtNum motion[6];
  mj_objectAcceleration(model_.get(), data_.get(), type, id, motion, 0);
  frame.angular_bias = vector(motion);
  frame.linear_bias = vector(motion + 3) - Vector3(0, 0, gravity());
}

Vector3 RobotModel::centre() const { return vector(data_->subtree_com + 3 * pelvis_id_); }

Vector3 RobotModel::centre_velocity() const { return vector(data_->subtree_linvel + 3 * pelvis_id_); }

}  // namespace atlas
