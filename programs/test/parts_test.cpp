// The smaller parts of the coordinator, each alone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "programs/compute.hpp"
#include "programs/mailbox.hpp"
#include "programs/outcome.hpp"
#include "programs/watcher.hpp"

namespace isochron::programs {
using protocol::anybody;
using protocol::Letter;
using protocol::Mailbox;
namespace {

using namespace std::chrono_literals;
using protocol::Ask;

SimTime at(SimSpan span) { return SimTime::zero() + span; }

TEST(Mailbox, HandsOutInTheOrderOfArrivalNotOfHandingIn) {
  Mailbox box;
  box.put({at(3ms), at(3ms), 1, 0, "", {}});
  box.put({at(2ms), at(2ms), 2, 0, "", {}});
  box.put({at(2ms), at(2ms), 1, 1, "", {}});
  EXPECT_FALSE(box.take(anybody, at(1ms)).has_value());
  EXPECT_EQ(box.take(anybody, at(5ms))->from, 1u);
  EXPECT_EQ(box.take(anybody, at(5ms))->from, 2u);
  EXPECT_EQ(box.first(1), at(3ms));
  EXPECT_EQ(box.first(2), SimTime::never());
}

TEST(Mailbox, ThatNobodyReadsFillsUp) {
  Mailbox box;
  std::uint64_t n = 0;
  while (n < 100'000 && box.put({at(1ms), at(1ms), 0, n, "", {}})) ++n;
  EXPECT_EQ(n, 10'000u);
}

ProgramSpec with(Compute compute, Fraction speed = {}) {
  ProgramSpec spec;
  spec.compute = compute;
  spec.cpu_speed = speed;
  return spec;
}

TEST(ComputeCost, OwesWholeTotalsSoThatNothingIsLostInRounding) {
  ComputeCost cost(with(MeasuredCompute{}, {3, 1}), "a/b");  // three times as fast as this computer
  SimSpan sum;
  for (int i = 1; i <= 1000; ++i) sum += cost.up_to(CpuTime::from_ns(i));
  EXPECT_EQ(sum.ns(), 333);
}

TEST(ComputeCost, AModelledActivationCostsOnceBeforeItsFirstOutput) {
  ModelledCompute model;
  model.cost = 2ms;
  ComputeCost cost(with(model), "a/b");
  EXPECT_EQ(cost.of_request(Ask::wait, false), SimSpan::zero()) << "starting up is free";
  EXPECT_EQ(cost.of_request(Ask::read, false), SimSpan::zero());
  EXPECT_EQ(cost.of_request(Ask::write, false), SimSpan(2ms));
  EXPECT_EQ(cost.of_request(Ask::read, false), SimSpan::zero());
  EXPECT_EQ(cost.of_request(Ask::write, false), SimSpan::zero());
  EXPECT_EQ(cost.of_request(Ask::wait, false), SimSpan::zero());
  EXPECT_EQ(cost.of_request(Ask::wait, false), SimSpan(2ms)) << "an activation without output costs too";
}

TEST(ComputeCost, ABestEffortProgramIsActivatedByWhatItReads) {
  ModelledCompute model;
  model.cost = 2ms;
  ComputeCost cost(with(model, {1, 2}), "a/b");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cost.of_request(Ask::read, true), SimSpan::zero());
    EXPECT_EQ(cost.of_request(Ask::send, true), SimSpan(4ms)) << "on a computer of half the speed";
  }
}

TEST(BoundedText, KeepsBothEndsAndSaysWhatIsLeftOut) {
  BoundedText text(10);
  for (int i = 0; i < 100; ++i) text.add("0123456789", 10);
  EXPECT_EQ(text.text(), "0123456789\n… 980 bytes left out …\n0123456789");
  EXPECT_EQ(text.total(), 1000u);
}

TEST(Watcher, TakesOutputWhileItIsWritten) {
  int line[2];
  ASSERT_EQ(pipe2(line, O_CLOEXEC), 0);
  fcntl(line[0], F_SETFL, O_NONBLOCK);
  protocol::Bell bell;
  Watcher watcher({{"a", line[0], -1}}, bell, 1 << 20, false);
  std::thread writer([&] {
    for (int i = 0; i < 20'000; ++i) ASSERT_EQ(write(line[1], "line of output\n", 15), 15);
    close(line[1]);
  });
  writer.join();
  watcher.finish();
  EXPECT_EQ(watcher.output_size(0), 300'000u);
  close(line[0]);
}

}  // namespace
}  // namespace isochron::programs
