#include <gtest/gtest.h>

#include <random>

#include "rt/disciplined_loop.hpp"
#include "rt/test/manual_clock.hpp"

namespace isochron::rt {
namespace {

using namespace std::chrono_literals;

// A device whose clock runs at another rate and started at another time than ours.
struct Device {
  double ppm;
  nanoseconds started;
  [[nodiscard]] nanoseconds at(MonotonicTime t) const {
    const auto ours = static_cast<double>(t.time_since_epoch().count());
    return started + nanoseconds(std::llround(ours * (1 + ppm * 1e-6)));
  }
};

struct DisciplinedLoopTest : testing::Test {
  ManualClock::State state;
  BasicDisciplinedLoop<ManualClock> loop{{.period = 1ms, .offset = 300us}, {}, ManualClock(state)};

  void run(const Device& device, int cycles, nanoseconds jitter = 0ns) {
    std::mt19937 random(3);
    std::uniform_int_distribution<long> noise(0, jitter.count());
    for (int i = 0; i < cycles; ++i) {
      loop.wait();
      state.now += 20us;  // until the device's clock is read
      loop.observe(device.at(state.now) + nanoseconds(noise(random)));
      state.now += 100us;
    }
  }
  nanoseconds phase(const Device& device) { return device.at(loop.release()) % nanoseconds(1ms); }
};

TEST_F(DisciplinedLoopTest, LocksOntoAFasterDevice) {
  const Device device{80, 123'456ns};
  run(device, 3000);
  EXPECT_TRUE(loop.lock().locked());
  EXPECT_NEAR(static_cast<double>(phase(device).count()), 300e3, 200);
  EXPECT_NEAR(loop.lock().drift_ppm(), 80, 2);
}

TEST_F(DisciplinedLoopTest, LocksOntoASlowerDeviceFromTheOppositePhase) {
  const Device device{-5000, 800'000ns};
  run(device, 3000);
  EXPECT_TRUE(loop.lock().locked());
  EXPECT_NEAR(static_cast<double>(phase(device).count()), 300e3, 500);
}

TEST_F(DisciplinedLoopTest, DampsTheJitterOfReadings) {
  const Device device{50, 0ns};
  run(device, 5000, 50us);
  // The mean of the jitter is a shift that no loop can see; what is left is far below the jitter itself.
  EXPECT_NEAR(static_cast<double>(phase(device).count()), 275e3, 15e3);
  EXPECT_NEAR(loop.lock().drift_ppm(), 50, 400);
}

TEST_F(DisciplinedLoopTest, CoastsOnTheLearnedDriftWithoutReadings) {
  const Device device{100, 0ns};
  run(device, 5000);
  for (int i = 0; i < 1000; ++i) loop.wait();  // undisciplined it would be 100 µs off by now
  EXPECT_NEAR(static_cast<double>(phase(device).count()), 300e3, 5e3);
}

TEST_F(DisciplinedLoopTest, IsNotLockedBeforeItConverged) {
  run({80, 900'000ns}, 5);
  EXPECT_FALSE(loop.lock().locked());
}

TEST(DisciplinedLoop, ReportsMissedDeadlines) {
  ManualClock::State state;
  std::vector<MissedDeadline> missed;
  BasicDisciplinedLoop<ManualClock> loop(
      {.period = 1ms}, [&](const MissedDeadline& m) { missed.push_back(m); }, ManualClock(state));
  for (int i = 0; i < 5; ++i) {
    loop.wait();
    state.now += i == 3 ? 2500us : 200us;
  }
  ASSERT_EQ(missed.size(), 1U);
  EXPECT_EQ(missed[0].by, 1500us);
  EXPECT_EQ(missed[0].count, 1U);
  EXPECT_EQ(loop.missed(), 1U);
}

TEST(PhaseLock, NeverCorrectsByMoreThanItMay) {
  PhaseLock lock({.period = 1ms, .most_correction = 10us});
  std::mt19937_64 random(5);
  for (int i = 0; i < 10'000; ++i) {
    const nanoseconds c = lock.correct(nanoseconds(static_cast<std::int64_t>(random() % 1'000'000'000)));
    ASSERT_LE(std::chrono::abs(c), 10us);
    ASSERT_LE(std::chrono::abs(lock.error()), 500us);
  }
}

}  // namespace
}  // namespace isochron::rt
