#include "road/intersections.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace isochron::road {
namespace {

constexpr double told = 150;             // m of a lane; MAP messages do not reach much farther
constexpr std::size_t most_points = 20;  // of a lane; a MAP takes 63
constexpr std::size_t most_lanes = 200;  // of an intersection; their numbers have eight bits

std::string number(double value) {
  char text[32];
  const auto [end, code] = std::to_chars(text, text + sizeof text, std::round(value * 100) / 100 + 0.0);
  return {text, end};
}

/// As scenarios have names: letters, digits, _ and -; no two alike.
class Names {
 public:
  const std::string& of(const std::string& id) {
    const auto known = names_.find(id);
    if (known != names_.end()) return known->second;
    std::string name;
    for (const char c : id.substr(0, 80)) {
      const bool good =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      name += good ? c : '_';
    }
    if (name.empty()) name = "_";
    const std::string begin = name;
    for (int i = 2; !taken_.insert(name).second; ++i) name = begin + "_" + std::to_string(i);
    return names_.emplace(id, name).first->second;
  }

 private:
  std::map<std::string, std::string> names_;
  std::set<std::string> taken_;
};

std::string points(const std::vector<Point>& shape, bool from_end, const std::array<double, 2>& origin) {
  std::vector<Point> way = shape;
  if (from_end) std::ranges::reverse(way);
  std::string text = "[";
  double gone = 0;
  for (std::size_t i = 0; i < std::min(way.size(), most_points); ++i) {
    if (i > 0) {
      const double step = std::hypot(way[i][0] - way[i - 1][0], way[i][1] - way[i - 1][1]);
      const double share = gone + step > told && step > 0 ? (told - gone) / step : 1;
      for (std::size_t k = 0; k < 2; ++k) way[i][k] = way[i - 1][k] + share * (way[i][k] - way[i - 1][k]);
      gone += step;
    }
    text += (i > 0 ? ", [" : "[") + number(way[i][0] - origin[0]) + ", " + number(way[i][1] - origin[1]) + "]";
    if (gone >= told) break;
  }
  return text + "]";
}

/// The lights' phases; which letters are what, see Phase.
std::string phases(const Signal& signal, const std::string& indent) {
  std::string text;
  for (const Phase& phase : signal.phases) {
    if (!(phase.seconds > 0)) continue;
    const auto heads = [&](std::string_view letters) {
      std::string list;
      for (std::size_t i = 0; i < phase.state.size(); ++i) {
        if (letters.find(phase.state[i]) != std::string_view::npos)
          list += (list.empty() ? "\"" : ", \"") + std::to_string(i) + "\"";
      }
      return "[" + list + "]";
    };
    text += indent + "- {lasts: " + number(phase.seconds) + "s, green: " + heads("Gg") + ", yellow: " + heads("yYu") +
            "}\n";
  }
  return text;
}

class Writer {
 public:
  Writer(const Network& network, const std::array<double, 2>& origin) : network_(network), origin_(origin) {}

  std::string write() {
    if (network_.signals.empty()) return {};
    std::string lights, intersections;
    for (std::uint32_t i = 0; i < network_.signals.size(); ++i) {
      const Signal& signal = network_.signals[i];
      const std::string list = phases(signal, "        ");
      if (list.empty()) continue;
      lights += "    " + signals_.of(signal.id) + ":\n      kind: lights\n      client: lights\n      phases:\n" + list;
      intersections += lanes_of(i);
    }
    if (lights.empty()) return {};
    return "agents:\n  members:\n" + lights + "v2x:\n  intersections:\n" + intersections;
  }

 private:
  std::string lanes_of(std::uint32_t signal) {
    std::vector<std::uint32_t> incoming, outgoing;
    const auto add = [](std::vector<std::uint32_t>& to, std::uint32_t lane) {
      if (std::ranges::find(to, lane) == to.end() && to.size() < most_lanes / 2) to.push_back(lane);
    };
    for (const Connection& connection : network_.connections) {
      if (connection.signal != signal) continue;
      add(incoming, connection.from);
      add(outgoing, connection.to);
    }
    Names names;
    std::string text =
        "    " + signals_.of(network_.signals[signal].id) + ":\n      id: " + std::to_string(signal % 65535 + 1) + "\n";
    double x = 0, y = 0, limit = 0, width = 0;
    for (const std::uint32_t index : incoming) {
      const Lane& lane = network_.lanes[index];
      x += lane.shape.back()[0], y += lane.shape.back()[1];
      limit = std::max(limit, lane.speed), width = std::max(width, lane.width);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(incoming.size(), 1));
    text += "      antenna: [" + number(x / count - origin_[0]) + ", " + number(y / count - origin_[1]) + ", 5]\n";
    text += "      lane_width: " + number(width) + "\n      speed_limit: " + number(limit) + "\n      lanes:\n";
    for (const std::uint32_t index : incoming) {
      std::string to;
      for (const Connection& connection : network_.connections) {
        if (connection.from != index || std::ranges::find(outgoing, connection.to) == outgoing.end()) continue;
        to += (to.empty() ? "" : ", ") + names.of(network_.lanes[connection.to].id);
      }
      const Lane& lane = network_.lanes[index];
      text += "        " + names.of(lane.id) + ": {nodes: " + points(lane.shape, true, origin_) + ", head: \"" +
              std::to_string(head_of(index, signal)) + "\", to: [" + to + "]}\n";
    }
    for (const std::uint32_t index : outgoing) {
      if (std::ranges::find(incoming, index) != incoming.end()) continue;
      const Lane& lane = network_.lanes[index];
      text += "        " + names.of(lane.id) + ": {nodes: " + points(lane.shape, false, origin_) + "}\n";
    }
    return text;
  }
  /// A lane tells one head: that of the straightest way on.
  [[nodiscard]] std::uint32_t head_of(std::uint32_t lane, std::uint32_t signal) const {
    const Connection* way = network_.way_on(lane);
    if (way->signal == signal) return way->link;
    const auto any = std::ranges::find_if(network_.connections,
                                          [&](const Connection& c) { return c.from == lane && c.signal == signal; });
    return any->link;
  }

  const Network& network_;
  std::array<double, 2> origin_;
  Names signals_;
};

}  // namespace

std::string intersections_text(const Network& network, const std::array<double, 2>& origin) {
  return Writer(network, origin).write();
}

}  // namespace isochron::road
