#pragma once
// A road network as drivers, signals and maps need it: lanes and where they are, which lane leads to which, who waits
// where for which signal, and who gives way to whom. Plain data; net_xml.hpp reads it from SUMO's files, model.hpp
// makes a model of it, intersections.hpp what MAP messages tell.
//
//     lane ──────────────► stop line │ connection (via inner lanes) │ ──────────────► lane
//                                    └── link of a signal, or right of way by `response`
//
// Promises: every index points to something that is there. Shapes have two points or more, all of them numbers.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace isochron::road {

using Point = std::array<double, 3>;

struct Lane {
  std::string id;
  std::string edge;  // lanes of one edge lie side by side, the rightmost first
  std::uint32_t index = 0;
  bool inner = false;  // inside a junction
  bool drivable = true;
  double speed = 13.9;  // limit, m/s
  double width = 3.2;
  std::vector<Point> shape;  // its middle, in the direction of driving
};

/// From one lane to another across a junction.
struct Connection {
  std::uint32_t from = 0, to = 0;    // lanes
  std::optional<std::uint32_t> via;  // the first inner lane
  std::optional<std::uint32_t> signal;
  std::uint32_t link = 0;  // of that signal
  char direction = 's';    // s straight, l left, r right, t turn, L and R partly
  char right = 'M';        // M goes first, m gives way, = equal, s stops, w turns right on red, o and O by signal
};

/// Who gives way to whom in a junction; bit i from the right is its link i.
struct Link {
  std::string response;  // links that it gives way to
  std::string foes;      // links that it crosses
};

struct Junction {
  std::string id;
  std::string type;  // priority, traffic_light, right_before_left, …
  Point at{};
  std::vector<std::uint32_t> incoming, inner;  // lanes; the inner ones in the order of its links
  std::vector<Link> links;
};

struct Phase {
  double seconds = 0;
  std::string state;  // a letter for each link: r u G g y o O
};

struct Signal {
  std::string id;
  std::uint32_t links = 0;
  double offset = 0;  // s
  std::vector<Phase> phases;
};

struct Network {
  std::vector<Lane> lanes;
  std::vector<Connection> connections;
  std::vector<Junction> junctions;
  std::vector<Signal> signals;

  [[nodiscard]] std::optional<std::uint32_t> lane(const std::string& id) const;
  /// The signal and link that drivers of a lane obey at its end: that of the straightest way on.
  [[nodiscard]] const Connection* way_on(std::uint32_t lane) const;
};

double length(const std::vector<Point>& shape);

}  // namespace isochron::road
