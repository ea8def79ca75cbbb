#include "road/model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/markup.hpp"

namespace isochron::road {
namespace {

constexpr double flat_within = 0.01;     // m
constexpr double asphalt_height = 0.01;  // of what is painted over the ground, m
constexpr double slab = 0.1;             // half the thickness of ground that is not flat, m

std::string number(double value) {
  char text[32];
  const auto [end, code] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 8);
  return {text, end};
}

std::string numbers(std::initializer_list<double> values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + number(value);
  return text;
}

/// Names of others as they may stand in an attribute.
std::string escaped(const std::string& name) { return xml_markup(name, '_'); }

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class Writer {
 public:
  Writer(const Network& network, const ModelOptions& options) : network_(network), options_(options) {
    for (const Lane& lane : network_.lanes) {
      for (const Point& point : lane.shape) height_.add(point[2]);
    }
  }

  std::string write() {
    text_ = "<!-- made by `isochron import road`: made anew, changes are lost -->\n<mujoco model=\"" +
            escaped(options_.name) + "\">\n  <worldbody>\n";
    line("<light name=\"sun\" pos=\"0 0 100\" dir=\"-0.3 -0.2 -1\" directional=\"true\" castshadow=\"false\"/>");
    const double base = flat() ? height_.low : height_.low - 0.05;
    line("<geom name=\"ground\" type=\"plane\" size=\"0 0 1\" pos=\"" + numbers({0, 0, base}) +
         "\" friction=\"0.9\" rgba=\"0.35 0.42 0.3 1\"/>");
    for (const Lane& lane : network_.lanes) add_lane(lane);
    for (std::uint32_t lane = 0; lane < network_.lanes.size(); ++lane) add_stop_line(lane);
    for (std::uint32_t signal = 0; signal < network_.signals.size(); ++signal) add_heads(signal);
    for (std::uint32_t car = 0; car < options_.cars; ++car) add_car(car);
    return std::move(text_) + "  </worldbody>\n</mujoco>\n";
  }

 private:
  [[nodiscard]] bool flat() const { return height_.high - height_.low < flat_within; }
  void line(const std::string& text) { text_ += "    " + text + "\n"; }

  [[nodiscard]] Point placed(const Point& point) const {
    return {point[0] - options_.origin[0], point[1] - options_.origin[1], point[2]};
  }

  /// A box from a to b, as wide as the lane; its top `over` the line between them.
  void add_slab(const std::string& name, const Point& a, const Point& b, double width, double over, double thick,
                const std::string& look) {
    const double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
    const double along = std::hypot(dx, dy, dz);
    if (along < 1e-6) return;
    const double yaw = std::atan2(dy, dx), pitch = -std::atan2(dz, std::hypot(dx, dy));
    const double cy = std::cos(yaw / 2), sy = std::sin(yaw / 2), cp = std::cos(pitch / 2), sp = std::sin(pitch / 2);
    line("<geom name=\"" + escaped(name) + "\" type=\"box\" size=\"" + numbers({along / 2, width / 2, thick}) +
         "\" pos=\"" + numbers({(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2 + over - thick}) +
         "\" quat=\"" + numbers({cy * cp, -sy * sp, cy * sp, sy * cp}) + "\" " + look + "/>");
  }

  void add_lane(const Lane& lane) {
    if (!lane.drivable) return;
    const std::string grey = "rgba=\"0.25 0.25 0.27 1\"";
    for (std::size_t i = 0; i + 1 < lane.shape.size(); ++i) {
      const Point a = placed(lane.shape[i]), b = placed(lane.shape[i + 1]);
      const std::string name = "lane/" + lane.id + "/" + std::to_string(i);
      if (flat()) {
        add_slab(name, a, b, lane.width, asphalt_height, asphalt_height / 2, "contype=\"0\" conaffinity=\"0\" " + grey);
      } else {
        add_slab("ground/" + name, a, b, lane.width, 0, slab, "friction=\"0.9\" " + grey);
      }
    }
  }

  /// Where the lane ends: half a metre of it.
  void add_stop_line(std::uint32_t index) {
    const Lane& lane = network_.lanes[index];
    const Connection* way = network_.way_on(index);
    if (lane.inner || !lane.drivable || way == nullptr || (!way->signal && way->right == 'M')) return;
    const Point end = placed(lane.shape.back()), before = placed(lane.shape[lane.shape.size() - 2]);
    const double dx = end[0] - before[0], dy = end[1] - before[1], along = std::hypot(dx, dy);
    if (along < 1e-6) return;
    const double share = std::min(0.5 / along, 1.0);
    const Point from{end[0] - dx * share, end[1] - dy * share, end[2] - (end[2] - before[2]) * share};
    add_slab("stop/" + lane.id, from, end, lane.width, 1.5 * asphalt_height, asphalt_height / 2,
             "contype=\"0\" conaffinity=\"0\" rgba=\"0.95 0.95 0.95 1\"");
  }

  /// Beside the end of the lane, on the right; heads of one lane above each other.
  void add_heads(std::uint32_t signal) {
    for (std::uint32_t link = 0; link < network_.signals[signal].links; ++link) {
      std::uint32_t above = 0;
      const Connection* found = nullptr;
      for (const Connection& connection : network_.connections) {
        if (connection.signal != signal || connection.link != link || found != nullptr) continue;
        found = &connection;
      }
      if (found == nullptr) continue;
      for (const Connection& other : network_.connections) {
        if (other.signal == signal && other.from == found->from && other.link < link) ++above;
      }
      const Lane& lane = network_.lanes[found->from];
      const Point end = placed(lane.shape.back()), before = placed(lane.shape[lane.shape.size() - 2]);
      const double heading = std::atan2(end[1] - before[1], end[0] - before[0]);
      const double aside = lane.width / 2 + 0.4;
      const Point at{end[0] + aside * std::sin(heading), end[1] - aside * std::cos(heading), end[2]};
      const std::string name = escaped("signal/" + network_.signals[signal].id + "/" + std::to_string(link));
      line("<body name=\"" + name + "\" pos=\"" + numbers({at[0], at[1], at[2] + 3 + 0.9 * above}) + "\" quat=\"" +
           numbers({std::cos(heading / 2), 0, 0, std::sin(heading / 2)}) + "\">");
      line("  <geom name=\"" + name +
           "/head\" type=\"box\" size=\"0.12 0.15 0.4\" contype=\"0\" conaffinity=\"0\" rgba=\"0.1 0.1 0.1 1\"/>");
      if (above == 0) {
        line("  <geom name=\"" + name +
             "/pole\" type=\"cylinder\" size=\"0.06 1.3\" pos=\"0 0 -1.7\" rgba=\"0.5 0.5 0.5 1\"/>");
      }
      line("</body>");
    }
  }

  void add_car(std::uint32_t car) {
    const std::string digits = std::to_string(car);
    const std::string name = "traffic_" + std::string(digits.size() < 2 ? 2 - digits.size() : 0, '0') + digits;
    line("<body name=\"" + name + "\" mocap=\"true\" pos=\"" + numbers({1e4, 1e4 + 20.0 * car, 5}) + "\">");
    line("  <geom name=\"" + name +
         "/hull\" type=\"box\" size=\"2.25 0.9 0.4\" pos=\"0 0 0.6\" rgba=\"0.2 0.4 0.7 1\"/>");
    line("  <geom name=\"" + name +
         "/cabin\" type=\"box\" size=\"1.1 0.8 0.25\" pos=\"-0.2 0 1.25\" rgba=\"0.15 0.2 0.25 1\"/>");
    line("</body>");
  }

  const Network& network_;
  const ModelOptions& options_;
  Range height_;
  std::string text_;
};

}  // namespace

std::string model_text(const Network& network, const ModelOptions& options) { return Writer(network, options).write(); }

std::array<double, 2> centre(const Network& network) {
  Range x, y;
  for (const Lane& lane : network.lanes) {
    if (!lane.drivable) continue;
    for (const Point& point : lane.shape) x.add(point[0]), y.add(point[1]);
  }
  if (x.low > x.high) return {};
  return {std::round((x.low + x.high) / 2), std::round((y.low + y.high) / 2)};
}

}  // namespace isochron::road
