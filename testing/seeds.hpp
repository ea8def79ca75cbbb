#pragma once
// Many seeds, one test. A body that builds a simulated world from a seed is run for seed 1, 2, 3 … until one fails;
// then the seed and the command that repeats it are printed:
//
//     seed 417 fails: two answers to one request
//     repeat it with: ISOCHRON_SEED=417 build/release/test/agents_sim_test --gtest_filter=Agents.SurviveLoss
//
// ISOCHRON_SEED=417 runs that seed alone; ISOCHRON_SEEDS=100000 runs more than the test asks for. A seed that crashes
// the test (a failed ENSURE, a bad pointer) is named too, before the process dies.
//
// In a gtest:  TEST(Agents, SurviveLoss) { EXPECT_EVERY_SEED(1000, [](std::uint64_t seed) { … EXPECT_EQ(…); }); }

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace isochron {

struct FailingSeed {
  std::uint64_t seed = 0;
  std::string why;
  std::string command;  // repeats it
};

/// What to run again; `filter` names the gtest, "" = whatever the program does.
[[nodiscard]] std::string repeat_command(std::uint64_t seed, const std::string& filter);

/// Runs body(seed) for seeds 1 … count (or as the environment says) until one returns a reason why it failed.
/// A std::exception that escapes the body is a failure too.
[[nodiscard]] std::optional<FailingSeed> find_failing_seed(
    std::uint64_t count, const std::string& filter,
    const std::function<std::optional<std::string>(std::uint64_t)>& body);

/// The gtest that runs now, as --gtest_filter names it.
[[nodiscard]] inline std::string running_test() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return info == nullptr ? "" : std::string(info->test_suite_name()) + "." + info->name();
}

/// For EXPECT_EVERY_SEED: a seed fails when its body leaves a failed expectation behind.
inline ::testing::AssertionResult every_seed(std::uint64_t count, const std::function<void(std::uint64_t)>& body) {
  const auto failure = find_failing_seed(count, running_test(), [&](std::uint64_t seed) -> std::optional<std::string> {
    body(seed);
    if (!::testing::Test::HasFailure()) return std::nullopt;
    return "an expectation above";
  });
  if (!failure) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "seed " << failure->seed << " fails: " << failure->why
                                       << "\nrepeat it with: " << failure->command;
}

}  // namespace isochron

#define EXPECT_EVERY_SEED(count, ...) EXPECT_TRUE(::isochron::every_seed(count, __VA_ARGS__))
