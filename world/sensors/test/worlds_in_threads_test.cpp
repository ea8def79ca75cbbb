// Worlds in other threads change nothing: each run has the bits that it has alone.

#include <gtest/gtest.h>

#include <thread>

#include "world/sensors/test/busy_world.hpp"
#include "world/vectors.hpp"

#ifdef __SANITIZE_THREAD__
// Embree and TBB are not built for ThreadSanitizer, which therefore cannot see their spin locks.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libembree3.so\nrace:libtbb.so\n"; }
#endif

namespace isochron::world {
namespace {

TEST(WorldsInThreads, EachSeesWhatItSeesAlone) {
  const auto alone = run_all(one_of_each(), 5);
  constexpr int worlds = 4;
  std::vector<std::map<std::string, std::vector<std::byte>>> together(worlds);
  std::vector<std::thread> threads;
  for (int i = 0; i < worlds; ++i) {
    threads.emplace_back([&together, i] { together[static_cast<std::size_t>(i)] = run_all(one_of_each(), 5); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& run : together) {
    for (const auto& [name, bytes] : alone) EXPECT_TRUE(bytes == run.at(name)) << name;
  }
}

TEST(WorldsInThreads, OneSceneAnswersRaysOfSeveralThreads) {
  ScriptedEngine engine = busy_world();
  const Scene scene(engine.geometry());
  const auto sum_of_distances = [&scene] {
    double sum = 0;
    RandomStream random(9, "rays");
    for (int i = 0; i < 2000; ++i) {
      const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
      Hit hit;
      if (scene.cast({{0, 0, 5}, unit({x, y, -1})}, hit)) sum += hit.distance;
    }
    return sum;
  };
  const double alone = sum_of_distances();
  std::array<double, 3> sums{};
  std::vector<std::thread> threads;
  for (double& sum : sums) threads.emplace_back([&] { sum = sum_of_distances(); });
  for (std::thread& thread : threads) thread.join();
  for (const double sum : sums) EXPECT_EQ(sum, alone);
}

}  // namespace
}  // namespace isochron::world
