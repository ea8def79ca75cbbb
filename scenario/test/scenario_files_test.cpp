// Which files `isochron launch` takes to a host.

#include "scenario/scenario_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace isochron {
namespace {

namespace fs = std::filesystem;

class ScenarioFiles : public testing::Test {
 protected:
  ScenarioFiles() : folder_(fs::temp_directory_path() / ("isochron_files_" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "meshes");
    for (const char* name : {"own.so", "other.so", "brain.py", "meshes/hull.stl", "wheel.xml", "federation.key"})
      put(name);
    put("model.xml",
        R"(<mujoco><compiler meshdir="meshes"/><include file="wheel.xml"/><asset><mesh file="hull.stl"/></asset></mujoco>)");
  }
  ~ScenarioFiles() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text = "x") const { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::vector<std::string> files(const std::vector<std::string>& nodes) const {
    static const std::string text = R"(name: n
world: {model: model.xml}
nodes:
  a: {library: ./own.so, type: A}
  b: {library: ./other.so, type: B}
  c: {run: [python3, brain.py, --fast, missing.txt]}
network: {key: federation.key}
time: {mode: repeatable}
)";
    put("s.yaml", text);
    const Scenario scenario = read_scenario(text, (folder_ / "s.yaml").string(), folder_.string());
    std::vector<std::string> names;
    for (const NeededFile& file : needed_files(scenario, nodes)) {
      EXPECT_EQ(file.place, file.path) << "these keep their places";
      EXPECT_EQ(file.secret, file.path.ends_with(".key"));
      names.push_back(fs::path(file.path).lexically_relative(folder_).string());
    }
    std::ranges::sort(names);
    return names;
  }
  fs::path folder_;
};

TEST_F(ScenarioFiles, AreThoseThatTheScenarioNamesAndThoseOfTheHostsOwnNodes) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(files({"a"}), (Names{"federation.key", "meshes/hull.stl", "model.xml", "own.so", "s.yaml", "wheel.xml"}));
  EXPECT_EQ(files({"c"}), (Names{"brain.py", "federation.key", "meshes/hull.stl", "model.xml", "s.yaml", "wheel.xml"}));
}

TEST_F(ScenarioFiles, OfAFolderAreAllFilesInIt) {
  const Scenario scenario = read_scenario("name: n\nnodes: {a: {library: ./own.so, type: A}}\n",
                                          (folder_ / "s.yaml").string(), folder_.string());
  EXPECT_EQ(needed_files(scenario, std::string("meshes")).size(), 1U);
  EXPECT_EQ(needed_files(scenario, std::string("brain.py")).size(), 1U);
  EXPECT_TRUE(needed_files(scenario, std::string("nothing")).empty());
}

}  // namespace
}  // namespace isochron
