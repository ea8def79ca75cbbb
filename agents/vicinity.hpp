#pragma once
// Who is near whom: a grid of square cells over the ground, of which only those with somebody in them exist. A question
// looks at the cells around a place, so that its cost grows with neighbours, not with the world.
//
// Threads: owner thread. Cost: ~20 ns to move within a cell; allocates when a cell is entered for the first time.

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace isochron::agents {

class VicinityGrid {
 public:
  explicit VicinityGrid(double cell) : cell_(cell) {}

  void put(std::uint32_t member, double x, double y) {
    if (member >= members_.size()) members_.resize(member + 1);
    Member& m = members_[member];
    const std::uint64_t cell = key(index(x), index(y));
    if (m.there && m.cell != cell) take_out(member);
    if (!m.there) {
      auto& list = cells_[cell];
      m = {cell, static_cast<std::uint32_t>(list.size()), true, x, y};
      list.push_back(member);
    }
    m.x = x;
    m.y = y;
  }

  void take_out(std::uint32_t member) {
    if (member >= members_.size() || !members_[member].there) return;
    const auto found = cells_.find(members_[member].cell);
    auto& list = found->second;
    list[members_[member].at] = list.back();
    members_[list.back()].at = members_[member].at;
    list.pop_back();
    if (list.empty()) cells_.erase(found);
    members_[member].there = false;
  }

  /// Calls f(member, squared distance) for everybody within `radius`.
  template <class F>
  void near(double x, double y, double radius, F&& f) const {
    const std::int64_t left = index(x - radius), right = index(x + radius);
    const std::int64_t low = index(y - radius), high = index(y + radius);
    for (std::int64_t i = left; i <= right; ++i) {
      for (std::int64_t j = low; j <= high; ++j) {
        const auto found = cells_.find(key(i, j));
        if (found == cells_.end()) continue;
        for (const std::uint32_t member : found->second) {
          const double dx = members_[member].x - x, dy = members_[member].y - y;
          const double squared = dx * dx + dy * dy;
          if (squared <= radius * radius) f(member, squared);
        }
      }
    }
  }

  [[nodiscard]] std::size_t cells() const { return cells_.size(); }

 private:
  struct Member {
    std::uint64_t cell = 0;
    std::uint32_t at = 0;  // its place in the cell's list
    bool there = false;
    double x = 0, y = 0;
  };
  [[nodiscard]] std::int64_t index(double v) const {
    return static_cast<std::int64_t>(std::floor(std::fmin(std::fmax(v / cell_, -1e9), 1e9)));
  }
  [[nodiscard]] static std::uint64_t key(std::int64_t i, std::int64_t j) {
    return (static_cast<std::uint64_t>(i) << 32) ^ (static_cast<std::uint64_t>(j) & 0xffffffff);
  }
  double cell_;
  std::vector<Member> members_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> cells_;
};

}  // namespace isochron::agents
