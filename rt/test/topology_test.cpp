#include "rt/topology.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace isochron::rt {
namespace {

namespace fs = std::filesystem;

struct FakeSys : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("cpus_" + std::to_string(getpid()));
  ~FakeSys() override { fs::remove_all(root); }
  void file(const std::string& name, const std::string& text) const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text << "\n";
  }
  void cpu(int id, const std::string& siblings, int package) const {
    const std::string folder = "cpu" + std::to_string(id) + "/topology/";
    file(folder + "core_cpus_list", siblings);
    file(folder + "physical_package_id", std::to_string(package));
  }
};

TEST(CpuList, ReadsTheKernelsWayToWriteSets) {
  EXPECT_EQ(parse_cpu_list("0-3,8"), (std::vector{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), std::vector{5});
  EXPECT_EQ(parse_cpu_list("1,3\n"), (std::vector{1, 3}));
  EXPECT_TRUE(parse_cpu_list("").empty());
  EXPECT_TRUE(parse_cpu_list("(null)").empty());
  EXPECT_TRUE(parse_cpu_list("0-99999999999999").empty());
  EXPECT_TRUE(parse_cpu_list("7-2").empty());
}

TEST_F(FakeSys, FindsCoresBehindHyperThreads) {
  file("online", "0-5");
  file("isolated", "2-3");
  cpu(0, "0,4", 0);
  cpu(4, "0,4", 0);
  cpu(1, "1,5", 0);
  cpu(5, "1,5", 0);
  cpu(2, "2-3", 1);
  cpu(3, "2-3", 1);
  const Topology t = Topology::read(root);
  EXPECT_EQ(t.physical_cores(), (std::vector{0, 1, 2}));
  EXPECT_EQ(t.siblings_of(5), (std::vector{1, 5}));
  EXPECT_EQ(t.isolated(), (std::vector{2, 3}));
  EXPECT_EQ(t.cpus().at(3).package, 1);
}

TEST_F(FakeSys, ACoreWhoseFirstThreadIsOfflineIsStillACore) {
  file("online", "0,3");
  cpu(0, "0", 0);
  cpu(3, "2-3", 0);
  EXPECT_EQ(Topology::read(root).physical_cores(), (std::vector{0, 3}));
}

TEST_F(FakeSys, ReadsTheNameOfOlderKernels) {
  file("online", "0-1");
  file("cpu0/topology/thread_siblings_list", "0-1");
  file("cpu1/topology/thread_siblings_list", "0-1");
  EXPECT_EQ(Topology::read(root).physical_cores(), std::vector{0});
}

TEST(Topology, WithoutSysEveryAllowedProcessorIsACore) {
  const Topology t = Topology::read("/nowhere");
  EXPECT_FALSE(t.cpus().empty());
  EXPECT_EQ(t.physical_cores().size(), t.cpus().size());
}

TEST(Topology, KnowsThisMachine) {
  const Topology t = Topology::read();
  ASSERT_FALSE(t.physical_cores().empty());
  EXPECT_LE(t.physical_cores().size(), t.cpus().size());
}

}  // namespace
}  // namespace isochron::rt
