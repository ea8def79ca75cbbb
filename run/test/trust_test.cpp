// Whose a scenario or journal is, and what it would execute.

#include "run/trust.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace isochron {
namespace {

/// A state folder and a scenario's folder, gone after the test.
class TrustTest : public testing::Test {
 protected:
  TrustTest() {
    char pattern[] = "/tmp/isochron_trust_XXXXXX";
    folder_ = mkdtemp(pattern);
    setenv("XDG_STATE_HOME", (folder_ + "/state").c_str(), 1);
    std::ofstream(folder_ + "/s.yaml") << "name: s\n";
    std::ofstream(folder_ + "/own.so") << "";
    std::ofstream(folder_ + "/w.xml") << "<mujoco/>";
    std::ofstream(folder_ + "/p") << "#!/bin/true\n";
    std::filesystem::permissions(folder_ + "/p", std::filesystem::perms::owner_all);
  }
  ~TrustTest() override {
    unsetenv("XDG_STATE_HOME");
    std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};

TEST_F(TrustTest, AMarkIsGoodForItsTextFolderAndUserOnly) {
  const std::string mark = own_mark("name: s", "/here");
  ASSERT_FALSE(mark.empty());
  EXPECT_TRUE(bears_own_mark(mark, "name: s", "/here"));
  EXPECT_FALSE(bears_own_mark(mark, "name: t", "/here"));
  EXPECT_FALSE(bears_own_mark(mark, "name: s", "/there"));
  EXPECT_FALSE(bears_own_mark(mark, "ename: s", "/her"));
  EXPECT_FALSE(bears_own_mark("", "name: s", "/here"));
  struct stat about {};
  ASSERT_EQ(stat((folder_ + "/state/isochron/origin.key").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  setenv("XDG_STATE_HOME", (folder_ + "/somebody_else").c_str(), 1);
  EXPECT_FALSE(bears_own_mark(mark, "name: s", "/here"));
}

TEST_F(TrustTest, WithoutAPlaceForTheKeyThereIsNoMark) {
  setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
  EXPECT_EQ(own_mark("name: s", "/here"), "");
  EXPECT_FALSE(bears_own_mark("", "name: s", "/here"));
}

TEST_F(TrustTest, AFileThatOthersCanWriteOrOwnIsForeign) {
  const std::string file = folder_ + "/s.yaml";
  EXPECT_EQ(why_foreign(file), "");
  chmod(file.c_str(), 0666);
  EXPECT_EQ(why_foreign(file), "can be written by every user");
  chmod(file.c_str(), 0644);
  if (chown(file.c_str(), 4321, 4321) != 0) GTEST_SKIP() << "giving a file away needs root";
  EXPECT_EQ(why_foreign(file), "belongs to another user");
  setenv("SUDO_UID", "4321", 1);
  EXPECT_EQ(why_foreign(file), "");
  unsetenv("SUDO_UID");
}

TEST_F(TrustTest, EverythingThatWouldBeExecutedIsNamed) {
  const Scenario scenario = read_scenario(
      "name: s\nworld: {model: w.xml}\nrobots: {r: {programs: {a: {run: [./p, -c, \"rm everything\"]}}}}\n"
      "nodes: {n: {library: own.so, type: T, host: robot.local}}\n",
      "s.yaml", folder_);
  const auto executed = executed_by(scenario);
  ASSERT_EQ(executed.size(), 3u);
  EXPECT_NE(executed[0].find("-c rm everything"), std::string::npos);
  EXPECT_NE(executed[1].find("own.so"), std::string::npos);
  EXPECT_NE(executed[2].find("robot.local"), std::string::npos);
  EXPECT_EQ(foreign_libraries(scenario).size(), 1u);
}

}  // namespace
}  // namespace isochron
