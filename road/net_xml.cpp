#include "road/net_xml.hpp"

#include <cmath>
#include <map>

#include "core/xml.hpp"

namespace isochron::road {
namespace {

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : xml_(text, file) {}

  Network read() {
    const pugi::xml_node root = xml_.root();
    if (std::string_view(root.name()) != "net") {
      xml_.refuse(root, "is not a road network of SUMO: <net> is expected");
    }
    for (const pugi::xml_node edge : root.children("edge")) read_edge(edge);
    for (const pugi::xml_node logic : root.children("tlLogic")) read_signal(logic);
    for (const pugi::xml_node junction : root.children("junction")) read_junction(junction);
    for (const pugi::xml_node connection : root.children("connection")) read_connection(connection);
    if (network_.lanes.empty()) xml_.refuse(root, "the network has no lane");
    return std::move(network_);
  }

 private:
  static constexpr double most = 1e7;  // m; no road is longer, and what is larger cannot be drawn

  double number(const pugi::xml_node& node, const char* key, double otherwise) const {
    const double value = xml_.number<double>(node, key).value_or(otherwise);
    if (!std::isfinite(value) || std::abs(value) > most) {
      xml_.refuse(node, std::string("`") + key + "` is too large");
    }
    return value;
  }

  std::vector<Point> shape(const pugi::xml_node& node) const {
    std::vector<Point> points;
    const std::string text = node.attribute("shape").value();
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto bad = [&] { xml_.refuse(node, "`shape` must be points such as `0,0 10,0`"); };
    while (at != end) {
      if (*at == ' ') {
        ++at;
        continue;
      }
      Point point{};
      std::size_t count = 0;
      for (bool more = true; more; ++count) {
        if (count == point.size()) bad();
        const auto [next, code] = std::from_chars(at, end, point[count]);
        if (code != std::errc{} || !std::isfinite(point[count]) || std::abs(point[count]) > most) bad();
        at = next;
        more = at != end && *at == ',';
        if (more) ++at;
      }
      if (count < 2 || (at != end && *at != ' ')) bad();
      if (points.empty() || points.back() != point) points.push_back(point);
    }
    return points;
  }

  static bool drivable(const pugi::xml_node& lane, std::string_view function) {
    if (function == "crossing" || function == "walkingarea") return false;
    const std::string_view allow = lane.attribute("allow").value(), disallow = lane.attribute("disallow").value();
    if (!allow.empty()) return has_word(allow, "passenger") || has_word(allow, "all");
    return !has_word(disallow, "passenger") && !has_word(disallow, "all");
  }

  void read_edge(const pugi::xml_node& edge) {
    const std::string id = xml_.required(edge, "id");
    const std::string_view function = edge.attribute("function").value();
    for (const pugi::xml_node node : edge.children("lane")) {
      Lane lane;
      lane.id = xml_.required(node, "id");
      lane.edge = id;
      lane.index = xml_.number<std::uint32_t>(node, "index").value_or(0);
      lane.inner = function == "internal" || (!id.empty() && id[0] == ':');
      lane.drivable = drivable(node, function);
      lane.speed = number(node, "speed", lane.speed);
      lane.width = number(node, "width", lane.width);
      if (!(lane.width > 0) || lane.width > 100) xml_.refuse(node, "`width` must be from 0 to 100 m");
      lane.shape = shape(node);
      if (lane.shape.size() < 2) {
        if (!lane.inner) xml_.refuse(node, "lane `" + lane.id + "` has no length");
        continue;  // a way through a junction that is a point
      }
      if (!by_id_.emplace(lane.id, static_cast<std::uint32_t>(network_.lanes.size())).second) {
        xml_.refuse(node, "there are two lanes `" + lane.id + "`");
      }
      network_.lanes.push_back(std::move(lane));
    }
  }

  void read_signal(const pugi::xml_node& logic) {
    Signal signal;
    signal.id = xml_.required(logic, "id");
    if (signals_.contains(signal.id)) return;  // another programme of the same lights
    signal.offset = number(logic, "offset", 0);
    for (const pugi::xml_node phase : logic.children("phase")) {
      signal.phases.push_back({number(phase, "duration", 0), xml_.required(phase, "state")});
      if (!(signal.phases.back().seconds >= 0)) xml_.refuse(phase, "`duration` must not be negative");
      signal.links = std::max(signal.links, static_cast<std::uint32_t>(signal.phases.back().state.size()));
    }
    signals_[signal.id] = static_cast<std::uint32_t>(network_.signals.size());
    network_.signals.push_back(std::move(signal));
  }

  [[nodiscard]] std::vector<std::uint32_t> lanes_of(const pugi::xml_node& node, const char* key) const {
    std::vector<std::uint32_t> lanes;
    const std::string text = node.attribute(key).value();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (const auto found = by_id_.find(text.substr(at, end - at)); found != by_id_.end()) {
        lanes.push_back(found->second);
      }
      at = end + 1;
    }
    return lanes;
  }

  void read_junction(const pugi::xml_node& node) {
    const std::string type = xml_.text(node, "type");
    if (type == "internal") return;  // a place inside a junction where one waits
    Junction junction;
    junction.id = xml_.required(node, "id");
    junction.type = type;
    junction.at = {number(node, "x", 0), number(node, "y", 0), number(node, "z", 0)};
    junction.incoming = lanes_of(node, "incLanes");
    junction.inner = lanes_of(node, "intLanes");
    for (const pugi::xml_node request : node.children("request")) {
      junction.links.push_back({xml_.text(request, "response"), xml_.text(request, "foes")});
    }
    network_.junctions.push_back(std::move(junction));
  }

  std::uint32_t end_of(const pugi::xml_node& node, const char* edge, const char* index) const {
    const std::string id = xml_.required(node, edge) + "_" + xml_.required(node, index);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) xml_.refuse(node, "there is no lane `" + foreign_name(id) + "`");
    return found->second;
  }

  void read_connection(const pugi::xml_node& node) {
    const std::string_view from = node.attribute("from").value();
    if (!from.empty() && from[0] == ':') return;  // inside a junction
    Connection connection;
    connection.from = end_of(node, "from", "fromLane");
    connection.to = end_of(node, "to", "toLane");
    if (const auto via = by_id_.find(node.attribute("via").value()); via != by_id_.end()) connection.via = via->second;
    if (node.attribute("tl")) {
      const auto signal = signals_.find(node.attribute("tl").value());
      if (signal == signals_.end()) {
        xml_.refuse(node, "there are no lights `" + foreign_name(node.attribute("tl").value()) + "`");
      }
      connection.signal = signal->second;
      connection.link = xml_.number<std::uint32_t>(node, "linkIndex").value_or(0);
      if (connection.link >= network_.signals[signal->second].links) {
        xml_.refuse(node, "the lights have no link " + std::to_string(connection.link));
      }
    }
    const std::string_view direction = node.attribute("dir").value(), state = node.attribute("state").value();
    if (!direction.empty()) connection.direction = direction[0];
    if (!state.empty()) connection.right = state[0];
    network_.connections.push_back(connection);
  }

  Xml xml_;
  Network network_;
  std::map<std::string, std::uint32_t, std::less<>> by_id_, signals_;
};

}  // namespace

Network read_net_xml(std::string_view text, const std::string& file) { return Reader(text, file).read(); }

std::string net_file_of(std::string_view sumocfg, const std::string& file) {
  const Xml xml(sumocfg, file);
  for (const pugi::xml_node section : xml.root().children()) {
    if (const auto net = section.child("net-file")) return xml.text(net, "value");
  }
  return xml.text(xml.root().child("net-file"), "value");
}

}  // namespace isochron::road
