#include "core/gate.hpp"

#include <gtest/gtest.h>

namespace isochron {
namespace {

constexpr ParticipantId a(0), b(1), c(2);
constexpr SimTime at(std::int64_t ns) { return SimTime::from_ns(ns); }

TEST(LeadGate, HoldsWhoeverIsTooFarAheadAndNamesTheSlowest) {
  ProgressTable table(3);
  const LeadGate gate(table, SimSpan::from_ns(10));
  EXPECT_TRUE(gate.admit(a, at(10)));
  const Admission held = gate.admit(a, at(11));
  EXPECT_FALSE(held);
  EXPECT_EQ(held.waits_for, b);  // the lower index among equals
  EXPECT_EQ(held.needs, at(1));
  table.reached(b, at(5));
  EXPECT_EQ(gate.admit(a, at(11)).waits_for, c);
  table.reached(c, at(1));
  EXPECT_TRUE(gate.admit(a, at(11)));
}

TEST(LeadGate, ParticipantsThatLeftHoldNobody) {
  ProgressTable table(2);
  const LeadGate gate(table, SimSpan::zero());
  EXPECT_FALSE(gate.admit(a, at(1)));
  table.leave(b);
  EXPECT_TRUE(gate.admit(a, at(1'000'000)));
}

TEST(LeadGate, TheSlowestIsAlwaysAdmittedSoSomebodyCanGoOn) {
  ProgressTable table(3);
  const LeadGate gate(table, SimSpan::from_ns(10));
  table.reached(a, at(4));
  table.reached(b, at(9));
  EXPECT_TRUE(gate.admit(c, at(10)));
}

TEST(PromiseGate, HoldsUntilEveryInputPromisedThatTime) {
  ProgressTable promises(3);
  const PromiseGate gate(promises, {{b, c}, {}, {a}});
  EXPECT_TRUE(gate.admit(b, at(100)));  // no inputs: free
  EXPECT_EQ(gate.admit(a, at(5)).waits_for, b);
  promises.reached(b, at(5));
  EXPECT_EQ(gate.admit(a, at(5)).waits_for, c);
  promises.reached(c, at(7));
  EXPECT_TRUE(gate.admit(a, at(5)));
}

TEST(WaitCycle, IsFoundAndNamedInOrder) {
  ProgressTable promises(4);
  const PromiseGate gate(promises, {{b}, {c}, {a}, {a}});
  const std::vector<SimTime> wants{at(1), at(1), at(1), at(1)};
  EXPECT_EQ(find_wait_cycle(gate, wants), (std::vector<ParticipantId>{a, b, c}));
}

TEST(WaitCycle, IsNotInventedWhereSomebodyCanGoOn) {
  ProgressTable promises(3);
  const PromiseGate gate(promises, {{b}, {c}, {}});
  EXPECT_TRUE(find_wait_cycle(gate, {at(1), at(1), at(1)}).empty());
  EXPECT_TRUE(find_wait_cycle(gate, {at(1), at(1), SimTime::never()}).empty());
}

TEST(ProgressTableDeathTest, ProgressCannotGoBack) {
  ProgressTable table(1);
  table.reached(a, at(5));
  EXPECT_DEATH(table.reached(a, at(4)), "progress cannot go back");
}

}  // namespace
}  // namespace isochron
