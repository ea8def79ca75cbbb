// Who of a traffic simulator's cars has a body in the world.

#include "bridge/sumo/border.hpp"

#include <gtest/gtest.h>

#include "bridge/sumo/spec.hpp"
#include "core/input_error.hpp"

namespace isochron::sumo {
namespace {

using Cars = std::vector<Border::Car>;
using Slots = std::vector<std::string>;
const std::vector<std::array<double, 2>> here{{0, 0}};

TEST(Border, ACarAlongTheBorderIsHandedOverOnce) {
  Border border(2, 100, 120);
  int changes = 0;
  Slots before = border.slots();
  for (const double x : {130.0, 110.0, 99.0, 105.0, 99.0, 119.0, 101.0, 121.0, 110.0, 121.0}) {
    border.update({{"a", {x, 0}}}, here);
    changes += border.slots() != before ? 1 : 0;
    before = border.slots();
  }
  EXPECT_EQ(changes, 2);  // in at 99, out at 121
}

TEST(Border, TheNearestGetTheBodiesAndWhoHasOneKeepsIt) {
  Border border(2, 100, 120);
  border.update({{"far", {90, 0}}, {"near", {10, 0}}, {"middle", {50, 0}}}, here);
  EXPECT_EQ(border.slots(), (Slots{"near", "middle"}));
  EXPECT_EQ(border.left_out(), 1U);
  border.update({{"far", {1, 0}}, {"near", {95, 0}}, {"middle", {110, 0}}}, here);
  EXPECT_EQ(border.slots(), (Slots{"near", "middle"}));
  border.update({{"far", {1, 0}}, {"near", {95, 0}}, {"middle", {121, 0}}}, here);
  EXPECT_EQ(border.slots(), (Slots{"near", "far"}));
  EXPECT_EQ(border.left_out(), 0U);
}

TEST(Border, TheOrderOfTheCarsDoesNotMatter) {
  const Cars cars{{"a", {5, 0}}, {"b", {5, 0}}, {"c", {4, 0}}};
  const Cars other{{"b", {5, 0}}, {"c", {4, 0}}, {"a", {5, 0}}};
  Border one(2, 10, 12), two(2, 10, 12);
  one.update(cars, here);
  two.update(other, here);
  EXPECT_EQ(one.slots(), two.slots());
  EXPECT_EQ(one.slots(), (Slots{"c", "a"}));
}

TEST(Border, WithNobodyOfOursNobodyIsNear) {
  Border border(1, 10, 12);
  border.update({{"a", {0, 0}}}, {});
  EXPECT_EQ(border.slots(), Slots{""});
}

TEST(SumoSpec, ComesBackFromJson) {
  NodeSpec spec;
  spec.name = "traffic";
  spec.routes = {"a", "b"};
  spec.ours = {{"ego", 4, 2}};
  spec.origin = {1, 2};
  const NodeSpec back = spec_of_json(to_json(spec));
  EXPECT_EQ(to_json(back), to_json(spec));
  EXPECT_EQ(back.ours[0].length, 4);
  EXPECT_THROW(spec_of_json("{}"), InputError);
}

}  // namespace
}  // namespace isochron::sumo
