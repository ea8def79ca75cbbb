// Repeatability, shown: one system, two hundred runs under random executors, worker counts, buffers' luck and delays,
// one digest. The same system without time management: how its results scatter.

#include <gtest/gtest.h>

#include <set>

#include "core/random.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {
namespace {

constexpr SimSpan length = 40ms;

FlowOutcome run_somehow(RandomStream& random, std::initializer_list<How> ways) {
  System system = mixed_system(4, 2);
  Options options{.until = at(length), .how = *(ways.begin() + random.below(ways.size()))};
  options.workers = 1 + static_cast<std::uint32_t>(random.below(4));
  options.grain = random.chance(0.5) ? WallSpan::zero() : WallSpan(1us);
  options.disturb = 1 + random.bits() % 1'000'000;
  return run(system, options);
}

TEST(Repeatability, OneDigestOnThreadsHoweverTheyAreDisturbed) {
  System reference = mixed_system(4, 2);
  const FlowOutcome expected = run(reference, {.until = at(length)});
  RandomStream random(1, "repeat");
  for (int i = 0; i < 100; ++i) {
    const FlowOutcome outcome = run_somehow(random, {How::thread, How::pool, How::threads});
    ASSERT_TRUE(outcome.complete) << "run " << i;
    ASSERT_EQ(outcome.digest, expected.digest) << "run " << i;
  }
}

TEST(Repeatability, OneDigestInProcessesHoweverTheyAreDisturbed) {
  System reference = mixed_system(4, 2);
  const FlowOutcome expected = run(reference, {.until = at(length)});
  RandomStream random(2, "repeat");
  for (int i = 0; i < 100; ++i) {
    const FlowOutcome outcome = run_somehow(random, {How::processes, How::tcp});
    ASSERT_TRUE(outcome.complete) << "run " << i;
    ASSERT_EQ(outcome.digest, expected.digest) << "run " << i;
  }
}

TEST(Repeatability, FreeRunningScatters) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    System system = mixed_system(4, 2);
    digests.insert(run(system, {.until = at(2s), .how = How::free, .disturb = i}).digest);
  }
  EXPECT_GT(digests.size(), 1U);
  std::printf("200 runs with time management: 1 result; 20 runs without: %zu results\n", digests.size());
}

}  // namespace
}  // namespace isochron::flow::test
