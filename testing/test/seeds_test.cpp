#include "testing/seeds.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "testing/reactor.hpp"
#include "testing/test/request_example.hpp"

namespace isochron {
namespace {

using example::Care;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

struct Counted {
  std::string why;  // "" = right
  std::uint64_t digest = 0;
};

/// A server and two clients on a network as bad as the seed makes it, cut in two for a while.
Counted count_together(std::uint64_t seed, Care care) {
  Scheduler scheduler(seed);
  SimulatedNetwork network(scheduler);
  RandomStream random = scheduler.random("test");
  network.set_quality(LinkQuality::drawn(random));
  const Address a = Address::v4(10, 0, 0, 1, 7000), b = Address::v4(10, 0, 0, 2, 7001),
                c = Address::v4(10, 0, 0, 3, 7002);
  SimulatedReactor on_a(network, a), on_b(network, b), on_c(network, c);
  example::CounterServer server(on_a, a, care);
  example::CounterClient first(on_b, b, a, care), second(on_c, c, a, care);
  int finished = 0;
  const std::vector<std::int64_t> ones(10, 1), hundreds(10, 100);
  first.add(ones, [&] { ++finished; });
  second.add(hundreds, [&] { ++finished; });
  scheduler.after(50ms, [&] { network.partition({a, b}); });
  scheduler.after(400ms, [&] { network.heal(); });
  const bool done = scheduler.run_until([&] { return finished == 2; }, 600s);
  Counted outcome{"", scheduler.history().digest()};
  if (!done) {
    outcome.why = "the clients never finished";
  } else if (server.sum() != 1010) {
    outcome.why = "the sum is " + std::to_string(server.sum()) + ", not 1010";
  } else if (first.answers().back() % 100 != 10) {
    outcome.why = "the first client was told " + std::to_string(first.answers().back());
  }
  return outcome;
}

std::optional<std::string> reason(const Counted& outcome) {
  return outcome.why.empty() ? std::nullopt : std::optional(outcome.why);
}

/// Sets a variable for one scope.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Environment() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Seeds, TheExampleProtocolIsRightUnderThousands) {
  EXPECT_EVERY_SEED(3000, [](std::uint64_t seed) { EXPECT_EQ(count_together(seed, Care::right).why, ""); });
}

TEST(Seeds, OneSeedGivesOneHistoryAndAnotherSeedAnother) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::uint64_t digest = count_together(seed, Care::right).digest;
    EXPECT_EQ(digest, count_together(seed, Care::right).digest) << "seed " << seed;
    digests.insert(digest);
  }
  EXPECT_EQ(digests.size(), 100U);
}

class PlantedBug : public ::testing::TestWithParam<Care> {};

TEST_P(PlantedBug, IsFoundAndItsSeedRepeatsIt) {
  const auto body = [](std::uint64_t seed) { return reason(count_together(seed, GetParam())); };
  const auto found = find_failing_seed(3000, running_test(), body);
  ASSERT_TRUE(found) << "the bug went unnoticed";
  EXPECT_THAT(found->command, HasSubstr("ISOCHRON_SEED=" + std::to_string(found->seed) + " "));
  EXPECT_THAT(found->command, HasSubstr("--gtest_filter=" + running_test()));

  const Environment only("ISOCHRON_SEED", std::to_string(found->seed));
  int runs = 0;
  const auto again = find_failing_seed(3000, running_test(), [&](std::uint64_t seed) { return ++runs, body(seed); });
  ASSERT_TRUE(again);
  EXPECT_EQ(runs, 1) << "just the one seed";
  EXPECT_EQ(again->seed, found->seed);
  EXPECT_EQ(again->why, found->why);
  EXPECT_EQ(count_together(found->seed, GetParam()).digest, count_together(found->seed, GetParam()).digest);
}

INSTANTIATE_TEST_SUITE_P(Example, PlantedBug,
                         ::testing::Values(Care::adds_again_when_asked_again, Care::takes_any_answer));

TEST(Seeds, ThePrintedCommandFailsInTheSameWay) {
  const auto found = find_failing_seed(3000, "Seeds.DISABLED_FailsOnPurpose", [](std::uint64_t seed) {
    return reason(count_together(seed, Care::takes_any_answer));
  });
  ASSERT_TRUE(found);
  const std::string command = "cd " ISOCHRON_TOP " && " + found->command + " --gtest_also_run_disabled_tests 2>&1";
  FILE* output = ::popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::string text;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
  EXPECT_NE(::pclose(output), 0) << command;
  EXPECT_THAT(text, HasSubstr("seed " + std::to_string(found->seed) + " fails"));
  EXPECT_THAT(text, HasSubstr(found->why));
}

// The test that the one above runs by the printed command.
TEST(Seeds, DISABLED_FailsOnPurpose) {
  EXPECT_EVERY_SEED(3000, [](std::uint64_t seed) { EXPECT_EQ(count_together(seed, Care::takes_any_answer).why, ""); });
}

TEST(Seeds, AnExceptionIsAFailureWithItsText) {
  const auto found = find_failing_seed(10, "", [](std::uint64_t seed) -> std::optional<std::string> {
    if (seed == 3) throw std::runtime_error("out of luck");
    return std::nullopt;
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->seed, 3U);
  EXPECT_THAT(found->why, HasSubstr("out of luck"));
}

TEST(SeedsDeathTest, ACrashNamesTheSeedBeforeTheProcessDies) {
  EXPECT_DEATH((void)find_failing_seed(10, "",
                                       [](std::uint64_t seed) -> std::optional<std::string> {
                                         ENSURE(seed != 4, "planted");
                                         return std::nullopt;
                                       }),
               "seed 4 crashes\nrepeat it with: ISOCHRON_SEED=4 ");
}

TEST(Seeds, MoreCanBeAskedForFromOutside) {
  const Environment more("ISOCHRON_SEEDS", "25");
  int runs = 0;
  EXPECT_FALSE(find_failing_seed(10, "", [&](std::uint64_t) { return ++runs, std::optional<std::string>(); }));
  EXPECT_EQ(runs, 25);
}

}  // namespace
}  // namespace isochron
