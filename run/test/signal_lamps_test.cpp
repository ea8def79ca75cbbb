#include "run/signal_lamps.hpp"

#include <gtest/gtest.h>

namespace isochron {
namespace {

world::Geometry sphere(const std::string& name) {
  world::Geometry made;
  made.name = name;
  made.shape = world::Shape::sphere;
  made.size = {0.15, 0, 0};
  made.rgba = {0.9F, 0.2F, 0.1F, 1};
  return made;
}

TEST(SignalLamps, GlowAsTheirHeadShowsAndAreDarkOtherwise) {
  const std::vector<world::Geometry> geometry{sphere("signal/south/red"), sphere("signal/south/yellow"),
                                              sphere("signal/south/green"), sphere("signal/east/red"), sphere("house")};
  world::Scene scene(geometry);
  SignalLamps lamps(geometry);
  const auto glowing = [&] {
    std::string all;
    for (std::uint32_t i = 0; i < geometry.size(); ++i) all += scene.material(i).glows ? '*' : '.';
    return all;
  };
  lamps.show(scene, {{"lights/south", Lamp::red_yellow}});
  EXPECT_EQ(glowing(), "**...");
  EXPECT_NEAR(scene.material(2).colour[0], 0.13F * 0.9F, 1e-6);
  EXPECT_EQ(scene.material(3).colour[0], 0.9F) << "nobody has said what it shows";
  lamps.show(scene, {{"lights/south", Lamp::green}, {"lights/east", Lamp::red}});
  EXPECT_EQ(glowing(), "..**.");
  lamps.show(scene, {{"lights/south", Lamp::dark}, {"lights/east", Lamp::red}});
  EXPECT_EQ(glowing(), "...*.");
}

}  // namespace
}  // namespace isochron
