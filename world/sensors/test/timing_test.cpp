// When sensors look, when what they saw is there, and how long asking takes.

#include <gtest/gtest.h>

#include "world/sensors/sensor_set.hpp"
#include "world/sensors/test/sensor_helpers.hpp"

namespace isochron::world {
namespace {

/// A body whose x is the time in seconds: a pose tells of which time it is.
ScriptedEngine clockwork() {
  ScriptedEngine engine;
  engine.add_body("clock", [](double s) { return ScriptedEngine::State{{{{s, 0, 0}, {1, 0, 0, 0}}, {}, {}}, {}, {}}; });
  return engine;
}

double seen_x(const Reading& reading) { return decoded<geometry_msgs::PoseStamped>(reading).pose.position.x; }

TEST(SensorTiming, LooksAtPhasePlusMultiplesOfThePeriod) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(20));
  spec.phase = ms(7);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  std::vector<SimTime> times;
  run_until(engine, nullptr, *sensor, at_ms(100), [&](const Reading& reading) { times.push_back(reading.taken()); });
  EXPECT_EQ(times, (std::vector<SimTime>{at_ms(7), at_ms(27), at_ms(47), at_ms(67), at_ms(87)}));
}

TEST(SensorTiming, AReadingDeliveredAtTIsOfTheWorldAtTMinusLatency) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(1));
  spec.latency = ms(30);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  run_until(engine, nullptr, *sensor, at_ms(200), [](const Reading&) {});
  for (std::int64_t t = 101; t <= 230; ++t) {
    const Reading* reading = sensor->latest_at(at_ms(t));
    ASSERT_NE(reading, nullptr);
    EXPECT_EQ(reading->taken(), at_ms(t - 30));
    EXPECT_EQ(seen_x(*reading), at_ms(t - 30).seconds());
    EXPECT_EQ(decoded<geometry_msgs::PoseStamped>(*reading).header.stamp, at_ms(t - 30));
  }
}

TEST(SensorTiming, NothingIsThereBeforeTheFirstLatencyIsOver) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(10));
  spec.phase = ms(5), spec.latency = ms(12);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  run_until(engine, nullptr, *sensor, at_ms(5), [](const Reading&) {});
  EXPECT_EQ(sensor->latest_at(SimTime::from_ns(16'999'999)), nullptr);
  ASSERT_NE(sensor->latest_at(at_ms(17)), nullptr);
  EXPECT_EQ(sensor->next_available(at_ms(5)), at_ms(17));
  EXPECT_EQ(sensor->next_available(at_ms(17)), SimTime::never());
}

TEST(SensorTiming, JitterDelaysDeliveryWithinItsBoundAndKeepsOrder) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(10));
  spec.latency = ms(5), spec.jitter = ms(8);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  SimTime last;
  std::int64_t least = INT64_MAX, most = 0;
  run_until(engine, nullptr, *sensor, at_ms(10'000), [&](const Reading& reading) {
    const SimSpan extra = reading.available() - reading.taken() - spec.latency;
    EXPECT_GE(reading.available(), last);
    EXPECT_GE(extra, SimSpan::zero());
    EXPECT_LE(extra, spec.jitter);
    least = std::min(least, extra.ns()), most = std::max(most, extra.ns());
    last = reading.available();
  });
  EXPECT_LT(least, 200'000);
  EXPECT_GT(most, 7'800'000);
}

TEST(SensorTiming, DeliveryNeverOvertakes) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(1));
  spec.jitter = ms(50);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  SimTime last;
  run_until(engine, nullptr, *sensor, at_ms(1000), [&](const Reading& reading) {
    EXPECT_GE(reading.available(), last);
    last = reading.available();
  });
}

TEST(SensorTiming, AWorldOfCoarserStepsIsSeenAsItLastWas) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(4));
  spec.latency = ms(1);
  SensorSet sensors({spec}, engine.catalog(), 1);
  std::vector<SimTime> of;
  for (std::int64_t t = 0; t < 40; t += 10) {
    engine.set_time(at_ms(t));
    sensors.take_before(at_ms(t + 10), WorldView(engine),
                        [&](std::size_t, const Reading& reading) { of.push_back(reading.taken()); });
  }
  // Looks at 0 4 8 | 12 16 | 20 24 28 | 32 36, each of the state in force then.
  EXPECT_EQ(of, (std::vector<SimTime>{at_ms(0), at_ms(0), at_ms(0), at_ms(10), at_ms(10), at_ms(20), at_ms(20),
                                      at_ms(20), at_ms(30), at_ms(30)}));
}

TEST(SensorTiming, WhoeverAsksWaitsForTheAcquisition) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(1));
  spec.acquire = ms(37), spec.latency = ms(3);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  EXPECT_EQ(sensor->acquisition(), ms(37));
  const SimTime ready = sensor->ask(at_ms(50));
  EXPECT_EQ(ready, at_ms(87));
  run_until(engine, nullptr, *sensor, at_ms(90), [](const Reading&) {});
  EXPECT_EQ(sensor->latest_at(ready)->taken(), at_ms(84));
}

TEST(SensorTiming, AcquisitionHasAJitterOfItsOwn) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(10));
  spec.acquire = ms(30), spec.jitter = ms(4);
  const auto asked = make_sensor(spec, engine.catalog(), 1);
  const auto quiet = make_sensor(spec, engine.catalog(), 1);
  SimSpan sum;
  for (int i = 0; i < 1000; ++i) {
    const SimSpan span = asked->acquisition();
    ASSERT_GE(span, ms(30));
    ASSERT_LE(span, ms(34));
    sum += span;
  }
  EXPECT_NEAR(sum.seconds() / 1000, 0.032, 0.0002);
  std::vector<SimTime> a, b;
  run_until(engine, nullptr, *asked, at_ms(500), [&](const Reading& reading) { a.push_back(reading.available()); });
  run_until(engine, nullptr, *quiet, at_ms(500), [&](const Reading& reading) { b.push_back(reading.available()); });
  EXPECT_EQ(a, b) << "asking must not change when readings are delivered";
}

TEST(SensorTiming, ASensorWithoutAPeriodLooksWhenAsked) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", SimSpan::zero());
  spec.acquire = ms(37), spec.latency = ms(10);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  EXPECT_EQ(sensor->next_sample(), SimTime::never());
  for (const std::int64_t asked : {100, 500, 537, 1000}) {
    const SimTime ready = sensor->ask(at_ms(asked));
    EXPECT_EQ(ready, at_ms(asked + 37));
    EXPECT_EQ(sensor->next_sample(), at_ms(asked + 27));
    EXPECT_EQ(sensor->ask(at_ms(asked + 1)), ready) << "a second one gets the same reading";
    engine.set_time(at_ms(asked + 27));
    ASSERT_NE(sensor->take(WorldView(engine)), nullptr);
    EXPECT_EQ(sensor->latest_at(ready)->taken(), at_ms(asked + 27));
    EXPECT_EQ(sensor->next_sample(), SimTime::never());
  }
}

TEST(SensorTiming, KeepsReadingsForThoseWhoAreBehind) {
  auto engine = clockwork();
  auto spec = on_body(SensorType::pose, "clock", ms(5));
  spec.keep = ms(50), spec.latency = ms(5);
  const auto sensor = make_sensor(spec, engine.catalog(), 1);
  run_until(engine, nullptr, *sensor, at_ms(1000), [](const Reading&) {});
  ASSERT_NE(sensor->latest_at(at_ms(950)), nullptr);
  EXPECT_EQ(sensor->latest_at(at_ms(950))->taken(), at_ms(945));
  EXPECT_EQ(sensor->latest_at(at_ms(500)), nullptr) << "long gone";
}

TEST(SensorSet, TellsWhoLooksNextAndRefusesTwoOfOneName) {
  auto engine = clockwork();
  auto a = on_body(SensorType::pose, "clock", ms(10), "a");
  auto b = on_body(SensorType::pose, "clock", ms(15), "b");
  b.phase = ms(3);
  SensorSet sensors({a, b}, engine.catalog(), 1);
  EXPECT_EQ(sensors.next_sample(), SimTime::zero());
  EXPECT_FALSE(sensors.needs_scene());
  std::vector<std::size_t> order;
  for (std::int64_t t = 0; t < 30; ++t) {
    engine.set_time(at_ms(t));
    sensors.take_before(at_ms(t + 1), WorldView(engine), [&](std::size_t i, const Reading&) { order.push_back(i); });
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(sensors.find("robot", "b"), &sensors[1]);
  EXPECT_EQ(sensors.find("robot", "c"), nullptr);
  b.name = "a";
  EXPECT_THROW(SensorSet({a, b}, engine.catalog(), 1), InputError);
}

}  // namespace
}  // namespace isochron::world
