// Rays against shapes whose answer is known in closed form.

#include "world/scene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/input_error.hpp"
#include "core/random.hpp"
#include "world/vectors.hpp"

namespace isochron::world {
namespace {

Geometry shape(Shape kind, Vec3 size, Vec3 at = {}, std::uint32_t body = 0) {
  Geometry geometry;
  geometry.name = "it", geometry.shape = kind, geometry.size = size, geometry.local.position = at, geometry.body = body;
  return geometry;
}

/// A cube of 12 triangles.
Geometry cube_mesh(double half, std::uint32_t body = 0) {
  Geometry geometry = shape(Shape::mesh, {}, {}, body);
  const auto h = static_cast<float>(half);
  for (int i = 0; i < 8; ++i) {
    geometry.vertices.push_back({(i & 1) != 0 ? h : -h, (i & 2) != 0 ? h : -h, (i & 4) != 0 ? h : -h});
  }
  geometry.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return geometry;
}

constexpr Quat quarter_turn_about_z{0.70710678118654752, 0, 0, 0.70710678118654752};

TEST(Scene, MeetsEveryShapeWhereGeometrySaysItIs) {
  struct Case {
    Geometry geometry;
    Ray ray;
    double distance;
    Vec3 normal;
  };
  const std::vector<Case> cases{
      {shape(Shape::plane, {}), {{3, 4, 2}, {0, 0, -1}}, 2, {0, 0, 1}},
      {shape(Shape::box, {1, 2, 3}), {{-5, 0.5, 0.5}, {1, 0, 0}}, 4, {-1, 0, 0}},
      {shape(Shape::sphere, {0.5, 0, 0}, {0, 7, 0}), {{0, 0, 0.3}, {0, 1, 0}}, 6.6, {0, -0.8, 0.6}},
      {shape(Shape::capsule, {0.5, 1, 0}), {{-5, 0, 0.9}, {1, 0, 0}}, 4.5, {-1, 0, 0}},
      {shape(Shape::capsule, {0.5, 1, 0}), {{-5, 0, 1.3}, {1, 0, 0}}, 4.6, {-0.8, 0, 0.6}},
      {shape(Shape::capsule, {0.5, 1, 0}), {{0, 0, 9}, {0, 0, -1}}, 7.5, {0, 0, 1}},
      {shape(Shape::cylinder, {0.5, 1, 0}), {{-5, 0.3, 0.9}, {1, 0, 0}}, 4.6, {-0.8, 0.6, 0}},
      {shape(Shape::cylinder, {0.5, 1, 0}), {{0.2, 0.2, 5}, {0, 0, -1}}, 4, {0, 0, 1}},
      {shape(Shape::ellipsoid, {1, 2, 3}), {{0, 9, 0}, {0, -1, 0}}, 7, {0, 1, 0}},
      {cube_mesh(0.5), {{0.1, 0.2, 4}, {0, 0, -1}}, 3.5, {0, 0, 1}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Scene scene({cases[i].geometry});
    Hit hit;
    ASSERT_TRUE(scene.cast(cases[i].ray, hit)) << "case " << i;
    EXPECT_NEAR(hit.distance, cases[i].distance, 1e-12) << "case " << i;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(hit.normal[k], cases[i].normal[k], 1e-9) << "case " << i;
    EXPECT_TRUE(scene.blocked(cases[i].ray)) << "case " << i;
    Ray shorter = cases[i].ray;
    shorter.far = cases[i].distance - 1e-3;
    EXPECT_FALSE(scene.cast(shorter, hit)) << "case " << i;
    EXPECT_FALSE(scene.blocked(shorter)) << "case " << i;
    Ray away = cases[i].ray;
    away.direction = -1.0 * away.direction;
    EXPECT_FALSE(scene.cast(away, hit)) << "case " << i;
  }
}

TEST(Scene, FindsTheSameSurfaceAsATestOfEveryShape) {
  RandomStream random(7, "scene");
  std::vector<Geometry> all;
  for (int i = 0; i < 60; ++i) {
    const auto kind = static_cast<Shape>(1 + random.below(5));
    Geometry g = shape(kind, {random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)},
                       {random.uniform(-8, 8), random.uniform(-8, 8), random.uniform(-8, 8)},
                       static_cast<std::uint32_t>(random.below(4)));
    Quat q{random.normal(), random.normal(), random.normal(), random.normal()};
    double n = 0;
    for (const double x : q) n += x * x;
    for (double& x : q) x /= std::sqrt(n);
    g.local.orientation = q;
    all.push_back(g);
  }
  Scene scene(all);
  int hits = 0;
  for (int i = 0; i < 3000; ++i) {
    const Ray ray{{random.uniform(-9, 9), random.uniform(-9, 9), random.uniform(-9, 9)},
                  unit({random.normal(), random.normal(), random.normal()}),
                  0,
                  20};
    double least = ray.far;
    for (const Geometry& g : all) {
      const Quat back = conjugate(g.local.orientation);
      const Ray local{rotate(back, ray.origin - g.local.position), rotate(back, ray.direction), 0, least};
      ShapeHit met;
      if (meet(g.shape, g.size, local, met)) least = met.distance;
    }
    Hit hit;
    const bool found = scene.cast(ray, hit);
    ASSERT_EQ(found, least < ray.far) << "ray " << i;
    if (!found) continue;
    ++hits;
    ASSERT_NEAR(hit.distance, least, 1e-9) << "ray " << i;
    ASSERT_NEAR(length(hit.normal), 1, 1e-9);
    ASSERT_LE(dot(hit.normal, ray.direction), 0);
  }
  EXPECT_GT(hits, 300);
}

TEST(Scene, FollowsBodiesThatMoveAndTurn) {
  Scene scene({shape(Shape::box, {1, 0.1, 0.1}, {2, 0, 0}, 1), cube_mesh(0.5, 2)});
  scene.place(1, {{10, 0, 0}, quarter_turn_about_z});  // the box is now at (10, 2, 0), along y
  scene.place(2, {{0, 0, 5}, quarter_turn_about_z});
  scene.commit();
  Hit hit;
  ASSERT_TRUE(scene.cast({{0, 2.9, 0}, {1, 0, 0}}, hit));
  EXPECT_NEAR(hit.distance, 9.9, 1e-12);
  EXPECT_EQ(hit.body, 1U);
  EXPECT_EQ(hit.geometry, 0U);
  ASSERT_TRUE(scene.cast({{0.1, 0.2, 0}, {0, 0, 1}}, hit));
  EXPECT_NEAR(hit.distance, 4.5, 1e-12);
  EXPECT_EQ(hit.geometry, 1U);
  EXPECT_FALSE(scene.cast({{0.1, 0.2, 0}, {0, 0, 1}}, hit, 2)) << "the ignored body is looked through";
  EXPECT_FALSE(scene.blocked({{0.1, 0.2, 0}, {0, 0, 1}}, 2));
  EXPECT_FALSE(scene.cast({{0, 2.9, 0}, {1, 0, 0}}, hit, 1));
}

TEST(Scene, DependsOnPresentPosesOnly) {
  const std::vector<Geometry> all{shape(Shape::sphere, {1, 0, 0}, {}, 1), shape(Shape::sphere, {1, 0, 0}, {}, 2),
                                  cube_mesh(1, 3)};
  Scene fresh(all), travelled(all);
  for (int i = 0; i < 20; ++i) {
    for (std::uint32_t body = 1; body <= 3; ++body) travelled.place(body, {{1.0 * i * body, 2.0 * i, 0}, {1, 0, 0, 0}});
    travelled.commit();
  }
  for (Scene* scene : {&fresh, &travelled}) {
    for (std::uint32_t body = 1; body <= 3; ++body) scene->place(body, {{1.3 * body, 0.2, 0}, {1, 0, 0, 0}});
    scene->commit();
  }
  RandomStream random(3, "rays");
  for (int i = 0; i < 2000; ++i) {
    const Ray ray{{random.uniform(-5, 5), random.uniform(-5, 5), 6}, unit({random.normal(), random.normal(), -2})};
    Hit a, b;
    ASSERT_EQ(fresh.cast(ray, a), travelled.cast(ray, b));
    ASSERT_EQ(a.distance, b.distance);
    ASSERT_EQ(a.geometry, b.geometry);
    ASSERT_EQ(a.normal, b.normal);
  }
}

TEST(Scene, DoesNotSeeWhatIsTransparent) {
  Geometry ghost = shape(Shape::box, {1, 1, 1});
  ghost.rgba[3] = 0;
  Scene scene({ghost});
  Hit hit;
  EXPECT_FALSE(scene.cast({{-5, 0, 0}, {1, 0, 0}}, hit));
}

TEST(Scene, SeesNothingInAnEmptyWorld) {
  Scene scene({});
  Hit hit;
  EXPECT_FALSE(scene.cast({{-5, 0, 0}, {1, 0, 0}}, hit));
  EXPECT_FALSE(scene.blocked({{-5, 0, 0}, {1, 0, 0}}));
}

TEST(Scene, IsExactFarFromTheOrigin) {
  Scene scene({shape(Shape::sphere, {0.5, 0, 0}, {5000, 3000, 20})});
  Hit hit;
  ASSERT_TRUE(scene.cast({{4990, 3000, 20}, {1, 0, 0}}, hit));
  EXPECT_NEAR(hit.distance, 9.5, 1e-9) << "single precision would be off by 0.5 mm";
}

TEST(Scene, NamesGeometryThatCannotBeSeen) {
  const auto message = [](const Geometry& geometry) {
    try {
      Scene scene({geometry});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(shape(Shape::box, {NAN, 1, 1})).find("`it`"), std::string::npos);
  EXPECT_NE(message(shape(Shape::sphere, {0, 0, 0})).find("not positive"), std::string::npos);
  Geometry broken = cube_mesh(1);
  broken.triangles[3][1] = 8;
  EXPECT_NE(message(broken).find("vertex that does not exist"), std::string::npos);
}

TEST(Scene, PaintsPlanesInSquares) {
  Scene scene({shape(Shape::plane, {})});
  Hit hit;
  const Ray light{{0.5, 0.5, 1}, {0, 0, -1}}, dark{{1.5, 0.5, 1}, {0, 0, -1}};
  ASSERT_TRUE(scene.cast(light, hit));
  EXPECT_FLOAT_EQ(scene.colour_at(hit, light)[0], 0.5F);
  ASSERT_TRUE(scene.cast(dark, hit));
  EXPECT_FLOAT_EQ(scene.colour_at(hit, dark)[0], 0.4F);
}

}  // namespace
}  // namespace isochron::world
