#include "examples/uav/uav.hpp"

#include <gtest/gtest.h>

#include "flow/run.hpp"

namespace uav {
namespace {

flow::Options options_for(flow::How how, SimSpan length) {
  flow::Options options;
  options.how = how;
  options.until = SimTime::zero() + length;
  return options;
}

TEST(Uav, FliesItsSquareInTheWind) {
  flow::System system = make_uav();
  ASSERT_TRUE(flow::run(system, options_for(flow::How::thread, 40s)).complete);
  EXPECT_GE(static_cast<Mission&>(system.node(5)).reached, 8) << "twice round";
}

TEST(Uav, FliesTheSamePathHoweverItIsRun) {
  flow::System one = make_uav();
  const auto expected = flow::run(one, options_for(flow::How::thread, 1s));
  for (const auto how : {flow::How::pool, flow::How::threads, flow::How::processes, flow::How::tcp}) {
    flow::System system = make_uav();
    const auto outcome = flow::run(system, options_for(how, 1s));
    EXPECT_TRUE(outcome.complete) << to_string(how);
    EXPECT_EQ(outcome.flow_digests, expected.flow_digests) << to_string(how);
  }
}

TEST(Uav, FliesAnotherPathInOtherWind) {
  flow::System one = make_uav(1);
  flow::System other = make_uav(2);
  EXPECT_NE(flow::run(one, options_for(flow::How::thread, 1s)).digest,
            flow::run(other, options_for(flow::How::thread, 1s)).digest);
}

}  // namespace
}  // namespace uav
