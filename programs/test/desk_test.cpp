// The desk alone: no process, no clock, no socket.

#include "programs/desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "programs/test/double_integrator.hpp"

namespace isochron::programs {
namespace {

using namespace std::chrono_literals;
using protocol::Ask;
using protocol::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;

SimTime ms(double t) { return SimTime::from_ns(static_cast<std::int64_t>(t * 1e6)); }

std::span<const std::byte> bytes(const double& value) { return std::as_bytes(std::span(&value, 1)); }

std::string text(const Reply& reply) {
  return {reinterpret_cast<const char*>(reply.payload().data()), reply.payload().size()};
}

struct Office : Desk::House {
  Office() : plant({"a", "b"}), desk(plant, *this) {
    desk.add({"a/one", "a", {10ms, {}, {}, false}, "two", 0});
    desk.add({"a/two", "a", {}, "", 0});
    desk.add({"b/far", "b", {}, "", 1});
  }
  void tell(std::uint32_t party, Happening::Kind kind, SimTime at, std::uint32_t, std::span<const std::byte>,
            SimTime) override {
    told.emplace_back(std::to_string(party) + " " + to_string(kind) + " " + std::to_string(at.ns()));
  }
  void message(std::uint32_t party, std::uint32_t link, SimTime at) override { woken = {party, link, at}; }
  std::optional<Desk::Suspend> ask(std::uint32_t party, SimTime at, const Request& request, std::uint32_t link = 0) {
    reply.reset();
    return desk.act(party, link, at, request, reply);
  }
  std::uint32_t variable(const std::string& name) {
    const auto& all = plant.variables();
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].name == name) return i;
    }
    return UINT32_MAX;
  }
  DoubleIntegrator plant;
  Desk desk;
  Reply reply;
  std::vector<std::string> told;
  std::tuple<std::uint32_t, std::uint32_t, SimTime> woken;
};

TEST(Desk, ReleasesStandAtTheirPeriodAndLateOnesAreCounted) {
  Office office;
  EXPECT_EQ(office.ask(0, ms(0), {.ask = Ask::wait})->until, ms(0)) << "a first wait goes on at once";
  office.desk.wake(0, 0, ms(0), office.reply);
  EXPECT_EQ(office.ask(0, ms(3), {.ask = Ask::wait})->until, ms(10));
  office.desk.wake(0, 0, ms(10), office.reply);
  EXPECT_EQ(office.ask(0, ms(35), {.ask = Ask::wait})->until, ms(35)) << "overrun: it goes on at once";
  EXPECT_EQ(office.desk.figures(0).activations, 2U);
  EXPECT_EQ(office.desk.figures(0).overruns, 1U);
  EXPECT_EQ(office.desk.figures(0).missed, 2U) << "its deadline, and the release at 20 ms that it never ran";
}

TEST(Desk, APeriodOfMoreThanADayIsRefusedWhateverTheOffset) {
  Office office;
  EXPECT_FALSE(office.ask(0, ms(0), {.ask = Ask::wait, .number = INT64_MAX}));
  EXPECT_EQ(office.reply.verdict, Verdict::refused);
  EXPECT_THAT(text(office.reply), HasSubstr("more than a day"));
  EXPECT_TRUE(office.ask(0, ms(0), {.ask = Ask::wait, .time = INT64_MAX, .number = -1}));
}

TEST(Desk, WritesReachThePlantInTheOrderOfTimeThenCpu) {
  Office office;
  const double one = 1, two = 2, three = 3;
  const std::uint32_t thrust = office.variable("a/thrust");
  ASSERT_NE(thrust, UINT32_MAX);
  office.ask(2, ms(5), {.ask = Ask::write, .index = thrust, .payload = bytes(three)});
  office.ask(0, ms(5), {.ask = Ask::write, .index = thrust, .payload = bytes(two)});
  office.ask(0, ms(2), {.ask = Ask::write, .index = thrust, .payload = bytes(one)});
  office.desk.apply(ms(5));
  office.desk.apply(ms(6));
  EXPECT_EQ(office.plant.out_of_order, 0) << "2 ms before 5 ms, and the first CPU before the second";
  EXPECT_EQ(office.desk.figures(0).writes, 2U);
}

TEST(Desk, AMessageOnOneCpuTakesNoTimeAndToAnotherOneNanosecond) {
  Office office;
  const double value = 7;
  office.ask(0, ms(1), {.ask = Ask::send, .type = "float64", .payload = bytes(value)});
  office.ask(0, ms(1), {.ask = Ask::send, .name = "b/far", .type = "float64", .payload = bytes(value)});
  EXPECT_FALSE(office.ask(1, ms(1), {.ask = Ask::receive, .number = 8}));
  EXPECT_EQ(office.reply.verdict, Verdict::ok);
  EXPECT_EQ(office.reply.name, "a/one");
  office.ask(2, ms(1), {.ask = Ask::receive, .number = 8});
  EXPECT_EQ(office.reply.verdict, Verdict::nothing) << "it is on its way";
  office.ask(2, ms(1) + SimSpan::from_ns(1), {.ask = Ask::receive, .number = 8});
  EXPECT_EQ(office.reply.verdict, Verdict::ok);
  EXPECT_EQ(office.reply.stamp, ms(1));
}

TEST(Desk, WhoWaitsForAMessageIsWokenByItsSenderOnly) {
  Office office;
  const auto waits = office.ask(1, ms(0), {.ask = Ask::receive, .time = ms(50).ns(), .number = 8, .name = "a/one"}, 3);
  ASSERT_TRUE(waits);
  EXPECT_TRUE(waits->receiving);
  const double value = 7;
  office.ask(2, ms(2), {.ask = Ask::send, .name = "a/two", .payload = bytes(value)});
  EXPECT_EQ(std::get<0>(office.woken), 0U) << "not from there";
  office.ask(0, ms(4), {.ask = Ask::send, .payload = bytes(value)});
  EXPECT_EQ(office.woken, std::tuple(1U, 3U, ms(4)));
  office.reply.reset();
  office.desk.wake(1, 3, ms(4), office.reply);
  EXPECT_EQ(office.reply.verdict, Verdict::ok);
}

TEST(Desk, WhatCannotBeDoneIsRefusedWithASentenceAndRecorded) {
  Office office;
  office.ask(0, ms(3), {.ask = Ask::bind, .name = "thrist"});
  EXPECT_EQ(office.reply.verdict, Verdict::unknown_name);
  EXPECT_THAT(text(office.reply), HasSubstr("did you mean `thrust`?"));
  office.ask(0, ms(3), {.ask = Ask::send, .name = "nobody"});
  EXPECT_THAT(text(office.reply), HasSubstr("no program of this run"));
  office.ask(0, ms(3), {.ask = Ask::read, .index = 99});
  EXPECT_EQ(office.reply.verdict, Verdict::refused);
  office.ask(0, ms(3), {.ask = static_cast<Ask>(77)});
  EXPECT_THAT(text(office.reply), HasSubstr("asks for 77"));
  EXPECT_EQ(office.desk.figures(0).fault_count, 4U);
  EXPECT_THAT(office.desk.figures(0).faults.at(0), HasSubstr("a/one at 3ms: there is no variable"));
  EXPECT_THAT(office.told, ElementsAre("0 fault 3000000", "0 fault 3000000", "0 fault 3000000", "0 fault 3000000"));
}

TEST(Desk, AnAnswerIsWrittenIntoThePortsOwnMemory) {
  Office office;
  std::array<std::byte, 64> page{};
  office.reply.reset(page);
  EXPECT_FALSE(office.desk.act(0, 0, ms(0), {.ask = Ask::read, .index = office.variable("a/position")}, office.reply));
  EXPECT_EQ(office.reply.payload().data(), page.data());
}

TEST(Desk, WhoLeftIsNotWoken) {
  Office office;
  office.ask(1, ms(0), {.ask = Ask::receive, .time = ms(50).ns(), .number = 8});
  office.desk.leave(1, ms(1), "exited with 0");
  const double value = 7;
  office.ask(0, ms(2), {.ask = Ask::send, .payload = bytes(value)});
  EXPECT_EQ(std::get<2>(office.woken), SimTime());
  EXPECT_EQ(office.reply.verdict, Verdict::ok) << "its mailbox takes it";
}

}  // namespace
}  // namespace isochron::programs
