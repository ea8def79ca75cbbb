// From a scenario's `v2x`, agents and model to an air: who has an antenna where, what stands in the way, who
// interferes.

#include <algorithm>
#include <cmath>
#include <set>

#include "core/build_parts.hpp"
#include "core/nearest_name.hpp"
#include "run/stage.hpp"
#include "run/v2x_attacks.hpp"
#include "traffic/agent_parts.hpp"
#include "traffic/buildings.hpp"
#include "traffic/v2x_unit.hpp"
#include "world/vectors.hpp"

namespace isochron {
namespace {

/// Whoever may have an antenna or stand in the way of others'.
struct Carrier {
  std::string name, body;
  bool lights = false, talks = false;  // it may have a radio
  bool stands = false;                 // in the way: its client tells where it is
  std::string client;
};

/// The members of `agents`; robots where there are none.
std::vector<Carrier> carriers(const Scenario& scenario) {
  std::vector<Carrier> all;
  if (!scenario.agents) {
    for (const auto& [name, robot] : scenario.robots) {
      all.push_back({name, robot.body.empty() ? name : robot.body, false, true, true, ""});
    }
    return all;
  }
  for (const auto& [name, member] : scenario.agents->members) {
    const bool lights = member.kind == AgentKind::lights, car = member.kind == AgentKind::car;
    const bool stands = car || member.kind == AgentKind::passive;
    all.push_back({name, member.body.empty() ? name : member.body, lights, car || lights, stands, member.client});
  }
  return all;
}

bool is_equipped(const V2xSection& v2x, const Carrier& carrier) {
  if (!carrier.talks) return false;
  if (carrier.lights) {
    return std::ranges::any_of(v2x.intersections, [&](const auto& i) { return i.first == carrier.name; });
  }
  return v2x.equipped.empty() || std::ranges::find(v2x.equipped, carrier.name) != v2x.equipped.end();
}

/// Collects what is wrong.
class Mistakes {
 public:
  explicit Mistakes(const Scenario& scenario)
      : v2x_(*scenario.v2x),
        agents_(scenario.agents ? &*scenario.agents : nullptr),
        kind_(scenario.agents ? "car" : "robot"),
        robots_(scenario.robots) {
    for (const Carrier& carrier : carriers(scenario)) {
      if (carrier.talks) (carrier.lights ? lights_ : cars_).push_back(carrier.name);
    }
    stations_ = cars_;
    stations_.insert(stations_.end(), lights_.begin(), lights_.end());
  }
  void check() {
    names("equipped", v2x_.equipped, cars_, kind_);
    names("deaf", v2x_.deaf, cars_, kind_);
    names("quiet", v2x_.quiet, cars_, kind_);
    for (const AttackSection& attack : v2x_.attacks) check(attack);
    if (v2x_.security) check(*v2x_.security);
    if (v2x_.loss.value < 0 || v2x_.loss.value > 1) say(v2x_.place_of("loss"), "a share is from 0 to 1");
    if (v2x_.delay < SimSpan::zero()) say(v2x_.place_of("delay"), "nothing is heard before it is sent");
    if (v2x_.latitude < -89 || v2x_.latitude > 89) say(v2x_.place_of("latitude"), "must be within ±89 degrees");
    if (v2x_.longitude < -180 || v2x_.longitude > 180) say(v2x_.place_of("longitude"), "must be within ±180 degrees");
    check(v2x_.unit);
    for (const auto& [name, unit] : v2x_.units) {
      known(unit.place, name, cars_, kind_);
      check(unit);
    }
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
  void check(const UnitSection& unit) {
    const SimSpan least = std::chrono::milliseconds(10);
    if (unit.every && *unit.every < least) say(unit.place_of("every"), "must be 10ms or more");
    if (unit.slowest && *unit.slowest < unit.every.value_or(SimSpan(std::chrono::milliseconds(100)))) {
      say(unit.place_of("slowest"), "must not be less than `every`");
    }
    if (unit.slowest && !unit.congestion.value_or(true)) {
      say(unit.place_of("slowest"), "`slowest` does nothing without congestion control", "take it out");
    }
    if (unit.power && !(*unit.power >= -20 && *unit.power <= 50))
      say(unit.place_of("power"), "must be from -20 to 50 dBm");
  }
  void check(const AttackSection& attack) {
    for (const std::string& victim : attack.victims) known(attack.place_of("victims"), victim, stations_, "station");
    if (attack.share.value < 0 || attack.share.value > 1) say(attack.place_of("share"), "a share is from 0 to 1");
    if (attack.by < SimSpan::zero()) say(attack.place_of("by"), "an attacker cannot send before the sender");
    if (attack.until && *attack.until <= attack.from) say(attack.place_of("until"), "must be after `from`");
    if (attack.every < SimSpan(std::chrono::milliseconds(1))) say(attack.place_of("every"), "must be 1ms or more");
    if (attack.count < 1 || attack.count > 100) say(attack.place_of("count"), "must be from 1 to 100");
    if (attack.speed && !(*attack.speed >= 0 && *attack.speed <= 163)) {
      say(attack.place_of("speed"), "must be from 0 to 163 m/s: faster is no vehicle that a message can tell of");
    }
    if (attack.heading && !(std::fabs(*attack.heading) <= 360))
      say(attack.place_of("heading"), "must be within ±360 degrees");
    if (!(attack.radius > 0)) say(attack.place_of("radius"), "must be positive");
    if (!(attack.noise >= -150 && attack.noise <= 30)) say(attack.place_of("noise"), "must be from -150 to 30 dBm");
    for (const double metres : attack.offset) {
      if (!(std::fabs(metres) <= 1e5)) say(attack.place_of("offset"), "must be within 100 km");
    }
    for (const double metres : attack.at) {
      if (!(std::fabs(metres) <= 1e5)) say(attack.place_of("at"), "must be within 100 km of the world's origin");
    }
    check_keys(attack);
  }
  /// A key that does nothing for this kind is a misunderstanding.
  void check_keys(const AttackSection& attack) {
    using Keys = std::vector<std::string_view>;
    static const std::array<Keys, 9> theirs{
        {{"victims", "share"},
         {"victims", "share", "by"},
         {"victims", "share"},
         {"victims", "share", "by", "copies"},
         {"victims", "share", "offset", "speed", "heading", "insider"},
         {"victims", "share", "shows", "insider"},
         {"victims", "share", "offset", "count", "insider"},
         {"share", "speed", "heading", "count", "every", "at", "antenna", "insider"},
         {"at", "radius", "noise"}}};
    const auto kind = static_cast<std::size_t>(attack.kind);
    const std::string word = Words<v2x::Attack::Kind>::list.at(kind);
    for (const auto& [key, place] : attack.key_places) {
      if (key == "kind" || key == "from" || key == "until") continue;
      if (std::ranges::find(theirs.at(kind), key) != theirs.at(kind).end()) continue;
      say(place, "`" + key + "` does nothing for an attack of kind " + word, "take it out");
    }
    const auto needs = [&](const char* key) {
      if (!attack.key_places.contains(key)) say(attack.place, "an attack of kind " + word + " needs `" + key + "`");
    };
    using Kind = v2x::Attack::Kind;
    if (attack.kind == Kind::ghosts || attack.kind == Kind::jam) needs("at");
    const bool nothing = attack.offset[0] == 0 && attack.offset[1] == 0 && !attack.speed && !attack.heading;
    if (attack.kind == Kind::falsify && nothing) {
      say(attack.place, "an attack of kind falsify has nothing to say", "give `offset`, `speed` or `heading`");
    }
    if (attack.insider && !v2x_.security) {
      say(attack.place_of("insider"), "`insider` does nothing without `security`: nobody signs", "take it out");
    }
  }
  void check(const SecuritySection& security) {
    collect_mistakes(security.place, list_, [&] { need_part("OpenSSL", security.place, "leave `security` out"); });
    for (const char* key : {"without", "revoked"}) {
      for (const std::string& name : key == std::string_view("without") ? security.without : security.revoked) {
        known(security.place_of(key), name, stations_, "station");
      }
    }
    if (security.certificate_every <= SimSpan::zero()) say(security.place_of("certificate_every"), "must be positive");
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
    if (agents_ == nullptr) return;
    std::vector<std::string> heads, lanes;
    for (const auto& [member, section] : agents_->members) {
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
  const AgentsSection* agents_;
  const char* kind_;
  const Named<RobotSection>& robots_;
  std::vector<std::string> cars_, lights_, stations_;
  std::vector<Mistake> list_;
};

void add_boxes(const Scenario& scenario, v2x::AirSettings& air) {
  Stage stage(scenario);
  const world::Engine& engine = stage.world().engine();
  std::map<std::uint32_t, std::size_t> shapes;  // of agents' bodies
  for (const Carrier& carrier : carriers(scenario)) {
    const auto body = carrier.stands ? stage.world().catalog().body(carrier.body) : std::nullopt;
    if (!body) continue;
    shapes[*body] = air.bodies.size();
    air.bodies.push_back({carrier.name, {}});
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
  if (!scenario.agents && runs_as_flows(scenario)) {
    throw InputError(scenario.v2x->place, "`v2x` beside `nodes` is for the cars of `agents`",
                     "make the robots `agents`, or take `nodes` out; see docs/v2x.md");
  }
  if (!scenario.agents && scenario.robots.empty()) {
    throw InputError(scenario.v2x->place, "`v2x` gives radios to `agents` or `robots`, and there are none",
                     "add them, or take `v2x` out; see docs/v2x.md");
  }
  Mistakes(scenario).check();
  const v2x::Air air(air_settings(scenario));
  if (!scenario.agents) return;
  std::set<std::string> clients;
  for (const auto& [name, member] : scenario.agents->members) {
    if (clients.insert(member.client).second) V2xUnit(scenario, member.client);  // intersections must fit into a MAP
  }
}

std::map<std::string, std::string> station_owners(const Scenario& scenario) {
  std::map<std::string, std::string> owners;
  for (const Carrier& carrier : carriers(scenario)) owners[carrier.name] = carrier.client;
  if (!scenario.v2x) return owners;
  for (std::size_t i = 0; i < scenario.v2x->attacks.size(); ++i) owners[attackers_name(i)] = "";  // of no client
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
  air.options.power_dbm = std::max(section.power, section.unit.power.value_or(section.power));
  for (const auto& [name, unit] : section.units) {
    air.options.power_dbm = std::max(air.options.power_dbm, unit.power.value_or(section.power));
  }
  air.options.propagation.fading_m = section.fading;
  std::map<std::string, v2x::StationId> ids;
  for (const Carrier& carrier : carriers(scenario)) {
    const std::string& name = carrier.name;
    if (!is_equipped(section, carrier)) continue;
    ids[name] = static_cast<v2x::StationId>(air.stations.size());
    v2x::AirStation station{name, {0, 0, section.antenna}, false};
    for (const auto& [lights, intersection] : section.intersections) {
      if (lights != name) continue;
      station.fixed = true;
      station.antenna = {intersection.antenna[0], intersection.antenna[1], intersection.antenna[2]};
    }
    air.stations.push_back(std::move(station));
  }
  add_attacks(scenario, air, ids);
  if (section.obstruction && section.medium == RadioKind::dsrc) add_boxes(scenario, air);
  return air;
}

}  // namespace isochron
