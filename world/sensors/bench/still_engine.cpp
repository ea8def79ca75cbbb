#include "world/sensors/bench/still_engine.hpp"

#include "core/random.hpp"
#include "world/sensors/repeatable.hpp"

namespace isochron::bench {

using world::Geometry;
using world::Shape;
using world::Vec3;

StillEngine::StillEngine() {
  catalog_.bodies = {"world", "robot"};
  catalog_.masses = {0, 1};
  robot_.pose.position = {0, 0, 3};
  RandomStream random(1, "town");
  for (int i = 0; i < 60; ++i) {
    const Vec3 at{random.uniform(-45, 45), random.uniform(-45, 45), 2};
    if (at[0] * at[0] + at[1] * at[1] < 25) continue;
    if (i % 3 == 0) {
      add("pole", Shape::cylinder, {0.2, 4, 0}, at);
    } else {
      add("house", Shape::box, {random.uniform(1, 3), random.uniform(1, 3), random.uniform(2, 5)}, at);
    }
  }
  add("hull", Shape::box, {0.5, 0.3, 0.2}, {}, robot_body);
  add_hills();
}

void StillEngine::add(const char* name, Shape shape, Vec3 size, Vec3 at, std::uint32_t body) {
  Geometry geometry;
  geometry.name = name, geometry.shape = shape, geometry.size = size, geometry.local.position = at;
  geometry.body = body;
  geometry_.push_back(geometry);
}

void StillEngine::add_hills() {
  constexpr std::uint32_t n = 159;  // 158² · 2 = 49,928 triangles
  Geometry hills;
  hills.name = "hills", hills.shape = Shape::mesh;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      const double x = -50 + 100.0 * i / (n - 1), y = -50 + 100.0 * j / (n - 1);
      const double z = world::repeatable_sincos(0.3 * x).sin + world::repeatable_sincos(0.23 * y).cos;
      hills.vertices.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)});
    }
  }
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    for (std::uint32_t j = 0; j + 1 < n; ++j) {
      const std::uint32_t a = i * n + j;
      hills.triangles.push_back({a, a + n, a + 1});
      hills.triangles.push_back({a + 1, a + n, a + n + 1});
    }
  }
  geometry_.push_back(std::move(hills));
}

}  // namespace isochron::bench
