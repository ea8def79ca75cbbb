#include "world/mujoco_model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <mutex>
#include <numbers>

namespace isochron::world {
namespace {

[[noreturn]] void throw_error(const char* text) { throw MujocoError(text); }
void ignore_warning(const char*) {}  // counted in mjData::warning, where the engine finds it

void adopt_mujoco() {
  static std::once_flag once;
  std::call_once(once, [] {
    mju_user_error = throw_error;
    mju_user_warning = ignore_warning;  // the default one writes MUJOCO_LOG.TXT into the working folder
  });
}

/// MuJoCo writes "line 7", "line = 7" or "Line number=7" somewhere in its message; 0 when it does not.
int line_in(std::string_view message) {
  const auto at = message.rfind("ine ");
  if (at == std::string_view::npos) return 0;
  message.remove_prefix(at + 4);
  if (message.starts_with("number")) message.remove_prefix(6);
  while (!message.empty() && (message[0] == ' ' || message[0] == '=')) message.remove_prefix(1);
  int line = 0;
  std::from_chars(message.data(), message.data() + message.size(), line);
  return line;
}

/// On one line, without the importer's own prefixes and the place that we print in front.
std::string tidy(std::string text) {
  for (const std::string_view prefix : {"XML Error: ", "Error: "}) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  }
  if (const auto place = text.find(", id = "); place != std::string::npos) text.erase(place);
  if (const auto unnamed = text.find("\nObject name = "); unnamed != std::string::npos && text.ends_with("= ")) {
    text.erase(unnamed);
  }
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
    } else if (!line.empty() && !line.ends_with("; ")) {
      line += "; ";
    }
  }
  while (line.ends_with(' ') || line.ends_with(';')) line.pop_back();
  return line;
}

[[noreturn]] void refuse(const std::string& file, const std::string& message, std::string hint = {}) {
  throw InputError(Place{file, line_in(message), 0}, tidy(message), std::move(hint));
}

/// The name in the model, or one made of kind and number: everything can be addressed.
std::string name_of(const mjModel& m, mjtObj type, int id, const char* kind) {
  const char* name = mj_id2name(&m, type, id);
  return name != nullptr && *name != 0 ? name : kind + ("_" + std::to_string(id));
}

Vec3 vec3(const mjtNum* v) { return {v[0], v[1], v[2]}; }
Quat quat(const mjtNum* v) { return {v[0], v[1], v[2], v[3]}; }

JointInfo joint_of(const mjModel& m, int i) {
  constexpr std::array<std::uint32_t, 4> positions{7, 4, 1, 1};  // free, ball, slide, hinge
  constexpr std::array<std::uint32_t, 4> velocities{6, 3, 1, 1};
  const auto type = static_cast<std::size_t>(m.jnt_type[i]);
  return {name_of(m, mjOBJ_JOINT, i, "joint"),
          positions.at(type),
          velocities.at(type),
          static_cast<std::uint32_t>(m.jnt_qposadr[i]),
          static_cast<std::uint32_t>(m.jnt_dofadr[i]),
          static_cast<std::uint32_t>(m.jnt_bodyid[i])};
}

Catalog catalog_of(const mjModel& m) {
  Catalog c;
  for (int i = 0; i < m.nbody; ++i) {
    c.bodies.push_back(name_of(m, mjOBJ_BODY, i, "body"));
    c.masses.push_back(m.body_mass[i]);
    c.centres.push_back(vec3(m.body_ipos + 3 * i));
    c.parents.push_back(static_cast<std::uint32_t>(m.body_parentid[i]));
  }
  for (int i = 0; i < m.njnt; ++i) c.joints.push_back(joint_of(m, i));
  for (int i = 0; i < m.nu; ++i) {
    const bool limited = m.actuator_ctrllimited[i] != 0;
    c.actuators.push_back({name_of(m, mjOBJ_ACTUATOR, i, "actuator"), limited ? m.actuator_ctrlrange[2 * i] : 0,
                           limited ? m.actuator_ctrlrange[2 * i + 1] : 0});
  }
  for (int i = 0; i < m.nsensor; ++i) {
    c.sensors.push_back({name_of(m, mjOBJ_SENSOR, i, "sensor"), static_cast<std::uint32_t>(m.sensor_dim[i])});
  }
  for (int i = 0; i < m.nsite; ++i) {
    c.sites.push_back({name_of(m, mjOBJ_SITE, i, "site"),
                       static_cast<std::uint32_t>(m.site_bodyid[i]),
                       {vec3(m.site_pos + 3 * i), quat(m.site_quat + 4 * i)}});
  }
  for (int i = 0; i < m.ncam; ++i) {
    c.cameras.push_back({name_of(m, mjOBJ_CAMERA, i, "camera"),
                         static_cast<std::uint32_t>(m.cam_bodyid[i]),
                         {vec3(m.cam_pos + 3 * i), quat(m.cam_quat + 4 * i)},
                         m.cam_fovy[i] * std::numbers::pi / 180});
  }
  return c;
}

void fill_mesh(const mjModel& m, int mesh, Geometry& g) {
  const int first_vertex = m.mesh_vertadr[mesh], first_face = m.mesh_faceadr[mesh];
  for (int i = 0; i < m.mesh_vertnum[mesh]; ++i) {
    const float* v = m.mesh_vert + 3 * (first_vertex + i);
    g.vertices.push_back({v[0], v[1], v[2]});
  }
  for (int i = 0; i < m.mesh_facenum[mesh]; ++i) {
    const int* f = m.mesh_face + 3 * (first_face + i);
    g.triangles.push_back(
        {static_cast<std::uint32_t>(f[0]), static_cast<std::uint32_t>(f[1]), static_cast<std::uint32_t>(f[2])});
  }
}

/// The upper surface of a height field, two triangles for each cell, split as MuJoCo's collider splits it.
void fill_height_field(const mjModel& m, int field, Geometry& g) {
  const int rows = m.hfield_nrow[field], columns = m.hfield_ncol[field];
  const mjtNum* size = m.hfield_size + 4 * field;  // half x, half y, highest, thickness below
  const float* heights = m.hfield_data + m.hfield_adr[field];
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      g.vertices.push_back({static_cast<float>(size[0] * (2.0 * c / (columns - 1) - 1)),
                            static_cast<float>(size[1] * (2.0 * r / (rows - 1) - 1)),
                            static_cast<float>(size[2] * heights[r * columns + c])});
    }
  }
  const auto vertex = [columns](int r, int c) { return static_cast<std::uint32_t>(r * columns + c); };
  for (int r = 0; r + 1 < rows; ++r) {
    for (int c = 0; c + 1 < columns; ++c) {
      g.triangles.push_back({vertex(r, c), vertex(r, c + 1), vertex(r + 1, c)});
      g.triangles.push_back({vertex(r + 1, c), vertex(r, c + 1), vertex(r + 1, c + 1)});
    }
  }
}

std::array<float, 4> colour_of(const mjModel& m, int geom) {
  const float* own = m.geom_rgba + 4 * geom;
  const bool is_default = own[0] == 0.5F && own[1] == 0.5F && own[2] == 0.5F && own[3] == 1;
  const int material = m.geom_matid[geom];
  const float* c = material >= 0 && is_default ? m.mat_rgba + 4 * material : own;
  return {c[0], c[1], c[2], c[3]};
}

Shape shape_of(int type) {
  switch (type) {
    case mjGEOM_PLANE:
      return Shape::plane;
    case mjGEOM_SPHERE:
      return Shape::sphere;
    case mjGEOM_CAPSULE:
      return Shape::capsule;
    case mjGEOM_CYLINDER:
      return Shape::cylinder;
    case mjGEOM_ELLIPSOID:
      return Shape::ellipsoid;
    case mjGEOM_BOX:
      return Shape::box;
    default:
      return Shape::mesh;
  }
}

Geometry geometry_of(const mjModel& m, int i) {
  Geometry g;
  g.name = name_of(m, mjOBJ_GEOM, i, "geom");
  g.body = static_cast<std::uint32_t>(m.geom_bodyid[i]);
  g.shape = shape_of(m.geom_type[i]);
  g.size = vec3(m.geom_size + 3 * i);
  g.local = {vec3(m.geom_pos + 3 * i), quat(m.geom_quat + 4 * i)};
  g.rgba = colour_of(m, i);
  g.collides = m.geom_contype[i] != 0 || m.geom_conaffinity[i] != 0;
  g.friction = m.geom_friction[3 * i];
  if (m.geom_type[i] == mjGEOM_MESH) fill_mesh(m, m.geom_dataid[i], g);
  if (m.geom_type[i] == mjGEOM_HFIELD) fill_height_field(m, m.geom_dataid[i], g);
  return g;
}

void refuse_what_cannot_repeat(const mjModel& m, const std::string& file) {
  if ((m.opt.enableflags & mjENBL_SENSORNOISE) != 0) {
    throw InputError(Place{file, 0, 0}, "the model asks for MuJoCo's sensor noise, which is not repeatable",
                     "remove sensornoise=\"enable\" and give the noise to Isochron's sensors");
  }
}

}  // namespace

std::shared_ptr<const MujocoModel> load_mujoco_model(const std::string& file) {
  adopt_mujoco();
  if (!std::ifstream(file).good()) {
    throw InputError(Place{file, 0, 0}, "cannot open the model", "give the path of an MJCF or URDF file");
  }
  auto model = std::make_shared<MujocoModel>();
  std::array<char, 1000> message{};
  {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    try {
      model->compiled.reset(mj_loadXML(file.c_str(), nullptr, message.data(), message.size()));
    } catch (const MujocoError& error) {
      refuse(file, error.what());
    }
  }
  if (!model->compiled || message[0] != 0) refuse(file, message.data());
  const mjModel& m = *model->compiled;
  refuse_what_cannot_repeat(m, file);
  model->file = file;
  model->catalog = catalog_of(m);
  for (int i = 0; i < m.ngeom; ++i) model->geometry.push_back(geometry_of(m, i));
  model->start_keyframe = mj_name2id(&m, mjOBJ_KEY, "start");
  return model;
}

}  // namespace isochron::world
