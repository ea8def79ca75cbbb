// The same world in another process gives the same bits: this program runs itself and compares digests.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "world/test/scratch_model.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using namespace std::chrono_literals;

/// FNV-1a over every published state of a run.
std::string digest_of_a_run(const char* engine) {
  const std::string model = ISOCHRON_MODELS "/ships.xml";
  World world(load_engine(engine, model));
  State state = world.make_state();
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&hash](double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ULL;
  };
  for (int i = 1; i <= 300; ++i) {
    EXPECT_TRUE(world.command(static_cast<std::uint32_t>(i % 12), 0.01 * (i % 17) - 0.05).ok());
    EXPECT_TRUE(world.advance_to(SimTime::zero() + world.step() * i).ok());
    world.read(state);
    for (const Motion& m : state.bodies) {
      for (const double v : m.pose.position) mix(v);
      for (const double v : m.pose.orientation) mix(v);
      for (const double v : m.linear) mix(v);
    }
  }
  return std::to_string(hash);
}

std::string digest_of_another_process(const char* engine) {
  const std::string command = "/proc/self/exe";
  const std::string self = std::filesystem::read_symlink(command).string();
  FILE* pipe = ::popen((self + " --digest=" + engine).c_str(), "r");
  std::array<char, 64> line{};
  const bool read = pipe != nullptr && std::fgets(line.data(), line.size(), pipe) != nullptr;
  if (pipe != nullptr) ::pclose(pipe);
  return read ? line.data() : "nothing was printed";
}

class Digest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Both, Digest, testing::Values("mujoco", "ode"), [](const auto& i) { return i.param; });

TEST_P(Digest, IsTheSameInAnotherProcess) {
  EXPECT_EQ(digest_of_a_run(GetParam()), digest_of_another_process(GetParam()));
}

}  // namespace
}  // namespace isochron::world

int main(int argc, char** argv) {
  constexpr std::string_view flag = "--digest=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(flag)) {
    std::fputs(isochron::world::digest_of_a_run(argv[1] + flag.size()).c_str(), stdout);
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
