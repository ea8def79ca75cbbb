// From a scenario's `v2x`, agents and model to an air: who has an antenna where, what stands in the way, who
// interferes.

#include <algorithm>
#include <set>

#include "core/nearest_name.hpp"
#include "run/stage.hpp"
#include "traffic/agent_parts.hpp"
#include "traffic/buildings.hpp"
#include "traffic/v2x_unit.hpp"
#include "world/vectors.hpp"

namespace isochron {
namespace {

const std::string& body_of(const std::string& name, const AgentSection& member) {
  return member.body.empty() ? name : member.body;
}

bool is_equipped(const V2xSection& v2x, const std::string& name, const AgentSection& member) {
  if (member.kind == AgentKind::car) {
    return v2x.equipped.empty() || std::find(v2x.equipped.begin(), v2x.equipped.end(), name) != v2x.equipped.end();
  }
  return member.kind == AgentKind::lights && std::any_of(v2x.intersections.begin(), v2x.intersections.end(),
                                                         [&](const auto& i) { return i.first == name; });
}

/// Collects what is wrong.
class Mistakes {
 public:
  explicit Mistakes(const Scenario& scenario)
      : v2x_(*scenario.v2x), agents_(*scenario.agents), robots_(scenario.robots) {
    for (const auto& [name, member] : agents_.members) {
      if (member.kind == AgentKind::car) cars_.push_back(name);
      if (member.kind == AgentKind::lights) lights_.push_back(name);
    }
    stations_ = cars_;
    stations_.insert(stations_.end(), lights_.begin(), lights_.end());
  }
  void check() {
    names("equipped", v2x_.equipped, cars_, "car");
    names("deaf", v2x_.deaf, cars_, "car");
    names("quiet", v2x_.quiet, cars_, "car");
    for (const AttackSection& attack : v2x_.attacks) {
      for (const std::string& victim : attack.victims) known(attack.place_of("victims"), victim, stations_, "station");
      if (attack.share.value < 0 || attack.share.value > 1) say(attack.place_of("share"), "a share is from 0 to 1");
      if (attack.by < SimSpan::zero()) say(attack.place_of("by"), "an attacker cannot send before the sender");
    }
    if (v2x_.loss.value < 0 || v2x_.loss.value > 1) say(v2x_.place_of("loss"), "a share is from 0 to 1");
    if (v2x_.delay < SimSpan::zero()) say(v2x_.place_of("delay"), "nothing is heard before it is sent");
    if (v2x_.latitude < -89 || v2x_.latitude > 89) say(v2x_.place_of("latitude"), "must be within ±89 degrees");
    if (v2x_.longitude < -180 || v2x_.longitude > 180) say(v2x_.place_of("longitude"), "must be within ±180 degrees");
    for (const auto& [name, intersection] : v2x_.intersections) check(name, intersection);
    for (const auto& [name, robot] : robots_) {
      for (const auto& [sensor, section] : robot.sensors) check(section);
    }
    if (!list_.empty()) throw InputError(std::move(list_));
  }

 private:
  void say(const Place& place, const std::string& what, const std::string& hint = "") {
    list_.push_back({place, what, hint});
  }
  void known(const Place& place, const std::string& name, const std::vector<std::string>& all, const char* what) {
    if (std::find(all.begin(), all.end(), name) != all.end()) return;
    say(place, "there is no " + std::string(what) + " `" + name + "`", nearest_hint(name, all));
  }
  void names(const char* key, const std::vector<std::string>& list, const std::vector<std::string>& all,
             const char* what) {
    for (const std::string& name : list) known(v2x_.place_of(key), name, all, what);
  }
  /// Places go out in messages: everybody must mean the same by them.
  void check(const SensorSection& sensor) {
    if (sensor.type != world::SensorType::gps) return;
    const world::GpsOptions& gps = sensor.gps;
    if (std::abs(gps.latitude - v2x_.latitude) < 1e-7 && std::abs(gps.longitude - v2x_.longitude) < 1e-7) return;
    say(sensor.place, "this GPS has the world's origin elsewhere than `v2x` has",
        "give both the same latitude and longitude: " + number(v2x_.latitude) + ", " + number(v2x_.longitude));
  }
  static std::string number(double value) {
    std::string text = std::to_string(value);
    return text.substr(0, text.find_last_not_of('0') + 1);
  }
  void check(const std::string& name, const IntersectionSection& intersection) {
    known(intersection.place, name, lights_, "agent of kind lights called");
    std::vector<std::string> heads, lanes;
    for (const auto& [member, section] : agents_.members) {
      if (member == name && section.kind == AgentKind::lights) heads = Signals(name, section.phases).heads();
    }
    for (const auto& [lane, section] : intersection.lanes) lanes.push_back(lane);
    for (const auto& [lane, section] : intersection.lanes) {
      if (section.nodes.size() < 2) say(section.place_of("nodes"), "lane `" + lane + "` needs two nodes or more");
      if (!section.head.empty()) known(section.place_of("head"), section.head, heads, "signal");
      for (const std::string& to : section.to) known(section.place_of("to"), to, lanes, "lane");
      for (const std::string& to : section.yields) {
        if (std::find(section.to.begin(), section.to.end(), to) != section.to.end()) continue;
        say(section.place_of("yields"), "lane `" + lane + "` does not lead to `" + to + "`", "name it in `to` too");
      }
    }
  }

  const V2xSection& v2x_;
  const AgentsSection& agents_;
  const Named<RobotSection>& robots_;
  std::vector<std::string> cars_, lights_, stations_;
  std::vector<Mistake> list_;
};

void add_boxes(const Scenario& scenario, v2x::AirSettings& air) {
  Stage stage(scenario);
  const world::Engine& engine = stage.world().engine();
  std::map<std::uint32_t, std::size_t> shapes;  // of agents' bodies
  for (const auto& [name, member] : scenario.agents->members) {
    if (member.kind != AgentKind::car && member.kind != AgentKind::passive) continue;
    shapes[stage.world().body(body_of(name, member))] = air.bodies.size();
    air.bodies.push_back({name, {}});
  }
  for (const world::Geometry& geometry : engine.geometry()) {
    const auto box = box_of(geometry);
    if (!box || !geometry.collides) continue;
    if (const auto shape = shapes.find(geometry.body); shape != shapes.end()) {
      air.bodies[shape->second].boxes.push_back(*box);
    }
  }
  air.buildings = buildings_of(engine);
}

}  // namespace

void check_v2x(const Scenario& scenario) {
  if (!scenario.v2x) return;
  if (!scenario.agents) {
    throw InputError(scenario.v2x->place, "`v2x` is for scenarios with `agents`", "see docs/v2x.md");
  }
  Mistakes(scenario).check();
  const v2x::Air air(air_settings(scenario));
  std::set<std::string> clients;
  for (const auto& [name, member] : scenario.agents->members) {
    if (clients.insert(member.client).second) V2xUnit(scenario, member.client);  // intersections must fit into a MAP
  }
}

std::map<std::string, std::string> station_owners(const Scenario& scenario) {
  std::map<std::string, std::string> owners;
  for (const auto& [name, member] : scenario.agents->members) owners[name] = member.client;
  return owners;
}

v2x::AirSettings air_settings(const Scenario& scenario) {
  const V2xSection& section = *scenario.v2x;
  v2x::AirSettings air;
  constexpr std::array<const char*, 3> media{"ideal", "fixed", "802.11p"};
  air.medium = media[static_cast<std::size_t>(section.medium)];
  air.options.seed = scenario.seed;
  air.options.range_m = section.range;
  air.options.fixed_delay = section.delay;
  air.options.fixed_loss = section.loss.value;
  air.options.power_dbm = section.power;
  air.options.propagation.fading_m = section.fading;
  std::map<std::string, v2x::StationId> ids;
  for (const auto& [name, member] : scenario.agents->members) {
    if (!is_equipped(section, name, member)) continue;
    ids[name] = static_cast<v2x::StationId>(air.stations.size());
    v2x::AirStation station{name, {0, 0, section.antenna}, false};
    for (const auto& [lights, intersection] : section.intersections) {
      if (lights != name) continue;
      station.fixed = true;
      station.antenna = {intersection.antenna[0], intersection.antenna[1], intersection.antenna[2]};
    }
    air.stations.push_back(std::move(station));
  }
  for (const AttackSection& attack : section.attacks) {
    v2x::Attack made;
    made.kind = attack.kind;
    for (const std::string& victim : attack.victims) {
      if (const auto id = ids.find(victim); id != ids.end()) made.victims.push_back(id->second);
    }
    made.probability = attack.share.value;
    made.from = SimTime::zero() + attack.from;
    if (attack.until) made.until = SimTime::zero() + *attack.until;
    made.by = attack.by;
    made.copies = attack.copies;
    air.attacks.push_back(std::move(made));
  }
  if (section.obstruction && section.medium == RadioKind::dsrc) add_boxes(scenario, air);
  return air;
}

}  // namespace isochron
