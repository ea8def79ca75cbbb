#pragma once
// A model file read by MuJoCo's importer (MJCF or URDF) and described in our words. Both engines start here: MuJoCo
// steps the model itself, ODE builds its bodies from it.
//
// Promises: a Model is read-only once loaded. MuJoCo's messages become InputErrors, never a log file or an exit.
// Threads:  any; loading is serialised inside, because the importer keeps global state.

#include <mujoco/mujoco.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "world/engine.hpp"

namespace isochron::world {

/// What MuJoCo's error handler throws in place of exit(); never leaves the engine.
struct MujocoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct MujocoModel {
  struct Delete {
    void operator()(mjModel* model) const { mj_deleteModel(model); }
  };
  std::unique_ptr<mjModel, Delete> compiled;
  std::string file;
  Catalog catalog;
  std::vector<Geometry> geometry;
  int start_keyframe = -1;  // the keyframe named "start", where the world begins; -1: the model's own pose
};

/// shared_ptr: an engine and all its clones read one compiled model, in any thread and in any order of ending.
std::shared_ptr<const MujocoModel> load_mujoco_model(const std::string& file);

}  // namespace isochron::world
