#include "run/node_places.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/foreign_text.hpp"
#include "link/resolve.hpp"

namespace isochron {
namespace {

/// What a section says of the nodes that are made of it.
struct Said {
  const Section* section = nullptr;
  std::string at, host;
};

template <class S>
Said said_by(const S& section) {
  return {&section, section.at, section.host};
}

Said said_of(const Scenario& scenario, const std::string& node) {
  for (const auto& [name, section] : scenario.nodes) {
    if (name == node) return said_by(section);
  }
  if (node == "ros" && scenario.ros) return said_by(*scenario.ros);
  if (node == "ros2" && scenario.ros2) return said_by(*scenario.ros2);
  if (node == "world" && scenario.world) return said_by(*scenario.world);
  for (const auto& [name, section] : scenario.robots) {
    if (name == node.substr(0, node.find('/'))) return said_by(section);
  }
  return {};
}

/// Not what a remote shell would take for an option, nor anything that a shell would read.
bool is_host_name(const std::string& host) {
  return host.size() <= 255 && host.front() != '-' &&
         host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@%-") ==
             std::string::npos;
}

}  // namespace

std::vector<NodePlace> node_places(const Scenario& scenario, const flow::Graph& graph, bool has_key,
                                   const std::map<std::string, std::string>& given) {
  constexpr std::uint16_t first_port = 7500;
  std::vector<NodePlace> places;
  std::vector<Mistake> mistakes;
  std::map<const Section*, std::uint16_t> used;  // ports of a section
  for (const flow::NodeInfo& node : graph.nodes) {
    const Said said = said_of(scenario, node.name);
    places.push_back({node.name, said.host, Address::loopback(static_cast<std::uint16_t>(first_port + places.size()))});
    if (!said.host.empty() && !is_host_name(said.host)) {
      mistakes.push_back({said.section->place_of("host"), "`" + foreign_name(said.host) + "` is not a host's name",
                          "as in robot.local or user@10.0.0.2"});
    }
    const auto known = given.find(node.name);
    const auto chosen = known == given.end() ? std::nullopt : std::optional(link::resolve(known->second));
    if (said.at.empty()) {
      if (chosen && *chosen) places.back().address = (*chosen)->front();
      continue;
    }
    places.back().said = true;
    const Place& place = said.section->place_of("at");
    const auto found = link::resolve(said.at);
    if (!found) {
      mistakes.push_back({place, found.error().what, ""});
      continue;
    }
    Address& address = places.back().address;
    address = found->front();
    address.port = static_cast<std::uint16_t>(address.port + used[said.section]++);
    if (chosen && *chosen) address = (*chosen)->front();
    if (address.is_loopback() || has_key) continue;
    mistakes.push_back({place, "node `" + node.name + "` is reachable from other machines, without a key",
                        "give all nodes one with `network: {key: FILE}` or ISOCHRON_KEY"});
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return places;
}

}  // namespace isochron
