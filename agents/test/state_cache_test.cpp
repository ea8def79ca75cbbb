#include "agents/state_cache.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "agents/state.pb.h"

namespace isochron::agents {
namespace {

using namespace std::chrono_literals;

SimTime at(std::int64_t ms) { return SimTime::from_ns(ms * 1'000'000); }

class StateCacheTest : public ::testing::Test {
 protected:
  StateCacheTest() {
    wire::WorldInfo world;
    world.set_heartbeat_ns(5'000'000);
    world.set_epoch(9);
    cache.joined(7, world);
  }
  wire::Down down(std::int64_t minimum_ms, bool outside = false) {
    wire::Down down;
    down.set_tick(++tick);
    down.set_minimum_ns(minimum_ms * 1'000'000);
    down.set_outside(outside);
    down.set_begin_at_ns(INT64_MIN);
    return down;
  }
  void enter(wire::Down& down, const std::string& name, Connection connection, std::uint64_t arrival = 1) {
    auto& notice = *down.add_notices();
    notice.set_number(++notices);
    notice.mutable_enter()->set_connection(connection);
    notice.mutable_enter()->set_generation(1);
    notice.mutable_enter()->set_arrival(arrival);
    notice.mutable_enter()->set_name(name);
  }
  void state(wire::Down& down, Connection connection, std::int64_t ms, const BodyState& body) {
    auto& entry = *down.add_agents();
    entry.set_connection(connection);
    entry.set_generation(1);
    entry.set_sequence(++sequence);
    entry.set_sim_time_ns(ms * 1'000'000);
    *entry.mutable_state() = to_any(body);
  }
  StateCache cache;
  std::uint64_t tick = 0, notices = 0, sequence = 0;
};

TEST_F(StateCacheTest, PassesWhileNobodyIsMoreThanTwoHeartbeatsBehind) {
  EXPECT_FALSE(cache.may_pass(at(0))) << "it is not in the world yet";
  cache.take(down(20));
  EXPECT_TRUE(cache.may_pass(at(30)));
  EXPECT_FALSE(cache.may_pass(at(31)));
  cache.take(down(20, true));
  EXPECT_FALSE(cache.may_pass(at(0))) << "shot down";
}

TEST_F(StateCacheTest, TheNewestWordAboutTimeCountsHoweverDatagramsArrive) {
  auto old = down(10), newer = down(20);
  cache.take(newer);
  cache.take(old);
  EXPECT_EQ(cache.minimum(), at(20));
}

TEST_F(StateCacheTest, InterpolatesBetweenStampsAndGoesOnBeyondThem) {
  auto first = down(0);
  enter(first, "car", 3);
  state(first, 3, 0, {.position = {0, 0, 0}, .linear = {10, 0, 0}});
  state(first, 3, 10, {.position = {0.1, 0, 0}, .linear = {10, 0, 0}, .angular = {0, 0, 1}});
  cache.take(first);
  const auto between = cache.at("car", at(5));
  ASSERT_TRUE(between && between->body);
  EXPECT_NEAR(between->body->position[0], 0.05, 1e-12);
  EXPECT_FALSE(between->extrapolated);
  const auto beyond = cache.at("car", at(30));
  EXPECT_NEAR(beyond->body->position[0], 0.3, 1e-12);
  EXPECT_TRUE(beyond->extrapolated);
  EXPECT_EQ(beyond->age, SimSpan(20ms));
  EXPECT_NEAR(2 * std::atan2(beyond->body->orientation[3], beyond->body->orientation[0]), 0.02, 1e-12);
}

TEST(BodyState, GoesOutAsProtobufWritesItAndComesBackHoweverItWasWritten) {
  const BodyState body{{1, -2, 3e9}, {0.5, 0.5, -0.5, 0.5}, {4, 5, 6}, {-7, 0, 1e-9}};
  state::Body message;
  message.mutable_position()->Assign(body.position.begin(), body.position.end());
  message.mutable_orientation()->Assign(body.orientation.begin(), body.orientation.end());
  message.mutable_linear()->Assign(body.linear.begin(), body.linear.end());
  message.mutable_angular()->Assign(body.angular.begin(), body.angular.end());
  Any any = to_any(body);
  EXPECT_EQ(any.value(), message.SerializeAsString());
  EXPECT_EQ(any.type_url(), to_any(message).type_url());
  const std::string tail("\x28\x01", 2);  // a field that a later version might have
  for (const std::string& more : {std::string(), tail}) {
    any.set_value(message.SerializeAsString() + more);
    const auto back = body_of(any);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->position, body.position);
    EXPECT_EQ(back->orientation, body.orientation);
    EXPECT_EQ(back->linear, body.linear);
    EXPECT_EQ(back->angular, body.angular);
  }
  any = to_any(BodyState{.position = {std::nan(""), 0, 0}});
  EXPECT_FALSE(body_of(any)) << "a place that is no number";
  any.set_value("\x0a");
  EXPECT_FALSE(body_of(any));
}

TEST_F(StateCacheTest, InterpolationMeetsItsEndsAndTurnsTheShortWay) {
  const BodyState a{.position = {1, 2, 3}, .orientation = {1, 0, 0, 0}, .linear = {1, 0, 0}};
  const BodyState b{.position = {2, 2, 3}, .orientation = {-std::cos(0.5), 0, 0, -std::sin(0.5)}, .linear = {0, 1, 0}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(interpolate(a, at(0), b, at(100), at(0)).position[i], a.position[i], 1e-12);
    EXPECT_NEAR(interpolate(a, at(0), b, at(100), at(100)).position[i], b.position[i], 1e-12);
  }
  const Quat half = interpolate(a, at(0), b, at(100), at(50)).orientation;
  EXPECT_NEAR(std::abs(half[0]), std::cos(0.25), 1e-12);
}

TEST_F(StateCacheTest, ShutDownRemovesAndLateStatesDoNotBringBack) {
  auto first = down(0);
  enter(first, "car", 3);
  state(first, 3, 0, {});
  cache.take(first);
  EXPECT_NE(cache.find("car"), nullptr);
  auto second = down(0);
  auto& notice = *second.add_notices();
  notice.set_number(++notices);
  notice.mutable_shut_down()->set_connection(3);
  notice.mutable_shut_down()->set_generation(1);
  state(second, 3, 5, {});
  cache.take(second);
  EXPECT_EQ(cache.find("car"), nullptr);
  auto late = down(0);
  state(late, 3, 10, {});
  cache.take(late);
  EXPECT_EQ(cache.size(), 0U);
}

TEST_F(StateCacheTest, OfTwoWithOneNameTheLaterArrivalIsMeant) {
  auto first = down(0);
  enter(first, "car", 3, 1);
  enter(first, "car", 4, 2);
  state(first, 4, 0, {});
  cache.take(first);
  ASSERT_NE(cache.find("car"), nullptr);
  EXPECT_EQ(cache.find("car")->key.connection, 4U);
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(StateCacheTest, NoticesAreTakenInOrderEachOnce) {
  auto first = down(0);
  enter(first, "a", 3);
  auto second = down(0);
  enter(second, "b", 4);
  cache.take(second);
  EXPECT_EQ(cache.size(), 0U) << "the one before it is missing";
  cache.take(first);
  cache.take(second);
  cache.take(second);
  EXPECT_EQ(cache.counts().entered, 2U);
}

TEST_F(StateCacheTest, PacksEverythingIntoDatagramsThatFit) {
  for (int i = 0; i < 50; ++i) {
    const auto agent = cache.add("agent" + std::to_string(i), {}, to_any(BodyState{}).type_url());
    cache.publish(agent, at(5), BodyState{});
  }
  cache.reached(at(5));
  cache.begin_packing({WallTime::zero(), WallSpan(1s)});
  wire::Up up;
  int described = 0, states = 0;
  std::int64_t last = 0;
  while (cache.pack(up, 1000)) {
    EXPECT_LE(up.ByteSizeLong(), 1000U);
    last = up.progress_ns();
    described += up.notices_size();
    states += up.agents_size();
  }
  EXPECT_EQ(described, 50);
  EXPECT_EQ(states, 50);
  EXPECT_EQ(last, 5'000'000) << "progress is told with the last of its states";
  cache.begin_packing({WallTime::zero(), WallSpan(1s)});
  EXPECT_TRUE(cache.pack(up, 1000)) << "one that says we are there";
  EXPECT_EQ(up.agents_size(), 0) << "all was sent";
}

}  // namespace
}  // namespace isochron::agents
