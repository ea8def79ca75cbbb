#include "core/order.hpp"

#include <gtest/gtest.h>

namespace isochron {
namespace {

TEST(Order, AtOneTimeEmissionsPrecedeConsumptionPrecedesObservation) {
  const SimTime t = SimTime::from_ns(5);
  const OrderKey emit{t, Phase::emit, 9};
  const OrderKey consume{t, Phase::consume, 0};
  const OrderKey observe{t, Phase::observe, 0};
  EXPECT_LT(emit, consume);
  EXPECT_LT(consume, observe);
  EXPECT_LT(observe, (OrderKey{SimTime::from_ns(6), Phase::emit, 0}));
}

TEST(Order, AmongEqualsTheDeclaredIndexDecides) {
  const SimTime t = SimTime::from_ns(5);
  EXPECT_LT((OrderKey{t, Phase::consume, 1}), (OrderKey{t, Phase::consume, 2}));
  EXPECT_LT((OrderKey{t, Phase::consume, 2}), OrderKey::last());
}

}  // namespace
}  // namespace isochron
