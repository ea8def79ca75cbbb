// Programs that reach past libc: system calls by themselves, the vDSO, the processor's counter; and those that reach out
// of the run.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "link/fd.hpp"
#include "programs/test/stack_support.hpp"

namespace isochron::programs {
namespace {

RobotSpec raw(const std::string& what, Compute compute, CounterUse counter = CounterUse::host,
              const std::string& number = "") {
  ProgramSpec program = stack("raw", {RAW_PROGRAM, what, number}, std::move(compute));
  program.counter = counter;
  return {"robot", 1, {}, {program}};
}

#if defined(__x86_64__)

TEST(RawCalls, ClocksAndSleepsAreSimulated) {
  const auto before = std::chrono::steady_clock::now();
  for (const Compute& compute : {Compute(model), Compute(MeasuredCompute{}), Compute(ZeroCompute{})}) {
    const StackRun run = run_stacks({raw("clocks", compute)}, seconds(60));
    EXPECT_EQ(run.output, "slept 5\nvdso 5\n") << run.faults << run.outcome.why_ended;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - before, seconds(10));
}

TEST(RawCalls, TimeLimitsPassInSimulatedTime) {
  const StackRun run = run_stacks({raw("limits", model)}, seconds(60));
  EXPECT_EQ(run.output, "futex -110 after 5\n") << run.faults << run.outcome.why_ended;
}

TEST(RawCalls, ChildrenPipesAndExecutionTakePart) {
  const StackRun run = run_stacks({raw("family", model)}, seconds(60));
  EXPECT_EQ(run.output, "hello 5 after 1, 3 of 1001\n5\n") << run.faults << run.outcome.why_ended;
  EXPECT_EQ(run.digest, run_stacks({raw("family", model)}, seconds(60)).digest);
}

TEST(RawCalls, AreCaughtInEveryThread) {
  const StackRun run = run_stacks({raw("threads", model)}, seconds(60));
  EXPECT_EQ(run.output, "thread 1\nthread 2\nthread 3\n") << run.faults << run.outcome.why_ended;
}

TEST(RawCalls, AreCaughtWhileAllSignalsAreBlocked) {
  const StackRun run = run_stacks({raw("blocked", model)}, seconds(60));
  EXPECT_EQ(run.output, "slept 4\n") << run.faults << run.outcome.why_ended;
}

TEST(RawCalls, OfAProgramThatIsNoStackAreCaughtToo) {
  RobotSpec robot = raw("clocks", model);
  robot.programs[0].stack = false;
  const StackRun run = run_stacks({robot}, seconds(60));
  EXPECT_EQ(run.output, "slept 5\nvdso 5\n") << run.faults << run.outcome.why_ended;
}

TEST(RawCalls, CountAndShowTheSimulatedTime) {
  for (const Compute& compute : {Compute(model), Compute(MeasuredCompute{})}) {
    const StackRun run = run_stacks({raw("counter", compute, CounterUse::simulated)}, seconds(60));
    EXPECT_EQ(run.output, "3 seconds at 1 GHz\n") << run.faults << run.outcome.why_ended;
  }
}

TEST(RawCalls, AProgramThatMayNotReadTheCounterIsEndedByName) {
  const StackRun run = run_stacks({raw("counter", model, CounterUse::refused)}, seconds(60));
  EXPECT_NE(run.output.find("rdtsc"), std::string::npos) << run.output;
  EXPECT_NE(run.faults.find("rdtsc"), std::string::npos) << run.faults;
}

TEST(RawCalls, WhatIsExecutedMayReadTheCounterWhileItIsLoaded) {
  ProgramSpec program = stack("shell", {"/bin/bash", "-c", "sleep 1; date +%s | cat"}, model);
  program.counter = CounterUse::simulated;
  const StackRun run = run_stacks({{"robot", 1, {}, {program}}}, seconds(60));
  EXPECT_EQ(run.output, "1\n") << run.faults << run.outcome.why_ended;
}

#endif

/// Somebody outside of the run, who greets whoever connects.
class Outsider {
 public:
  Outsider() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener_.get(), 1);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    greeter_ = std::thread([this] {
      const link::Fd one(accept(listener_.get(), nullptr, nullptr));
      if (one.open()) {
        EXPECT_EQ(send(one.get(), "welcome", 7, MSG_NOSIGNAL), 7);
      }
    });
  }
  ~Outsider() {
    shutdown(listener_.get(), SHUT_RDWR);
    greeter_.join();
  }
  Outsider(const Outsider&) = delete;
  Outsider& operator=(const Outsider&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  link::Fd listener_;
  std::uint16_t port_ = 0;
  std::thread greeter_;
};

StackRun run_towards(const Outsider& outsider, std::vector<OutsideSpec> listed) {
  return run_stacks({raw("connects", MeasuredCompute{}, CounterUse::host, std::to_string(outsider.port()))}, seconds(5),
                    {}, std::move(listed));
}

TEST(Outside, WhoIsListedIsReachedAndNamed) {
  const Outsider outsider;
  const StackRun run = run_towards(outsider, {{"greeter:80", 0x7f000001, outsider.port(), true}});
  EXPECT_EQ(run.output, "0 7 welcome\n") << run.faults << run.outcome.why_ended;
  EXPECT_NE(run.faults.find("connects to greeter:80"), std::string::npos) << run.faults;
}

TEST(Outside, WhoIsNotListedIsNotReached) {
  const Outsider outsider;
  EXPECT_EQ(run_towards(outsider, {}).output, "-111 0 \n");
}

TEST(Outside, ARunThatMustRepeatRefusesWithCallAndAddress) {
  const Outsider outsider;
  const StackRun run = run_towards(outsider, {{"greeter:80", 0x7f000001, outsider.port(), false}});
  EXPECT_EQ(run.output, "-101 0 \n");
  EXPECT_NE(run.faults.find("raw at"), std::string::npos) << run.faults;
  EXPECT_NE(run.faults.find("connects to greeter:80 (127.0.0.1:"), std::string::npos) << run.faults;
}

}  // namespace
}  // namespace isochron::programs
