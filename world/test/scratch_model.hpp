#pragma once
// A model file that lives as long as a test needs it.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace isochron::world {

class ScratchModel {
 public:
  explicit ScratchModel(const std::string& text, const std::string& suffix = ".xml") {
    static int count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("isochron_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + suffix))
                .string();
    std::ofstream(path_) << text;
  }
  ~ScratchModel() { std::filesystem::remove(path_); }
  ScratchModel(const ScratchModel&) = delete;
  ScratchModel& operator=(const ScratchModel&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Boxes, balls and a capsule that fall onto a plane from different heights, turning: contacts from the first tenth.
inline std::string falling_things() {
  return R"(<mujoco>
  <option timestep="0.002"/>
  <size nconmax="200" njmax="1000"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 0.5" euler="10 20 0"><freejoint name="box"/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body name="ball" pos="0.05 0.02 0.9"><freejoint name="ball"/><geom type="sphere" size=".1" mass="0.5"/></body>
    <body name="stick" pos="0 0.5 0.4" euler="60 0 0"><freejoint name="stick"/>
      <geom type="capsule" size=".05 .2" mass="0.7"/></body>
  </worldbody>
  <actuator><motor name="push" joint="box" gear="1 0 0 0 0 0" ctrllimited="true" ctrlrange="-5 5"/></actuator>
  <sensor><framepos name="box_at" objtype="body" objname="box"/><framelinacc name="box_acc" objtype="body" objname="box"/></sensor>
</mujoco>)";
}

}  // namespace isochron::world
