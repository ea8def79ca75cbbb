// The whole host on a simulated network: targets that compute, late links, broken connections, strangers.

#include <gtest/gtest.h>

#include "core/foreign_text.hpp"
#include "programs/board/boards.hpp"
#include "programs/board/test/sim_target.hpp"
#include "programs/coordinator.hpp"
#include "testing/reactor.hpp"
#include "testing/seeds.hpp"

namespace isochron::programs {
namespace {

using namespace std::chrono_literals;
using protocol::Verdict;

const Address host = Address::v4(10, 0, 0, 1, 7410);

SimTime ms(std::int64_t n) { return SimTime::zero() + SimSpan(std::chrono::milliseconds(n)); }

Address board(int i) { return Address::v4(10, 0, 1, static_cast<std::uint8_t>(i + 1), 0); }

struct Options : BoardOptions {
  std::optional<PaceRate> pace;
};

/// A whole run with boards only, as a task of the simulated machine.
struct Rig {
  explicit Rig(std::uint64_t seed, std::vector<std::string> names = {"uav/pilot"}, Options options = {},
               OnLoss on_loss = OnLoss::pause, Runs runs = Runs::held)
      : scheduler(seed), network(scheduler), reactor(network, host), plant(10ms) {
    std::vector<TargetSpec> targets;
    for (const std::string& name : names) targets.push_back({name, "uav", ReleaseTerms{}, "", 8, on_loss, runs});
    options.on_hold = [this](const Hold& hold) { holds.push_back(hold); };
    boards.emplace(reactor, targets, options);
    EXPECT_TRUE(boards->listen(host).ok());
    CoordinatorOptions how;
    how.boards = &*boards;
    how.pace = options.pace;
    coordinator.emplace(plant, std::vector<RobotSpec>{}, how, &recorder);
    scheduler.spawn("host", [this] {
      outcome = coordinator->run(ms(1000));
      over = true;
      while (true) reactor.poll(reactor.now() + WallSpan(1s));  // who asks later is told that it is over
    });
  }
  bool run(WallSpan limit = 100s) {
    return scheduler.run_until([this] { return over; }, limit);
  }
  Scheduler scheduler;
  SimulatedNetwork network;
  SimulatedReactor reactor;
  CountingPlant plant;
  MemoryRecorder recorder;
  std::vector<Hold> holds;
  std::optional<Boards> boards;
  std::optional<Coordinator> coordinator;
  RunOutcome outcome;
  bool over = false;
};

TEST(Boards, AnswersAreStampedWithWhatTheTargetExecutedWhateverTheLinkTook) {
  EXPECT_EVERY_SEED(30, [](std::uint64_t seed) {
    Rig rig(seed);
    rig.network.set_quality({.delay_min = 300us, .delay_max = 2ms});
    SimulatedReactor machine(rig.network, board(0));
    SimTarget target(machine, host, "uav/pilot", {SimTarget::read(25ms), SimTarget::read(5ms), SimTarget::read(0ms)});
    ASSERT_TRUE(rig.run());
    ASSERT_EQ(target.saw.size(), 3U);
    EXPECT_EQ(target.saw[0].at, ms(25)) << "seed " << seed;
    EXPECT_EQ(target.saw[0].value, 2) << "two steps of 10 ms";
    EXPECT_EQ(target.saw[1].at, ms(30));
    EXPECT_EQ(target.saw[1].value, 3);
    EXPECT_EQ(target.saw[2].at, ms(30) + SimSpan(1us)) << "nothing is free";
    EXPECT_TRUE(rig.boards->all_left());
  });
}

TEST(Boards, CommandsActAtTheTimeTheyWereSentNotBefore) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot",
                   {SimTarget::write(25ms, 7), SimTarget::wait(0ms, 50ms), SimTarget::wait(0ms, 50ms)});
  ASSERT_TRUE(rig.run());
  EXPECT_EQ(rig.plant.written, (std::vector<std::pair<SimTime, double>>{{ms(25), 7}}));
}

TEST(Boards, AcquiringAReadingTakesTheTimeThatTheSensorTakes) {
  Rig rig(1);
  rig.network.set_quality({.delay_min = 5ms, .delay_max = 9ms});
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", {SimTarget::read(10ms, 2), SimTarget::read(0ms, 2)});
  ASSERT_TRUE(rig.run());
  EXPECT_EQ(target.saw[0].at, ms(47));
  EXPECT_EQ(target.saw[1].at, ms(84) + SimSpan(1us));
}

TEST(Boards, TargetsAreOrderedByTheirTimeThoughTheirLinksDiffer) {
  EXPECT_EVERY_SEED(30, [](std::uint64_t seed) {
    Rig rig(seed, {"uav/slow", "uav/fast"});
    rig.network.set_quality({.delay_min = 10us, .delay_max = 20us});
    rig.network.set_quality(host, board(0), {.delay_min = 3ms, .delay_max = 4ms});
    SimulatedReactor far(rig.network, board(0)), near(rig.network, board(1));
    std::deque<SimTarget::Step> steps;
    for (int i = 0; i < 20; ++i) steps.push_back(SimTarget::write(7ms, i));
    SimTarget slow(far, host, "uav/slow", steps);
    for (auto& step : steps) step.compute = 5ms;
    SimTarget fast(near, host, "uav/fast", steps);
    ASSERT_TRUE(rig.run());
    SimTime last;
    for (const auto& [at, value] : rig.plant.written) {
      EXPECT_GE(at, last) << "seed " << seed;
      last = at;
    }
    EXPECT_EQ(std::ranges::count(rig.recorder.happenings, Happening::Kind::write, &Happening::kind), 40);
    EXPECT_EQ(slow.saw.back().at, ms(140));
    EXPECT_EQ(fast.saw.back().at, ms(100));
  });
}

TEST(Boards, ATargetWithSeveralThreadsHasALinkForEach) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget first(machine, host, "uav/pilot", {SimTarget::read(200ms), SimTarget::read(200ms)});
  rig.scheduler.run_for(20ms);
  ASSERT_NE(first.session, 0U);
  // The second thread joins with the session of the first; SimTarget knows the first link only, so by hand.
  std::string refused;
  bool welcomed = false;
  link::FrameReader reader(1 << 20);
  auto stream = machine.connect(host);
  const auto send = [&](const auto& message) {
    std::array<std::byte, 600> room;
    std::vector<std::byte> out;
    link::append_frame(out, std::span(room).first(wire::write(room, message)));
    stream->send(out);
  };
  stream->set_events({[&](std::span<const std::byte> bytes) {
                        (void)reader
                            .take(bytes,
                                  [&](std::span<const std::byte> frame) {
                                    wire::Greeting greeting;
                                    wire::Welcome welcome;
                                    if (wire::read(frame, greeting)) {
                                      send(wire::Hello{wire::version, first.session, "uav/pilot", {}, {}});
                                    }
                                    welcomed = welcomed || wire::read(frame, welcome);
                                    return true;
                                  })
                            .ok();
                      },
                      {},
                      {}});
  rig.scheduler.run_for(20ms);
  EXPECT_TRUE(welcomed);
}

TEST(Boards, ALostTargetPausesTheWorldAndGoesOnWhereItStood) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0));
  std::deque<SimTarget::Step> steps(4, SimTarget::read(10ms));
  SimTarget target(machine, host, "uav/pilot", steps);
  ASSERT_TRUE(rig.scheduler.run_until([&] { return target.saw.size() == 2; }, 10s));
  target.hang_up();
  rig.scheduler.run_for(5s);
  EXPECT_FALSE(rig.over);
  const SimTime stood = rig.plant.time();
  EXPECT_LE(stood, ms(30));
  SimTarget again(machine, host, "uav/pilot", steps);
  ASSERT_TRUE(rig.run());
  ASSERT_EQ(again.saw.size(), 4U);
  EXPECT_GE(again.saw[0].at, ms(30)) << "ten more after where it stood";
  EXPECT_LE(again.saw[0].at, ms(45));
  EXPECT_EQ(rig.boards->outcome().targets[0].losses, 1U);
}

TEST(Boards, ALostTargetThatDoesNotReturnEndsTheRunInTheEnd) {
  Options options;
  options.wait_for_return = 3s;
  Rig rig(1, {"uav/pilot"}, options);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(50, SimTarget::read(10ms)));
  rig.scheduler.run_for(100ms);
  target.hang_up();
  ASSERT_TRUE(rig.run(20s));
  EXPECT_FALSE(rig.outcome.completed);
  EXPECT_NE(rig.outcome.why_ended.find("did not come back within 3"), std::string::npos) << rig.outcome.why_ended;
}

TEST(Boards, OthersGoOnWithoutALostTargetWhereTheScenarioSaysSo) {
  Rig rig(1, {"uav/a", "uav/b"}, {}, OnLoss::go_on);
  SimulatedReactor machine(rig.network, board(0)), other(rig.network, board(1));
  SimTarget a(machine, host, "uav/a", std::deque<SimTarget::Step>(50, SimTarget::read(10ms)));
  SimTarget b(other, host, "uav/b", std::deque<SimTarget::Step>(50, SimTarget::read(10ms)));
  rig.scheduler.run_for(100ms);
  a.hang_up();
  ASSERT_TRUE(rig.run());
  EXPECT_EQ(b.saw.size(), 50U);
  EXPECT_TRUE(rig.outcome.completed);
}

TEST(Boards, ADisconnectInTheMiddleOfAHoldHarmsNobody) {
  EXPECT_EVERY_SEED(20, [](std::uint64_t seed) {
    Rig rig(seed, {"uav/a", "uav/b"}, {}, OnLoss::go_on);
    SimulatedReactor machine(rig.network, board(0)), other(rig.network, board(1));
    SimTarget a(machine, host, "uav/a", {SimTarget::wait(1ms, 400ms), SimTarget::wait(1ms, 400ms)});
    SimTarget b(other, host, "uav/b", std::deque<SimTarget::Step>(50, SimTarget::read(10ms)));
    rig.scheduler.run_for(80ms);
    a.hang_up();
    ASSERT_TRUE(rig.run());
    EXPECT_EQ(b.saw.size(), 50U);
  });
}

TEST(Boards, TwoTargetsWithOneNameAreOneTooMany) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0)), other(rig.network, board(1));
  SimTarget first(machine, host, "uav/pilot", std::deque<SimTarget::Step>(5, SimTarget::read(10ms)));
  rig.scheduler.run_for(20ms);
  SimTarget second(other, host, "uav/pilot", {SimTarget::read(10ms)});
  ASSERT_TRUE(rig.run());
  EXPECT_EQ(second.refused, "a target named `uav/pilot` is here already");
  EXPECT_EQ(first.saw.size(), 5U);
}

TEST(Boards, ATargetThatTheScenarioDoesNotNameIsTurnedAway) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pylot", {});
  rig.scheduler.run_for(1s);
  EXPECT_NE(target.refused.find("there is no target `uav/pylot`"), std::string::npos) << target.refused;
  EXPECT_NE(target.refused.find("uav/pilot"), std::string::npos) << "it says which there is";
}

TEST(Boards, IdleConnectionsDoNotKeepATargetOut) {
  Options options;
  options.limits.connections = 8;
  Rig rig(1, {"uav/pilot"}, options);
  SimulatedReactor strangers(rig.network, board(9));
  std::vector<std::unique_ptr<Stream>> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(strangers.connect(host));
    idle.back()->set_events({});
  }
  rig.scheduler.run_for(100ms);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", {SimTarget::read(25ms)});
  ASSERT_TRUE(rig.run());
  EXPECT_EQ(target.saw.size(), 1U);
}

TEST(Boards, ANameThatIsNoTextIsTurnedAwayInWordsThatAre) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0)), other(rig.network, board(1));
  SimTarget stranger(other, host, "uav/\xff\xfe\x1b[2J", {SimTarget::read(1ms)});
  SimTarget target(machine, host, "uav/pilot", {SimTarget::read(25ms)});
  ASSERT_TRUE(rig.run());
  ASSERT_EQ(rig.boards->outcome().refusals.size(), 1U);
  EXPECT_EQ(first_bad_byte(rig.boards->outcome().refusals[0]), std::string::npos);
}

TEST(Boards, WithoutTheKeyNobodyComesIn) {
  const std::string right = "00112233445566778899aabbccddeeff", wrong = "ff112233445566778899aabbccddeeff";
  Options options;
  options.key = link::Key::parse(right, "test");
  Rig rig(1, {"uav/pilot"}, options);
  SimulatedReactor machine(rig.network, board(0)), other(rig.network, board(1));
  SimTarget stranger(machine, host, "uav/pilot", {}, wrong), silent(other, host, "uav/pilot", {});
  rig.scheduler.run_for(1s);
  EXPECT_NE(stranger.refused.find("does not hold the key"), std::string::npos) << stranger.refused;
  EXPECT_NE(silent.refused.find("does not hold the key"), std::string::npos) << silent.refused;
  EXPECT_EQ(rig.boards->awaited().size(), 1U);
}

TEST(Boards, AClockThatJumpsIsFoundOutAndDoesNotMoveTime) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(20, SimTarget::read(10ms)));
  ASSERT_TRUE(rig.scheduler.run_until([&] { return target.saw.size() == 5; }, 10s));
  target.clock_error = WallSpan(1h);
  ASSERT_TRUE(rig.scheduler.run_until([&] { return target.saw.size() == 10; }, 10s));
  target.clock_error = WallSpan(-1h);
  ASSERT_TRUE(rig.run());
  EXPECT_LT(target.saw.back().at, ms(210)) << "200 ms were executed";
  EXPECT_GE(target.saw.back().at, ms(199));
  const auto outcome = rig.boards->outcome();
  EXPECT_GE(outcome.targets[0].links[0].clock_faults, 2U);
  EXPECT_LE(outcome.targets[0].links[0].clock_faults, 24U) << "until the pings after a jump agree again, 0.1 s later";
  EXPECT_EQ(outcome.targets[0].links[0].offset.jumps(), 2U);
}

TEST(ClockOffset, APingThatWasLongOnTheWayIsNoJump) {
  const auto at = [](std::int64_t n) { return WallTime::from_ns(n * 1'000'000); };
  ClockOffset offset;
  offset.add(at(70), 140'000'000, 140ms);  // read at the end of its way, and taken for the middle
  offset.add(at(200), 200'000'000, 1ms);
  offset.add(at(300), 300'000'000, 1ms);
  EXPECT_EQ(offset.jumps(), 0U);
  offset.add(at(400), 600'000'000, 1ms);
  EXPECT_EQ(offset.jumps(), 1U) << "that was one, of 200 ms";
}

TEST(Boards, AClockThatIsSlowOrStandsOrIsFastIsNotBelieved) {
  EXPECT_EVERY_SEED(10, [](std::uint64_t seed) {
    for (const double rate : {0.1, 0.0, 0.99, 1.01, 3.0}) {
      Rig rig(seed);
      rig.network.set_quality({.delay_min = 100us, .delay_max = 300us});
      SimulatedReactor machine(rig.network, board(0));
      SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(95, SimTarget::read(10ms)));
      target.clock_rate = rate;
      ASSERT_TRUE(rig.run());
      ASSERT_EQ(target.saw.size(), 95U) << "seed " << seed;
      // Each of 95 requests may be given what pings took and half of that, 0.95 ms at most.
      EXPECT_GE(target.saw.back().at, ms(950 - 95)) << rate << ", seed " << seed;
      EXPECT_LE(target.saw.back().at, ms(951 + 95 / 2)) << rate << ", seed " << seed;
      const LinkOutcome link = rig.boards->outcome().targets[0].links[0];
      EXPECT_GT(link.clock_faults, 20U) << rate << ", seed " << seed;
      EXPECT_NEAR(link.clock_rate, rate, 0.01) << "seed " << seed;
    }
  });
}

TEST(Boards, ARightClockBehindABadLinkIsNotAccused) {
  EXPECT_EVERY_SEED(10, [](std::uint64_t seed) {
    Rig rig(seed);
    rig.network.set_quality({.delay_min = 1ms, .delay_max = 20ms});
    SimulatedReactor machine(rig.network, board(0));
    SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(95, SimTarget::read(10ms)));
    target.clock_rate = 1.0002;  // as quartzes differ
    ASSERT_TRUE(rig.run());
    const LinkOutcome link = rig.boards->outcome().targets[0].links[0];
    EXPECT_EQ(link.clock_faults, 0U) << "seed " << seed;
  });
}

TEST(Boards, AClockThatIsWrongFencesItsTargetWhereTheScenarioSaysSoAndTheOthersGoOn) {
  Options options;
  options.wrong_clock = WrongClock::fenced;
  Rig rig(1, {"uav/wrong", "uav/right"}, options);
  SimulatedReactor a(rig.network, board(0)), b(rig.network, board(1));
  SimTarget wrong(a, host, "uav/wrong", std::deque<SimTarget::Step>(90, SimTarget::read(10ms)));
  SimTarget right(b, host, "uav/right", std::deque<SimTarget::Step>(90, SimTarget::read(10ms)));
  wrong.clock_rate = 0.1;
  ASSERT_TRUE(rig.run());
  EXPECT_TRUE(rig.outcome.completed) << rig.outcome.why_ended;
  EXPECT_EQ(right.saw.size(), 90U);
  EXPECT_LT(wrong.saw.size(), 90U);
  EXPECT_NE(wrong.refused.find("its clock is wrong: it runs at 0.1"), std::string::npos) << wrong.refused;
  EXPECT_NE(rig.boards->outcome().targets[0].ended.find("fenced off"), std::string::npos);
}

TEST(Boards, ALinkThatStallsIsChargedBeyondItsPingsAndNoFaultOfTheClock) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(50, SimTarget::read(10ms)));
  rig.scheduler.after(100ms, [&] { rig.network.set_quality({.delay_min = 100ms, .delay_max = 150ms}); });
  rig.scheduler.after(350ms, [&] { rig.network.set_quality({.delay_min = 10us, .delay_max = 20us}); });
  ASSERT_TRUE(rig.run());
  const LinkOutcome link = rig.boards->outcome().targets[0].links[0];
  EXPECT_EQ(link.clock_faults, 0U);
  EXPECT_EQ(link.offset.jumps(), 0U);
  EXPECT_GE(link.beyond, 1U);
  EXPECT_GT(link.beyond_by, WallSpan(100ms));
  EXPECT_LT(link.beyond_by, WallSpan(500ms)) << "a link that has become slow is pinged anew";
}

TEST(Boards, WhoStillComputesWhenTheRunEndsIsToldInAdvance) {
  Options options;
  options.end_with_targets = false;
  Rig rig(1, {"uav/busy", "uav/waits"}, options);
  SimulatedReactor a(rig.network, board(0)), b(rig.network, board(1));
  SimTarget busy(a, host, "uav/busy", {SimTarget::read(10ms), SimTarget::read(30s)});
  SimTarget waits(b, host, "uav/waits", {SimTarget::wait(0ms, 5s)});
  ASSERT_TRUE(rig.run());
  EXPECT_EQ(rig.boards->computing(), std::vector<std::string>{"uav/busy"});
  rig.scheduler.run_for(100ms);
  EXPECT_TRUE(busy.finished) << "it reads the answer when it looks";
  EXPECT_EQ(busy.saw.back().verdict, Verdict::ended);
  EXPECT_TRUE(waits.finished);
  EXPECT_TRUE(rig.boards->told());
}

TEST(Boards, ATargetThatRunsFreeIsNotHeldAndItsErrorIsMeasured) {
  Options options;
  options.pace = PaceRate(1, 1);
  Rig rig(1, {"uav/pilot"}, options, OnLoss::pause, Runs::free);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(50, SimTarget::read(10ms)));
  target.clock_rate = 1.05;
  ASSERT_TRUE(rig.run());
  const auto outcome = rig.boards->outcome().targets[0];
  EXPECT_EQ(outcome.runs, Runs::free);
  EXPECT_EQ(outcome.links[0].apart.count(), 50U);
  EXPECT_NEAR(outcome.links[0].apart.most_s(), 0.025, 0.011) << "5 % of half a second, within a step";
  EXPECT_NEAR(outcome.links[0].clock_rate, 1.05, 0.01);
}

TEST(Boards, GarbageHalfMessagesAndSlowOnesAreShownOutAndOthersGoOn) {
  EXPECT_EVERY_SEED(30, [](std::uint64_t seed) {
    Rig rig(seed);
    SimulatedReactor machine(rig.network, board(0)), evil(rig.network, board(1));
    RandomStream random(seed, "garbage");
    std::vector<std::unique_ptr<Stream>> strangers;
    for (int i = 0; i < 8; ++i) {
      strangers.push_back(evil.connect(host));
      strangers.back()->set_events({});
      std::vector<std::byte> bytes(random.below(600));
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits());
      if (i % 2 == 0 && bytes.size() > 4) bytes[1] = bytes[2] = bytes[3] = std::byte{0};  // a length that may be
      strangers.back()->send(bytes);
    }
    SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(50, SimTarget::read(10ms)));
    ASSERT_TRUE(rig.run());
    EXPECT_EQ(target.saw.size(), 50U) << "seed " << seed;
    EXPECT_TRUE(rig.outcome.completed);
  });
}

TEST(Boards, WhoSendsHalfAHelloAndNoMoreIsShownOut) {
  Rig rig(1);
  SimulatedReactor evil(rig.network, board(1));
  bool closed = false;
  auto stream = evil.connect(host);
  stream->set_events({{}, {}, [&](const NetError&) { closed = true; }});
  const std::array<std::byte, 5> half{std::byte{200}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{2}};
  stream->send(half);
  rig.scheduler.run_for(3s);
  EXPECT_FALSE(closed);
  rig.scheduler.run_for(10s);
  EXPECT_TRUE(closed);
}

TEST(Boards, WhoAsksTwiceAtOnceOrTooOftenIsShownOut) {
  Options options;
  options.limits.requests_per_s = 100;
  Rig rig(1, {"uav/pilot"}, options, OnLoss::go_on);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(1000, SimTarget::read(0ms)));
  ASSERT_TRUE(rig.run());
  rig.scheduler.run_for(1s);
  EXPECT_EQ(target.refused, "more than 100 requests a second");
}

TEST(Boards, AWrongVersionIsToldSo) {
  Rig rig(1);
  SimulatedReactor machine(rig.network, board(0));
  std::string refused;
  link::FrameReader reader(1 << 20);
  auto stream = machine.connect(host);
  stream->set_events({[&](std::span<const std::byte> bytes) {
                        (void)reader
                            .take(bytes,
                                  [&](std::span<const std::byte> frame) {
                                    std::string_view why;
                                    if (wire::read_refused(frame, why)) refused = why;
                                    return true;
                                  })
                            .ok();
                      },
                      {},
                      {}});
  wire::Hello hello;
  hello.version_number = 99;
  hello.name = "uav/pilot";
  std::array<std::byte, 600> room;
  std::vector<std::byte> out;
  link::append_frame(out, std::span(room).first(wire::write(room, hello)));
  stream->send(out);
  rig.scheduler.run_for(1s);
  EXPECT_NE(refused.find("version 99"), std::string::npos) << refused;
}

TEST(Boards, WithoutSyncASlowTargetLooksAsFastAsTheWorldIsSlow) {
  Options options;
  options.held = false;
  options.pace = PaceRate(4, 1);
  Rig rig(1, {"uav/pilot"}, options);
  SimulatedReactor machine(rig.network, board(0));
  SimTarget target(machine, host, "uav/pilot", std::deque<SimTarget::Step>(10, SimTarget::read(40ms)));
  ASSERT_TRUE(rig.run());
  EXPECT_NEAR(target.saw.back().at.seconds(), 0.1, 0.02) << "400 ms of computing in a world four times too slow";
}

TEST(Boards, SixtyFourTargetsAreHeldWithoutDriftGrowing) {
  Options options;
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back("uav/" + std::to_string(i));
  Rig rig(1, names, options);
  std::vector<std::unique_ptr<SimulatedReactor>> machines;
  std::vector<std::unique_ptr<SimTarget>> targets;
  for (int i = 0; i < 64; ++i) {
    machines.push_back(std::make_unique<SimulatedReactor>(rig.network, board(i)));
    std::deque<SimTarget::Step> steps;
    for (int k = 0; k < 100; ++k) {
      steps.push_back(SimTarget::wait(0ms, 10ms));
      steps.push_back(SimTarget::read(1ms));
    }
    targets.push_back(std::make_unique<SimTarget>(*machines.back(), host, names[static_cast<std::size_t>(i)], steps));
  }
  ASSERT_TRUE(rig.run());
  EXPECT_TRUE(rig.outcome.completed) << rig.outcome.why_ended;
  EXPECT_LE(rig.outcome.drift_max, SimSpan(11ms)) << "a step, and what they compute";
  for (const auto& target : rig.boards->outcome().targets) EXPECT_EQ(target.figures.missed, 0U);
}

TEST(Boards, SaysForWhomATargetWasHeld) {
  Rig rig(1, {"uav/quick", "uav/slow"});
  SimulatedReactor a(rig.network, board(0)), b(rig.network, board(1));
  SimTarget quick(a, host, "uav/quick", {SimTarget::read(1ms), SimTarget::read(1ms)});
  SimTarget slow(b, host, "uav/slow", {SimTarget::wait(0ms, 200ms), SimTarget::read(150ms)});
  ASSERT_TRUE(rig.run());
  const auto outcome = rig.boards->outcome();
  EXPECT_GT(outcome.waited, WallSpan(100ms)) << "the world waited for those who computed";
  EXPECT_GT(outcome.targets[1].world_waited, WallSpan(100ms)) << "for the slow one above all";
}

}  // namespace
}  // namespace isochron::programs
