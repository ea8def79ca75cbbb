#include <gtest/gtest.h>

#include "rt/multi_producer_ring.hpp"
#include "rt/test/interleavings.hpp"

namespace isochron::rt::check {
namespace {

// Producer p writes 10 p + 1, 10 p + 2, …; the consumer checks that each producer's come in order, none lost.
template <class Atomics>
struct State {
  BasicMultiProducerRing<Plain, InlineSlots<TurnSlot<Plain, Atomics>, 2>, Atomics> ring;
  int pushed[3] = {}, taken[3] = {};

  void push(int producer) {
    if (ring.push(Plain(10 * producer + pushed[producer] + 1))) ++pushed[producer];
  }
  void pop() {
    Plain value;
    if (!ring.pop(value)) return;
    const int producer = value.get() / 10;
    demand(value.get() % 10 == ++taken[producer], "one producer's elements come in order, none twice");
  }
};

template <class Atomics>
Exploration produce(std::vector<int> pushes, int polls) {
  return explore(
      [=](Execution& run) {
        auto s = std::make_shared<State<Atomics>>();
        for (int p = 0; p < static_cast<int>(pushes.size()); ++p) {
          run.thread([=] {
            for (int i = 0; i < pushes[static_cast<std::size_t>(p)]; ++i) s->push(p);
          });
        }
        run.thread([=] {
          for (int i = 0; i < polls; ++i) s->pop();
        });
        run.finally([=] {
          for (int i = 0; i < 4; ++i) s->pop();
          for (int p = 0; p < 3; ++p) demand(s->taken[p] == s->pushed[p], "every pushed element is taken");
        });
      },
      {.steps_per_thread = 30});
}

TEST(MultiProducerRingInterleavings, OneProducerWrapsAround) {
  const Exploration outcome = produce<ModelAtomics>({6}, 5);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 1000U);
  RecordProperty("executions", static_cast<int>(outcome.executions));
  EXPECT_EQ(outcome.pruned, 0U);  // no retry loop was cut: all of it was tried
}

TEST(MultiProducerRingInterleavings, TwoProducersLoseNothing) {
  const Exploration outcome = produce<ModelAtomics>({2, 2}, 2);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 10000U);
  RecordProperty("executions", static_cast<int>(outcome.executions));
  EXPECT_EQ(outcome.pruned, 0U);  // no retry loop was cut: all of it was tried
}

TEST(MultiProducerRingInterleavings, ThreeProducersFightForTheLastSlot) {
  const Exploration outcome = produce<ModelAtomics>({1, 1, 1}, 1);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 10000U);
  RecordProperty("executions", static_cast<int>(outcome.executions));
  EXPECT_EQ(outcome.pruned, 0U);  // no retry loop was cut: all of it was tried
}

TEST(MultiProducerRingInterleavings, WithoutReleaseAndAcquireTheCheckerFindsTheRace) {
  const Exploration outcome = produce<WeakenedAtomics>({1, 1}, 2);
  EXPECT_NE(outcome.failure.find("a data race"), std::string::npos);
}

}  // namespace
}  // namespace isochron::rt::check
