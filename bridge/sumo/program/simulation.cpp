#include "bridge/sumo/program/simulation.hpp"

#include <libsumo/libsumo.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <numbers>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::sumo {
namespace {

using libsumo::Vehicle;
constexpr double degree = std::numbers::pi / 180;
constexpr const char* our_prefix = "ours.";

double heading_of(double angle) { return (90 - angle) * degree; }
double angle_of(double heading) { return 90 - heading / degree; }

/// Between -pi and pi.
double turned(double from, double to) { return std::remainder(to - from, 2 * std::numbers::pi); }

Lamp lamp_of(char state) {
  switch (state) {
    case 'r':
    case 's':  // a right turn after a stop
      return Lamp::red;
    case 'u':
      return Lamp::red_yellow;
    case 'y':
    case 'Y':
      return Lamp::yellow;
    case 'g':
    case 'G':
      return Lamp::green;
    default:
      return Lamp::dark;
  }
}

char state_of(Lamp lamp, char green) {
  switch (lamp) {
    case Lamp::red:
      return 'r';
    case Lamp::red_yellow:
      return 'u';
    case Lamp::green:
      return green;
    case Lamp::yellow:
      return 'y';
    case Lamp::dark:
      break;
  }
  return 'O';
}

/// What SUMO says while it loads: the reason of a failure is on its standard error and nowhere else. It is passed on in
/// the end.
class Overheard {
 public:
  Overheard() : own_(dup(2)), file_(std::tmpfile()) {
    std::fflush(stderr);
    if (file_ != nullptr) dup2(fileno(file_), 2);
  }
  ~Overheard() {
    (void)text();
    close(own_);
    if (file_ != nullptr) std::fclose(file_);
  }
  Overheard(const Overheard&) = delete;
  Overheard& operator=(const Overheard&) = delete;

  /// Ends it; without its line ends.
  std::string text() {
    if (file_ == nullptr || !open_) return {};
    open_ = false;
    std::cerr.flush();
    dup2(own_, 2);
    std::rewind(file_);
    std::string said;
    char piece[1024];
    while (const std::size_t size = std::fread(piece, 1, sizeof piece, file_)) said.append(piece, size);
    std::fputs(said.c_str(), stderr);
    said = foreign_text(said, 1000);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    std::ranges::replace(said, '\n', ' ');
    return said;
  }

 private:
  int own_;
  std::FILE* file_;
  bool open_ = true;
};

}  // namespace

Simulation::Simulation(const NodeSpec& spec)
    : spec_(spec), border_(spec.slots.size(), spec.near, spec.leave), shown_(spec.slots.size()) {
  for (const NodeSpec::Own& own : spec_.ours) {
    ours_.push_back({own, our_prefix + own.name, {}, {}, false});
    our_vehicles_.insert(ours_.back().vehicle);
  }
  start();
  list_lights();
}

void Simulation::start() {
  constexpr const char* home = "/usr/share/sumo";  // of Debian's package
  if (access(home, R_OK) == 0) setenv("SUMO_HOME", home, 0);
  Overheard overheard;
  std::vector<std::string> words{"sumo"};
  const auto add = [&](const char* option, const std::string& value) {
    if (std::ranges::find(spec_.arguments, std::string(option)) != spec_.arguments.end()) return;
    words.emplace_back(option);
    words.push_back(value);
  };
  if (!spec_.config.empty()) add("--configuration-file", spec_.config);
  if (!spec_.network.empty()) add("--net-file", spec_.network);
  std::string routes;
  for (const std::string& file : spec_.routes) routes += (routes.empty() ? "" : ",") + file;
  if (!routes.empty()) add("--route-files", routes);
  add("--step-length", std::to_string(static_cast<double>(spec_.step_ns) * 1e-9));
  add("--seed", std::to_string(spec_.seed % 0x7fffffffU));
  add("--collision.action", "warn");  // ours may touch one: nobody is to vanish for it
  add("--no-step-log", "true");
  add("--duration-log.disable", "true");
  words.insert(words.end(), spec_.arguments.begin(), spec_.arguments.end());
  std::string why;
  try {
    libsumo::Simulation::start(words);
    if (libsumo::Simulation::isLoaded()) return;
  } catch (const std::exception& error) {
    why = foreign_text(error.what(), 1000);
  }
  const std::string said = overheard.text();
  throw InputError({}, "SUMO cannot be started: " + (said.empty() ? why : said));
}

Simulation::~Simulation() {
  try {
    libsumo::Simulation::close();
  } catch (const std::exception&) {  // it is over either way
  }
}

void Simulation::list_lights() {
  for (const std::string& name : libsumo::TrafficLight::getIDList()) {
    Light light{name, libsumo::TrafficLight::getRedYellowGreenState(name), {}, false};
    light.greens.assign(light.state.size(), 'G');
    for (const libsumo::TraCILogic& logic : libsumo::TrafficLight::getAllProgramLogics(name)) {
      for (const auto& phase : logic.phases) {
        for (std::size_t i = 0; i < std::min(phase->state.size(), light.greens.size()); ++i) {
          if (phase->state[i] == 'g') light.greens[i] = 'g';
        }
      }
    }
    lights_.push_back(std::move(light));
  }
}

void Simulation::hear(const AgentStates& states) {
  for (const AgentState& state : states.agents) {
    if (state.kind == static_cast<std::uint8_t>(AgentKind::lights)) obey(state.heads, state.lamps);
    for (Own& own : ours_) {
      if (own.spec.name != state.name) continue;
      own.state = state;
      own.stamp = states.stamp;
      own.known = true;
    }
  }
}

void Simulation::hear(const SignalStates& signals) { obey(signals.heads, signals.lamps); }

/// A head is LIGHT/NUMBER, the number of a link in SUMO.
void Simulation::obey(const std::vector<std::string>& heads, const std::vector<std::uint8_t>& lamps) {
  for (Light& light : lights_) {
    bool changed = false;
    for (std::size_t i = 0; i < std::min(heads.size(), lamps.size()); ++i) {
      const std::string& head = heads[i];
      if (!head.starts_with(light.name + "/")) continue;
      const std::string number = head.substr(light.name.size() + 1);
      char* end = nullptr;
      const unsigned long link = std::strtoul(number.c_str(), &end, 10);
      if (number.empty() || *end != '\0' || link >= light.state.size() || number[0] == '-') continue;
      light.state[link] = state_of(static_cast<Lamp>(lamps[i]), light.greens[link]);
      changed = true;
    }
    if (!changed) continue;
    light.ours = true;
    libsumo::TrafficLight::setRedYellowGreenState(light.name, light.state);
  }
}

/// It begins on the road nearest to it.
void Simulation::add_own(const Own& own, double x, double y) {
  const std::string& id = own.vehicle;
  const auto types = libsumo::VehicleType::getIDList();
  if (std::ranges::find(types, id) == types.end()) {
    libsumo::VehicleType::copy("DEFAULT_VEHTYPE", id);
    libsumo::VehicleType::setLength(id, own.spec.length);
    libsumo::VehicleType::setWidth(id, own.spec.width);
  }
  std::string edge = libsumo::Simulation::convertRoad(x, y, false, "passenger").edgeID;
  if (edge.empty() || edge[0] == ':') {  // inside a crossing: any road does, it is moved at once
    for (const std::string& other : libsumo::Edge::getIDList()) {
      if (other.empty() || other[0] == ':') continue;
      const auto allowed = libsumo::Lane::getAllowed(other + "_0");
      if (!allowed.empty() && std::ranges::find(allowed, "passenger") == allowed.end()) continue;
      edge = other;
      break;
    }
  }
  const std::string route = id + "@" + edge;
  const auto routes = libsumo::Route::getIDList();
  if (std::ranges::find(routes, route) == routes.end()) libsumo::Route::add(route, {edge});
  Vehicle::add(id, route, id);
  Vehicle::setSpeedMode(id, 0);
  Vehicle::setLaneChangeMode(id, 0);
}

void Simulation::move_ours(SimTime to) {
  const auto there = Vehicle::getIDList();
  for (const Own& own : ours_) {
    if (!own.known) continue;
    const auto& q = own.state.orientation;
    const double ahead = (to - own.stamp).seconds();
    const double heading =
        std::atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3])) + own.state.angular[2] * ahead;
    const double half = own.spec.length / 2;
    const double x = own.state.position[0] + own.state.linear[0] * ahead + half * std::cos(heading) + spec_.origin[0];
    const double y = own.state.position[1] + own.state.linear[1] * ahead + half * std::sin(heading) + spec_.origin[1];
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    if (std::ranges::find(there, own.vehicle) == there.end()) add_own(own, x, y);
    constexpr int anywhere = 2;  // beside the road too, and on any road
    Vehicle::moveToXY(own.vehicle, "", -1, x, y, angle_of(heading), anywhere);
  }
}

void Simulation::step(SimTime now) {
  move_ours(now);
  libsumo::Simulation::step();
  const auto others = [this](const std::vector<std::string>& ids) {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(ids, [this](const std::string& id) { return !our_vehicles_.contains(id); }));
  };
  departed_ += others(libsumo::Simulation::getDepartedIDList());
  arrived_ += others(libsumo::Simulation::getArrivedIDList());
  teleported_ += others(libsumo::Simulation::getStartingTeleportIDList());
  for (Light& light : lights_) {
    if (!light.ours) light.state = libsumo::TrafficLight::getRedYellowGreenState(light.name);
  }
  look();
}

void Simulation::look() {
  std::vector<Border::Car> cars;
  running_ = 0;
  for (const std::string& id : Vehicle::getIDList()) {
    if (our_vehicles_.contains(id)) continue;
    const libsumo::TraCIPosition at = Vehicle::getPosition(id);
    if (at.x == libsumo::INVALID_DOUBLE_VALUE) continue;  // on its way between two places
    ++running_;
    cars.push_back({id, {at.x - spec_.origin[0], at.y - spec_.origin[1]}});
  }
  std::vector<std::array<double, 2>> ours;
  for (const Own& own : ours_) {
    if (own.known) ours.push_back({own.state.position[0], own.state.position[1]});
  }
  border_.update(cars, ours);
  for (std::size_t i = 0; i < shown_.size(); ++i) look_at(shown_[i], border_.slots()[i]);
}

void Simulation::look_at(Shown& shown, const std::string& vehicle) const {
  const bool same = shown.vehicle == vehicle;
  if (vehicle.empty()) {
    shown = {};
    return;
  }
  if (!same) {
    shown = {vehicle, Vehicle::getTypeID(vehicle)};
    shown.length = Vehicle::getLength(vehicle);
    shown.width = Vehicle::getWidth(vehicle);
  }
  const double before = shown.heading;
  shown.heading = heading_of(Vehicle::getAngle(vehicle));
  shown.turning = same ? turned(before, shown.heading) / (static_cast<double>(spec_.step_ns) * 1e-9) : 0;
  shown.speed = Vehicle::getSpeed(vehicle);
  const libsumo::TraCIPosition front = Vehicle::getPosition3D(vehicle);
  const double half = shown.length / 2;
  shown.middle = {front.x - half * std::cos(shown.heading) - spec_.origin[0],
                  front.y - half * std::sin(shown.heading) - spec_.origin[1],
                  (front.z == libsumo::INVALID_DOUBLE_VALUE ? 0 : front.z) + spec_.height};
}

bool Simulation::is_equipped(const std::string& vehicle) const {
  std::uint64_t hash = 0xcbf29ce484222325U ^ spec_.seed * 0x9e3779b97f4a7c15U;
  for (const char c : vehicle) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash ^= hash >> 31U;
  hash *= 0xbf58476d1ce4e5b9U;
  hash ^= hash >> 29U;
  return static_cast<double>(hash >> 11U) * 0x1p-53 < spec_.equipped;
}

void Simulation::fill(AgentStates& states, SimTime now) const {
  states.stamp = now;
  states.agents.clear();
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    const Shown& shown = shown_[i];
    if (shown.vehicle.empty()) continue;
    AgentState& state = states.agents.emplace_back();
    state.name = spec_.slots[i];
    state.kind = static_cast<std::uint8_t>(AgentKind::car);
    state.position = shown.middle;
    state.orientation = {std::cos(shown.heading / 2), 0, 0, std::sin(shown.heading / 2)};
    state.linear = {shown.speed * std::cos(shown.heading), shown.speed * std::sin(shown.heading), 0};
    state.angular = {0, 0, shown.turning};
  }
  for (const Light& light : lights_) {
    if (light.ours) continue;
    AgentState& state = states.agents.emplace_back();
    state.name = light.name;
    state.kind = static_cast<std::uint8_t>(AgentKind::lights);
    for (std::size_t i = 0; i < light.state.size(); ++i) {
      state.heads.push_back(light.name + "/" + std::to_string(i));
      state.lamps.push_back(static_cast<std::uint8_t>(lamp_of(light.state[i])));
    }
  }
}

void Simulation::fill(SignalStates& signals, SimTime now) const {
  signals = {now, {}, {}};
  for (const Light& light : lights_) {
    for (std::size_t i = 0; i < light.state.size(); ++i) {
      signals.heads.push_back(light.name + "/" + std::to_string(i));
      signals.lamps.push_back(static_cast<std::uint8_t>(lamp_of(light.state[i])));
    }
  }
}

void Simulation::fill(Traffic& traffic, SimTime now) const {
  traffic = {now, running_, departed_, arrived_, teleported_, border_.left_out(), {}};
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    const Shown& shown = shown_[i];
    if (shown.vehicle.empty()) continue;
    traffic.near.push_back(
        {shown.vehicle, shown.type, spec_.slots[i], shown.length, shown.width, is_equipped(shown.vehicle)});
  }
}

}  // namespace isochron::sumo
