#include "scenario/wire_section.hpp"

#include <charconv>
#include <map>

#include "scenario/scenario.hpp"

namespace isochron {
namespace {

bool is_port(std::string_view text) {
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

bool in_simulated_network(const ProgramSection& program) {
  return program.clock == ClockKind::virtual_ && program.system == SystemKind::simulated;
}

class WireCheck {
 public:
  WireCheck(const Scenario& scenario, std::vector<Mistake>& mistakes) : scenario_(scenario), mistakes_(mistakes) {
    for (const auto& [name, robot] : scenario.robots) {
      robots_.push_back(name);
      for (const auto& [program, section] : robot.programs) anybody_ = anybody_ || in_simulated_network(section);
    }
  }

  void check(const RobotSection& robot) {
    std::map<std::pair<bool, std::uint32_t>, std::string> ports;
    for (const auto& [name, wire] : robot.wires) {
      check(name, wire);
      const auto [other, fresh] =
          ports.try_emplace({wire.udp.has_value(), wire.udp.value_or(wire.tcp.value_or(0))}, name);
      if (!fresh) say(wire, wire.udp ? "udp" : "tcp", "is the port of wire `" + other->second + "` too", "");
    }
  }

 private:
  void say(const WireSection& wire, const char* key, const std::string& what, std::string hint) {
    mistakes_.push_back({wire.place_of(key), "`" + std::string(key) + "` " + what, std::move(hint)});
  }

  void check(const std::string& name, const WireSection& wire) {
    if (wire.udp.has_value() == wire.tcp.has_value()) {
      mistakes_.push_back({wire.place, "wire `" + name + "` needs either `udp` or `tcp`", "as in `udp: 5005`"});
    }
    for (const auto& [key, port] : {std::pair("udp", wire.udp), std::pair("tcp", wire.tcp)}) {
      if (port && (*port < 1 || *port > 65535)) say(wire, key, "must be 1 to 65535", "");
    }
    if (!wire.to.empty()) check_to(wire);
    if (wire.every <= SimSpan::zero()) say(wire, "every", "must be positive", "");
    if (wire.v2x) check_radio(wire);
    if (wire.sends.empty() && wire.takes.empty() && !wire.v2x) {
      mistakes_.push_back(
          {wire.place, "wire `" + name + "` neither sends nor takes anything", "as in `sends: {speed: speed}`"});
    }
    if (scenario_.time.mode == Mode::realtime) {
      mistakes_.push_back(
          {wire.place, "wires are part of the simulated network, and mode realtime has none", "use another mode"});
    } else if (!anybody_) {
      mistakes_.push_back({wire.place,
                           "nobody can talk over wire `" + name + "`: no program is in the simulated network",
                           "add `clock: virtual` to the program that is to"});
    }
  }

  void check_radio(const WireSection& wire) {
    if (!wire.udp) say(wire, "v2x", "is for `udp`", "");
    for (const char* key : {"every", "form", "sends", "takes"}) {
      if (wire.key_places.contains(key)) say(wire, key, "has no meaning for a radio", "leave it out");
    }
    if (!scenario_.v2x) say(wire, "v2x", "needs a radio, and without `v2x` no robot has one", "see docs/v2x.md");
  }

  void check_to(const WireSection& wire) {
    if (!wire.udp) return say(wire, "to", "is for `udp`", "who connects to a `tcp` port is told");
    const std::size_t colon = wire.to.find(':');
    const std::string host = colon == std::string::npos ? "" : wire.to.substr(0, colon);
    if (!is_port(std::string_view(wire.to).substr(colon == std::string::npos ? 0 : colon + 1))) {
      return say(wire, "to", "must be a port or ROBOT:PORT", "as in `to: 5006` or `to: base:5006`");
    }
    if (host.empty() || std::find(robots_.begin(), robots_.end(), host) != robots_.end()) return;
    say(wire, "to", "names `" + host + "`, which is no robot", nearest_hint(host, robots_));
  }

  const Scenario& scenario_;
  std::vector<Mistake>& mistakes_;
  std::vector<std::string> robots_;
  bool anybody_ = false;
};

}  // namespace

void check_wires(const Scenario& scenario, std::vector<Mistake>& mistakes) {
  WireCheck check(scenario, mistakes);
  for (const auto& [name, robot] : scenario.robots) check.check(robot);
}

}  // namespace isochron
