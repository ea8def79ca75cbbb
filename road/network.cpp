#include "road/network.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace isochron::road {

std::optional<std::uint32_t> Network::lane(const std::string& id) const {
  const auto found = std::ranges::find(lanes, id, &Lane::id);
  if (found == lanes.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - lanes.begin());
}

const Connection* Network::way_on(std::uint32_t lane) const {
  constexpr std::string_view straightest = "sRrLlt";
  const Connection* best = nullptr;
  for (const Connection& connection : connections) {
    if (connection.from != lane) continue;
    if (best == nullptr || straightest.find(connection.direction) < straightest.find(best->direction)) {
      best = &connection;
    }
  }
  return best;
}

double length(const std::vector<Point>& shape) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) {
    sum += std::hypot(shape[i + 1][0] - shape[i][0], shape[i + 1][1] - shape[i][1], shape[i + 1][2] - shape[i][2]);
  }
  return sum;
}

}  // namespace isochron::road
