#include "world/plugin.hpp"

#include <array>

#include "world/mujoco_engine.hpp"
#include "world/ode_engine.hpp"
#include "world/shared_library.hpp"

namespace isochron::world {

std::unique_ptr<Engine> load_engine_library(const std::string& library, const std::string& model_file) {
  const SharedLibrary opened(library, "engine");
  opened.demand_interface("isochron_engine_interface", engine_interface);
  auto* make = opened.function<Engine*(const char*, char*, std::size_t)>("isochron_engine");
  std::array<char, 1000> why{};
  std::unique_ptr<Engine> engine(make(model_file.c_str(), why.data(), why.size()));
  if (!engine) opened.refuse(why.data());
  return engine;
}

std::unique_ptr<Engine> load_engine(std::string_view engine, const std::string& model_file) {
  if (engine == "mujoco") return std::make_unique<MujocoEngine>(load_mujoco_model(model_file));
  if (engine == "ode") return std::make_unique<OdeEngine>(load_mujoco_model(model_file));
  if (engine.find('/') != std::string_view::npos || engine.ends_with(".so")) {
    return load_engine_library(std::string(engine), model_file);
  }
  throw InputError(Place{}, "there is no engine `" + std::string(engine) + "`",
                   "use mujoco, ode or the path of a shared library");
}

}  // namespace isochron::world
