#include <gtest/gtest.h>

#include "rt/ring.hpp"
#include "rt/test/interleavings.hpp"

namespace isochron::rt::check {
namespace {

template <class Atomics, std::size_t Capacity>
using SmallRing = BasicRing<Plain, InlineSlots<Plain, Capacity>, Atomics>;

// The producer writes 1, 2, … while there is room; the consumer takes what it sees; whatever is left is taken at the
// end.
template <class Atomics, std::size_t Capacity>
Exploration one_by_one(int pushes, int polls) {
  return explore([=](Execution& run) {
    struct State {
      SmallRing<Atomics, Capacity> ring;
      int pushed = 0, taken = 0;
    };
    auto s = std::make_shared<State>();
    const auto take = [s] {
      Plain value;
      while (s->ring.pop(value)) demand(value.get() == ++s->taken, "elements come in order, none twice");
    };
    run.thread([=] {
      for (int i = 0; i < pushes; ++i) s->pushed += s->ring.push(Plain(s->pushed + 1)) ? 1 : 0;
    });
    run.thread([=] {
      Plain value;
      for (int i = 0; i < polls; ++i) {
        if (s->ring.pop(value)) demand(value.get() == ++s->taken, "elements come in order, none twice");
      }
    });
    run.finally([=] {
      take();
      demand(s->taken == s->pushed, "every pushed element is taken");
      demand(s->pushed >= static_cast<int>(Capacity), "an empty ring takes as many as it has slots");
    });
  });
}

TEST(RingInterleavings, OneByOneThroughOneSlot) {
  const Exploration outcome = one_by_one<ModelAtomics, 1>(6, 6);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 1000U);
  RecordProperty("executions", static_cast<int>(outcome.executions));
}

TEST(RingInterleavings, OneByOneThroughTwoSlots) {
  const Exploration outcome = one_by_one<ModelAtomics, 2>(5, 5);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 10000U);
  RecordProperty("executions", static_cast<int>(outcome.executions));
}

TEST(RingInterleavings, BatchesPeekAndFlush) {
  const Exploration outcome = explore([](Execution& run) {
    struct State {
      SmallRing<ModelAtomics, 4> ring;
      int pushed = 0, taken = 0;
    };
    auto s = std::make_shared<State>();
    run.thread([s] {
      for (int batch = 0; batch < 3; ++batch) {
        for (Plain& slot : s->ring.next(2)) slot.set(++s->pushed);
        if (Plain* slot = s->ring.next()) slot->set(++s->pushed);
        s->ring.commit();
      }
    });
    run.thread([s] {
      for (int batch = 0; batch < 3; ++batch) {
        if (Plain* slot = s->ring.peek()) demand(slot->get() == s->taken + 1, "peek shows what take takes");
        for (Plain& slot : s->ring.take(2)) demand(slot.get() == ++s->taken, "in order");
        if (Plain* slot = s->ring.take()) demand(slot->get() == ++s->taken, "in order");
        s->ring.flush();
      }
    });
    run.finally([s] {
      while (Plain* slot = s->ring.take()) demand(slot->get() == ++s->taken, "in order");
      demand(s->taken == s->pushed, "every committed element is taken");
    });
  });
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 10000U);
  RecordProperty("executions", static_cast<int>(outcome.executions));
}

TEST(RingInterleavings, WithoutReleaseAndAcquireTheCheckerFindsTheRace) {
  const Exploration outcome = one_by_one<WeakenedAtomics, 2>(3, 3);
  EXPECT_NE(outcome.failure.find("a data race"), std::string::npos);
}

}  // namespace
}  // namespace isochron::rt::check
