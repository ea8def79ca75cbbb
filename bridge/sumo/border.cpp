#include "bridge/sumo/border.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/ensure.hpp"

namespace isochron::sumo {
namespace {

double distance_squared(const std::array<double, 2>& at, const std::vector<std::array<double, 2>>& ours) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& own : ours) {
    const double x = at[0] - own[0], y = at[1] - own[1];
    least = std::min(least, x * x + y * y);
  }
  return least;
}

}  // namespace

Border::Border(std::size_t slots, double near, double leave) : slots_(slots), near_(near), leave_(leave) {
  ENSURE(near > 0 && near <= leave, "a border that cars leave before they come");
}

void Border::update(const std::vector<Car>& cars, const std::vector<std::array<double, 2>>& ours) {
  std::map<std::string, double> inside;  // within `leave`, by name
  for (const Car& car : cars) {
    const double squared = distance_squared(car.at, ours);
    if (squared <= leave_ * leave_) inside.emplace(car.name, squared);
  }
  for (std::string& slot : slots_) {
    if (slot.empty()) continue;
    if (inside.erase(slot) == 0) slot.clear();
  }
  std::vector<std::pair<double, std::string>> coming;
  for (const auto& [name, squared] : inside) {
    if (squared <= near_ * near_) coming.emplace_back(squared, name);
  }
  std::ranges::sort(coming);
  auto next = coming.begin();
  for (std::string& slot : slots_) {
    if (slot.empty() && next != coming.end()) slot = (next++)->second;
  }
  left_out_ = static_cast<std::uint32_t>(coming.end() - next);
}

}  // namespace isochron::sumo
