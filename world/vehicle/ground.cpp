#include "world/vehicle/ground.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "world/vectors.hpp"

namespace isochron::world {
namespace {

bool moves(const Engine& engine, std::uint32_t body) {
  const Catalog& c = engine.catalog();
  for (; body != 0; body = c.parents[body]) {
    if (engine.can_place(body)) return true;
    for (const JointInfo& joint : c.joints) {
      if (joint.body == body) return true;
    }
  }
  return false;
}

/// Whether (x, y) lies in the triangle seen from above, and its height there.
template <class Triangle>
bool height_in(const Triangle& t, double x, double y, double& height) {
  const double d = (t.b[1] - t.c[1]) * (t.a[0] - t.c[0]) + (t.c[0] - t.b[0]) * (t.a[1] - t.c[1]);
  const double u = ((t.b[1] - t.c[1]) * (x - t.c[0]) + (t.c[0] - t.b[0]) * (y - t.c[1])) / d;
  const double v = ((t.c[1] - t.a[1]) * (x - t.c[0]) + (t.a[0] - t.c[0]) * (y - t.c[1])) / d;
  constexpr double edge = -1e-12;  // a point on an edge belongs to both
  if (u < edge || v < edge || u + v > 1 - edge) return false;
  height = u * t.a[2] + v * t.b[2] + (1 - u - v) * t.c[2];
  return true;
}

}  // namespace

Ground::Ground(const Engine& engine) {
  for (const Geometry& g : engine.geometry()) {
    if (!g.name.starts_with("ground")) continue;
    if (moves(engine, g.body)) throw InputError(Place{}, "geom `" + g.name + "` is ground but moves");
    add_geometry(g, compose(engine.motion(g.body).pose, g.local));
  }
  if (planes_.empty() && triangles_.empty()) {
    throw InputError(Place{}, "the model has no ground for vehicles", "name a fixed geom `ground` or `ground/…`");
  }
  build_grid();
}

void Ground::add_geometry(const Geometry& g, const Pose& pose) {
  const auto at = [&](const Vec3& local) { return pose.position + rotate(pose.orientation, local); };
  if (g.shape == Shape::plane) {
    planes_.push_back({pose.position, rotate(pose.orientation, {0, 0, 1}), g.friction});
  } else if (g.shape == Shape::box) {
    for (int axis = 0; axis < 3; ++axis) {
      for (const double side : {-1.0, 1.0}) {
        const int i = (axis + 1) % 3, j = (axis + 2) % 3;
        Vec3 corner[4];
        for (int k = 0; k < 4; ++k) {
          Vec3 v{};
          v[static_cast<std::size_t>(axis)] = side * g.size[static_cast<std::size_t>(axis)];
          v[static_cast<std::size_t>(i)] = (k == 0 || k == 3 ? -1 : 1) * g.size[static_cast<std::size_t>(i)];
          v[static_cast<std::size_t>(j)] = (k < 2 ? -1 : 1) * g.size[static_cast<std::size_t>(j)];
          corner[k] = at(v);
        }
        if (side < 0) std::swap(corner[1], corner[3]);
        add_triangle(corner[0], corner[1], corner[2], g.friction);
        add_triangle(corner[0], corner[2], corner[3], g.friction);
      }
    }
  } else if (g.shape == Shape::mesh) {
    const auto vertex = [&](std::uint32_t i) { return at({g.vertices[i][0], g.vertices[i][1], g.vertices[i][2]}); };
    for (const auto& t : g.triangles) add_triangle(vertex(t[0]), vertex(t[1]), vertex(t[2]), g.friction);
  } else {
    throw InputError(Place{}, "geom `" + g.name + "` cannot be ground", "use a plane, box, mesh or hfield");
  }
}

void Ground::add_triangle(const Vec3& a, const Vec3& b, const Vec3& c, double friction) {
  const Vec3 normal = unit(cross(b - a, c - a));
  if (normal[2] < 0.05) return;  // walls and undersides are not driven on
  triangles_.push_back({a, b, c, normal, friction});
}

void Ground::build_grid() {
  if (triangles_.empty()) return;
  double high[2]{-INFINITY, -INFINITY};
  low_[0] = low_[1] = INFINITY;
  for (const Triangle& t : triangles_) {
    for (const Vec3* v : {&t.a, &t.b, &t.c}) {
      for (std::size_t k = 0; k < 2; ++k) {
        low_[k] = std::min(low_[k], (*v)[k]);
        high[k] = std::max(high[k], (*v)[k]);
      }
    }
  }
  const double area = std::max((high[0] - low_[0]) * (high[1] - low_[1]), 1.0);
  cell_ = std::max(std::sqrt(2 * area / static_cast<double>(triangles_.size())), 0.01);
  for (int k = 0; k < 2; ++k) cells_[k] = static_cast<std::int64_t>((high[k] - low_[k]) / cell_) + 1;

  // Two passes: count, then fill.
  const auto each_cell = [&](const Triangle& t, auto&& f) {
    const auto [x0, x1] = std::minmax({t.a[0], t.b[0], t.c[0]});
    const auto [y0, y1] = std::minmax({t.a[1], t.b[1], t.c[1]});
    for (std::int64_t y = cell_of(y0, 1); y <= cell_of(y1, 1); ++y) {
      for (std::int64_t x = cell_of(x0, 0); x <= cell_of(x1, 0); ++x) f(static_cast<std::size_t>(y * cells_[0] + x));
    }
  };
  first_.assign(static_cast<std::size_t>(cells_[0] * cells_[1]) + 1, 0);
  for (const Triangle& t : triangles_) each_cell(t, [&](std::size_t cell) { ++first_[cell + 1]; });
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  members_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t i = 0; i < triangles_.size(); ++i) {
    each_cell(triangles_[i], [&](std::size_t cell) { members_[next[cell]++] = i; });
  }
}

std::int64_t Ground::cell_of(double value, int axis) const {
  return std::clamp(static_cast<std::int64_t>(std::floor((value - low_[axis]) / cell_)), std::int64_t{0},
                    cells_[axis] - 1);
}

std::optional<GroundPoint> Ground::below(double x, double y, double from) const {
  std::optional<GroundPoint> best;
  const auto offer = [&](double height, const Vec3& normal, double friction) {
    if (height <= from && (!best || height > best->height)) best = GroundPoint{height, normal, friction};
  };
  for (const Plane& p : planes_) {
    if (p.normal[2] < 0.05) continue;
    const double slope = p.normal[0] * (x - p.point[0]) + p.normal[1] * (y - p.point[1]);
    offer(p.point[2] - slope / p.normal[2], p.normal, p.friction);
  }
  const double cx = std::floor((x - low_[0]) / cell_), cy = std::floor((y - low_[1]) / cell_);
  if (!first_.empty() && cx >= 0 && cy >= 0 && cx < static_cast<double>(cells_[0]) &&
      cy < static_cast<double>(cells_[1])) {
    const auto cell =
        static_cast<std::size_t>(static_cast<std::int64_t>(cy) * cells_[0] + static_cast<std::int64_t>(cx));
    for (std::uint32_t i = first_[cell]; i < first_[cell + 1]; ++i) {
      const Triangle& t = triangles_[members_[i]];
      if (double height = 0; height_in(t, x, y, height)) offer(height, t.normal, t.friction);
    }
  }
  return best;
}

}  // namespace isochron::world
