#include "world/ode_model.hpp"

#include <fstream>

namespace isochron::world {
namespace {

/// The compiled model forgot its lines: the first line that holds the quoted name is where a user will look.
Place place_of(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  int number = 1;
  for (std::string line; std::getline(in, line); ++number) {
    if (line.find('"' + name + '"') != std::string::npos || line.find('\'' + name + '\'') != std::string::npos) {
      return {file, number, 0};
    }
  }
  return {file, 0, 0};
}

class Complaints {
 public:
  explicit Complaints(const MujocoModel& model) : model_(model) {}
  void add(const std::string& name, const std::string& what, const std::string& hint = "use engine mujoco") {
    mistakes_.push_back({place_of(model_.file, name), "ODE: " + what, hint});
  }
  void raise() {
    if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
  }

 private:
  const MujocoModel& model_;
  std::vector<Mistake> mistakes_;
};

bool is_plain_motor(const mjModel& m, int i) {
  return m.actuator_trntype[i] == mjTRN_JOINT && m.jnt_type[m.actuator_trnid[2 * i]] == mjJNT_FREE &&
         m.actuator_dyntype[i] == mjDYN_NONE && m.actuator_gaintype[i] == mjGAIN_FIXED &&
         m.actuator_biastype[i] == mjBIAS_NONE;
}

}  // namespace

void demand_ode_can(const MujocoModel& model) {
  const mjModel& m = *model.compiled;
  const Catalog& c = model.catalog;
  Complaints complaints(model);
  for (int i = 0; i < m.njnt; ++i) {
    const auto& name = c.joints[static_cast<std::size_t>(i)].name;
    if (m.jnt_type[i] != mjJNT_FREE) complaints.add(name, "joint " + name + " is not free");
  }
  for (int i = 1; i < m.nbody; ++i) {
    const auto& name = c.bodies[static_cast<std::size_t>(i)];
    if (m.body_parentid[i] != 0 && m.body_weldid[i] != 0) {
      complaints.add(name, "body " + name + " is part of a moving body", "make its shapes geoms of that body");
    }
  }
  for (int i = 0; i < m.nu; ++i) {
    const auto& name = c.actuators[static_cast<std::size_t>(i)].name;
    if (!is_plain_motor(m, i)) complaints.add(name, "actuator " + name + " is not a motor on a free joint");
  }
  for (const SensorInfo& s : c.sensors) complaints.add(s.name, "sensor " + s.name + " of the model is not supported");
  if (m.neq > 0) complaints.add("equality", "equality constraints are not supported");
  if (m.ntendon > 0) complaints.add("tendon", "tendons are not supported");
  for (int i = 0; i < m.ngeom; ++i) {
    const Geometry& g = model.geometry[static_cast<std::size_t>(i)];
    if (g.shape == Shape::ellipsoid && g.collides) complaints.add(g.name, "geom " + g.name + " is an ellipsoid");
    if (g.shape == Shape::plane && m.body_weldid[g.body] != 0) complaints.add(g.name, "plane " + g.name + " moves");
  }
  complaints.raise();
}

}  // namespace isochron::world
