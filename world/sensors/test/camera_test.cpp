// Camera: colours, depths and segments at computed pixels of a known scene.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "world/sensors/camera_model.hpp"
#include "world/sensors/test/sensor_helpers.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

using sensor_msgs::Image;

/// A camera at (0, 0, 1) that looks along x: a red ball 5 m ahead, a blue box to the left, on a floor.
struct Studio {
  ScriptedEngine engine;
  SensorSpec spec = on_body(SensorType::camera, "robot", ms(33));
  std::uint32_t floor, ball, box;

  Studio() {
    engine.add_fixed_body("robot", {0, 0, 1});
    floor = engine.add_shape("floor", 0, Shape::plane, {}, {}, {0.6F, 0.6F, 0.6F, 1});
    ball = engine.add_shape("ball", 0, Shape::sphere, {1, 0, 0}, {5, 0, 1}, {0.9F, 0.1F, 0.1F, 1});
    box = engine.add_shape("box", 0, Shape::box, {0.5, 0.5, 0.5}, {6, 3, 0.5}, {0.1F, 0.2F, 0.9F, 1});
    spec.picture.depth = spec.picture.segmentation = true;
    spec.picture.vertical_fov = 0.9;
  }
  std::vector<Image> picture() {
    Scene scene(engine.geometry());
    const auto sensor = make_sensor(spec, engine.catalog(), 1);
    std::vector<Image> images;
    run_until(engine, &scene, *sensor, SimTime::zero(), [&](const Reading& reading) {
      for (std::size_t i = 0; i < sensor->outputs().size(); ++i) images.push_back(decoded<Image>(reading, i));
    });
    return images;
  }
  /// The pixel that shows a point of the world.
  std::array<std::uint32_t, 2> pixel_of(const Vec3& p) const {
    const PinholeModel model = pinhole_of(spec, engine.catalog());
    return {static_cast<std::uint32_t>(model.cx + model.focal * -p[1] / p[0]),
            static_cast<std::uint32_t>(model.cy - model.focal * (p[2] - 1) / p[0])};
  }
};

std::array<int, 3> colour(const Image& image, std::array<std::uint32_t, 2> at) {
  const std::uint8_t* p = &image.data[at[1] * image.step + 3 * at[0]];
  return {p[0], p[1], p[2]};
}
float metres(const Image& image, std::array<std::uint32_t, 2> at) {
  float value = 0;
  std::memcpy(&value, &image.data[at[1] * image.step + 4 * at[0]], 4);
  return value;
}
int segment(const Image& image, std::array<std::uint32_t, 2> at) {
  std::uint16_t value = 0;
  std::memcpy(&value, &image.data[at[1] * image.step + 2 * at[0]], 2);
  return value;
}

/// To look at by eye: ISOCHRON_PICTURES=folder.
void keep_picture(const Image& image, const std::string& name) {
  const char* folder = std::getenv("ISOCHRON_PICTURES");
  if (folder == nullptr) return;
  std::ofstream file(std::string(folder) + "/" + name + ".ppm", std::ios::binary);
  file << "P6\n" << image.width << " " << image.height << "\n255\n";
  file.write(reinterpret_cast<const char*>(image.data.data()), static_cast<std::streamsize>(image.data.size()));
}

TEST(Camera, ShowsEachThingWhereItIs) {
  Studio studio;
  const auto images = studio.picture();
  ASSERT_EQ(images.size(), 3U);
  EXPECT_EQ(images[0].encoding, "rgb8");
  EXPECT_EQ(images[1].encoding, "32FC1");
  EXPECT_EQ(images[2].encoding, "mono16");
  keep_picture(images[0], "studio");
  const auto centre = studio.pixel_of({5, 0, 1}), box = studio.pixel_of({5.5, 3, 0.5}),
             floor = studio.pixel_of({4, -1.5, 0});
  EXPECT_EQ(segment(images[2], centre), 1 + studio.ball);
  EXPECT_EQ(segment(images[2], box), 1 + studio.box);
  EXPECT_EQ(segment(images[2], floor), 1 + studio.floor);
  EXPECT_EQ(segment(images[2], {160, 0}), 0) << "sky";
  EXPECT_NEAR(metres(images[1], centre), 4, 1e-3);
  EXPECT_NEAR(metres(images[1], box), 5.5, 1e-5) << "along the axis, not along the ray";
  EXPECT_NEAR(metres(images[1], floor), 4, 0.04);
  EXPECT_EQ(metres(images[1], {160, 0}), INFINITY);
  const auto red = colour(images[0], centre), blue = colour(images[0], box), sky = colour(images[0], {160, 0});
  EXPECT_GT(red[0], 5 * red[1]);
  EXPECT_GT(blue[2], 3 * blue[0]);
  EXPECT_GT(sky[2], sky[0]);
}

TEST(Camera, ShadesByLambert) {
  Studio studio;
  studio.spec.picture.sun = {-1, 0, 0};  // from behind the camera
  const auto images = studio.picture();
  // The ball's centre faces camera and sun alike: 0.3 + 0.3 + 0.5 of its colour.
  const auto red = colour(images[0], studio.pixel_of({5, 0, 1}));
  EXPECT_NEAR(red[0], 255 * 0.9 * 1.1, 1);
  EXPECT_NEAR(red[1], 255 * 0.1 * 1.1, 1);
  // Where its surface is turned away by θ: 30° off the axis as seen from its centre.
  const Vec3 n{-std::cos(0.5), std::sin(0.5), 0};
  const Vec3 point = Vec3{5, 0, 1} + n;
  const auto side = colour(images[0], studio.pixel_of(point));
  const Vec3 to_eye = unit(Vec3{0, 0, 1} - point);
  EXPECT_NEAR(side[0], 255 * 0.9 * (0.3 + 0.3 * dot(n, to_eye) + 0.5 * std::cos(0.5)), 3);
}

TEST(Camera, CastsShadowsIfAskedTo) {
  Studio studio;
  studio.spec.picture.sun = {0, 0, 1};
  const Vec3 under_the_ball{4.3, 0, 0};  // seen under the ball
  const auto at = studio.pixel_of(under_the_ball);
  const auto lit = colour(studio.picture()[0], at);
  studio.spec.picture.shadows = true;
  const auto images = studio.picture();
  keep_picture(images[0], "studio_shadows");
  EXPECT_EQ(segment(images[2], at), 1 + studio.floor);
  EXPECT_LT(colour(images[0], at)[0], lit[0] - 40);
}

TEST(Camera, OnAModelsCameraLooksWhereThatOneLooks) {
  Studio studio;
  Camera camera;
  camera.name = "eye";
  camera.body = 1;
  camera.vertical_fov = 0.5;
  const double h = 0.5;
  camera.local.orientation = {h, h, -h, -h};  // its -z is the body's x, its y the body's z
  studio.engine.edit_catalog().cameras.push_back(camera);
  studio.spec.body.clear();
  studio.spec.camera = "eye";
  studio.spec.picture.vertical_fov = 0;
  EXPECT_NEAR(pinhole_of(studio.spec, studio.engine.catalog()).focal, 120 / std::tan(0.25), 1e-9);
  const auto images = studio.picture();
  EXPECT_NEAR(metres(images[1], {160, 120}), 4, 1e-3);
  EXPECT_EQ(segment(images[2], studio.pixel_of({5, 0.9, 1})), 1 + studio.ball);
}

TEST(Camera, NumbersBodiesInsteadOfGeometriesIfAskedTo) {
  Studio studio;
  const auto other = studio.engine.add_fixed_body("other", {3, 0, 1});
  studio.engine.add_shape("near", other, Shape::box, {0.1, 0.1, 0.1});
  studio.spec.picture.segment_bodies = true;
  EXPECT_EQ(segment(studio.picture()[2], {160, 120}), static_cast<int>(1 + other));
}

TEST(Camera, NoiseHasItsDeviation) {
  Studio studio;
  const Image clean = studio.picture()[0];
  studio.spec.picture.noise = 4;
  const Image noisy = studio.picture()[0];
  double sum = 0, squares = 0;
  int n = 0;
  for (std::size_t i = 0; i < clean.data.size(); ++i) {
    if (clean.data[i] < 30 || clean.data[i] > 225) continue;
    const double difference = noisy.data[i] - clean.data[i];
    sum += difference, squares += difference * difference, ++n;
  }
  EXPECT_NEAR(sum / n, 0, 0.1);
  EXPECT_NEAR(std::sqrt(squares / n), 4, 0.1);
}

TEST(Camera, GivesOnlyWhatIsAskedFor) {
  Studio studio;
  studio.spec.picture.colour = studio.spec.picture.segmentation = false;
  const auto sensor = make_sensor(studio.spec, studio.engine.catalog(), 1);
  ASSERT_EQ(sensor->outputs().size(), 1U);
  EXPECT_EQ(sensor->outputs()[0].name, "depth");
  EXPECT_EQ(studio.picture()[0].encoding, "32FC1");
}

}  // namespace
}  // namespace isochron::world
