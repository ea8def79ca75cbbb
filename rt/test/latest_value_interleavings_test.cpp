#include <gtest/gtest.h>

#include <algorithm>

#include "rt/latest_value.hpp"
#include "rt/test/interleavings.hpp"

namespace isochron::rt::check {
namespace {

struct Watch {
  int most_write_steps = 0, most_read_steps = 0;
};

template <class Atomics>
Exploration write_and_read(int writes, int reads, Watch* watch = nullptr) {
  return explore([=](Execution& run) {
    struct State {
      LatestValue<Plain, Atomics> latest;
      int last_read = 0;
    };
    auto s = std::make_shared<State>();
    run.thread([=] {
      for (int i = 1; i <= writes; ++i) {
        const int before = steps();
        s->latest.write(Plain(i));
        if (watch) watch->most_write_steps = std::max(watch->most_write_steps, steps() - before);
      }
    });
    run.thread([=] {
      for (int i = 0; i < reads; ++i) {
        const int before = steps();
        const Plain* value = s->latest.read();
        if (watch) watch->most_read_steps = std::max(watch->most_read_steps, steps() - before);
        if (value == nullptr) {
          demand(s->last_read == 0, "once there is a value there always is");
          continue;
        }
        demand(value->get() >= s->last_read && value->get() <= writes, "never older than the one before");
        s->last_read = value->get();
      }
    });
    run.finally([=] {
      const Plain* value = s->latest.read();
      demand(value != nullptr && value->get() == writes, "at rest the last value written is read");
      demand(s->latest.read_new() == nullptr, "and it is new only once");
      demand(s->latest.read() == value, "a read without news gives the same value again");
    });
  });
}

TEST(LatestValueInterleavings, IsWholeNeverOlderAndNeverLost) {
  const Exploration outcome = write_and_read<ModelAtomics>(6, 5);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.executions, 10000U);
  RecordProperty("executions", static_cast<int>(outcome.executions));
}

TEST(LatestValueInterleavings, TakesABoundedNumberOfStepsWhateverTheOtherSideDoes) {
  Watch watch;
  const Exploration outcome = write_and_read<ModelAtomics>(4, 4, &watch);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(outcome.pruned, 0U);
  EXPECT_EQ(watch.most_write_steps, 1);
  EXPECT_EQ(watch.most_read_steps, 2);
}

TEST(LatestValueInterleavings, WithoutReleaseAndAcquireTheCheckerFindsTheRace) {
  const Exploration outcome = write_and_read<WeakenedAtomics>(3, 3);
  EXPECT_NE(outcome.failure.find("a data race"), std::string::npos);
}

}  // namespace
}  // namespace isochron::rt::check
