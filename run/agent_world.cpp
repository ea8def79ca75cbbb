#include "run/agent_world.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/ensure.hpp"
#include "core/nearest_name.hpp"
#include "run/sumo_nodes.hpp"
#include "scenario/timed_faults.hpp"
#include "traffic/buildings.hpp"
#include "world/fields.hpp"
#include "world/vectors.hpp"
#include "world/vehicle/kinematic_car.hpp"

namespace isochron {
namespace {

using world::operator+;
using world::operator-;

constexpr SimSpan driver_period = std::chrono::milliseconds(20);

const std::string& body_name(const std::string& name, const AgentSection& section) {
  return section.body.empty() ? name : section.body;
}

/// The robots whose body this client simulates; their sensors are its own.
void keep_robots(Scenario& scenario, const std::string& client) {
  std::erase_if(scenario.robots, [&](const auto& robot) {
    const std::string& body = robot.second.body.empty() ? robot.first : robot.second.body;
    return std::none_of(scenario.agents->members.begin(), scenario.agents->members.end(), [&](const auto& member) {
      return member.second.client == client && body_name(member.first, member.second) == body;
    });
  });
}

std::array<double, 3> size_of(const world::Engine& engine, std::uint32_t body) {
  std::array<double, 3> size{};
  for (const world::Geometry& geometry : engine.geometry()) {
    if (geometry.body != body) continue;
    for (std::size_t i = 0; i < 3; ++i) size[i] = std::max(size[i], geometry.size[i]);
  }
  return size;
}

class Mistakes {
 public:
  explicit Mistakes(const Scenario& scenario) : scenario_(scenario), agents_(*scenario.agents) {}
  void say(const AgentSection& section, std::string_view key, const std::string& what, const std::string& hint = "") {
    list_.push_back({section.place_of(key), what, hint});
  }
  void check_lists() {
    const std::vector<std::string> of_traffic = sumo_signals(scenario_);
    std::set<std::string> signals(of_traffic.begin(), of_traffic.end());
    for (const auto& [name, section] : agents_.members) {
      if (section.kind != AgentKind::lights || section.phases.empty()) continue;
      const Signals made(name, section.phases);
      for (const std::string& head : made.heads()) signals.insert(name + "/" + head);
    }
    for (const auto& [name, section] : agents_.members) check(name, section, signals);
    for (const auto& [name, route] : agents_.routes) {
      try {
        const world::PathDriver driver(route.path, false, {});
      } catch (const InputError& error) {
        list_.push_back({route.place_of("path"), "route `" + name + "`: " + error.mistakes().front().what, ""});
      }
      check_way("route", name, route, signals);
    }
  }
  void check_bodies(const world::Engine& engine) {
    for (const auto& [name, section] : agents_.members) {
      if (section.kind == AgentKind::lights) continue;
      const auto body = engine.catalog().body(body_name(name, section));
      if (!body) {
        say(section, "body", "the model has no body `" + body_name(name, section) + "` for agent `" + name + "`",
            nearest_hint(body_name(name, section), engine.catalog().bodies));
      } else if (section.kind != AgentKind::scenery && !engine.can_place(*body)) {
        say(section, "body", "body `" + body_name(name, section) + "` cannot move", "give it a free joint or mocap");
      }
    }
    for (const std::string& guest : agents_.guests) {
      if (const auto body = engine.catalog().body(guest); !body || !engine.can_place(*body)) {
        list_.push_back({agents_.place_of("guests"), "the model has no movable body `" + guest + "`", ""});
      }
    }
  }
  void end() {
    if (!list_.empty()) throw InputError(std::move(list_));
  }

 private:
  void check(const std::string& name, const AgentSection& section, const std::set<std::string>& signals) {
    if (section.client.empty()) say(section, "client", "agent `" + name + "` has no client");
    const bool by_ros = ros_drives(scenario_, body_name(name, section));
    const bool driven = by_ros || has_programs(scenario_, body_name(name, section));
    if (section.kind == AgentKind::car && driven) {
      for (const char* key : {"driver", "path", "closed", "speed", "obeys", "stop", "clear", "gives_way"}) {
        if (!section.key_places.contains(key)) continue;
        say(section, key,
            "`" + std::string(key) + "` is for built-in drivers, and " +
                (by_ros ? "a node of ROS drives `" : "programs drive `") + name + "`",
            by_ros ? "leave it out" : "leave it out, or give it to the program with `with`");
      }
      check_trips(name, section);
    } else if (section.kind == AgentKind::car && !section.trips.empty()) {
      check_trips(name, section);
    } else if (section.kind == AgentKind::car && section.path.size() < 2) {
      say(section, "path", "car `" + name + "` needs a path of two points or more", "as in `path: [[0, 0], [50, 0]]`");
    }
    if (section.kind == AgentKind::car) check_way("car", name, section, signals);
    if (section.gives_way && section.kind != AgentKind::car) {
      say(section, "gives_way", "only cars give way, and `" + name + "` is none");
      check("agent", name, *section.gives_way);
    }
    if (section.kind != AgentKind::car && !section.trips.empty()) {
      say(section, "trips", "only cars make trips, and `" + name + "` is none");
    }
    if (section.kind == AgentKind::pedestrian) check_walk(name, section, signals);
    for (std::size_t i = 1; i < section.schedule.size(); ++i) {
      if (section.schedule[i].at <= section.schedule[i - 1].at) {
        list_.push_back({section.schedule[i].place, "times of a schedule must grow", ""});
      }
    }
    if (section.kind == AgentKind::lights && section.phases.empty()) {
      say(section, "phases", "lights `" + name + "` need phases", "as in `phases: [{lasts: 10s, green: [south]}]`");
    }
    for (const PhaseSection& phase : section.phases) {
      if (phase.lasts <= SimSpan::zero()) list_.push_back({phase.place, "a phase must last", ""});
      if (phase.most && *phase.most < phase.lasts) {
        list_.push_back({phase.place_of("most"), "`most` is less than `lasts`", ""});
      }
      if (phase.most.has_value() == phase.detectors.empty()) {
        list_.push_back({phase.place, "an actuated phase needs both `most` and `detectors`", ""});
      }
    }
  }
  /// Signals and priorities of a way: a member's own, or a route.
  void check_way(const char* what, const std::string& name, const RouteSection& way,
                 const std::set<std::string>& signals) {
    check_signal(way.place_of("obeys"), way.obeys, signals);
    if (!way.obeys.empty() && !way.stop) {
      list_.push_back(
          {way.place_of("obeys"), std::string(what) + " `" + name + "` needs `stop` to know where to wait", ""});
    }
    if (way.clear && !way.stop) {
      list_.push_back({way.place_of("clear"), "`clear` needs `stop`: that is where it waits until there is room", ""});
    }
    if (way.gives_way) check(what, name, *way.gives_way);
  }
  void check_signal(const Place& place, const std::string& signal, const std::set<std::string>& signals) {
    if (signal.empty() || signals.contains(signal)) return;
    list_.push_back(
        {place, "there is no signal `" + signal + "`", nearest_hint(signal, {signals.begin(), signals.end()})});
  }
  void check_trips(const std::string& name, const AgentSection& section) {
    if (section.trips.empty()) return;
    for (const char* key : {"path", "closed", "speed", "obeys", "stop", "clear", "gives_way"}) {
      if (!section.key_places.contains(key)) continue;
      say(section, key, "car `" + name + "` has trips, whose routes say that", "leave `" + std::string(key) + "` out");
    }
    std::vector<std::string> routes;
    for (const auto& [route, way] : agents_.routes) routes.push_back(route);
    for (std::size_t i = 0; i < section.trips.size(); ++i) {
      const TripSection& trip = section.trips[i];
      if (std::find(routes.begin(), routes.end(), trip.route) == routes.end()) {
        list_.push_back(
            {trip.place_of("route"), "there is no route `" + trip.route + "`", nearest_hint(trip.route, routes)});
      }
      if (trip.from < 0) list_.push_back({trip.place_of("from"), "nobody enters before the beginning of a route", ""});
      if (!(trip.speed > 1)) list_.push_back({trip.place_of("speed"), "a trip is faster than 1 m/s", ""});
      if (i > 0 && trip.at <= section.trips[i - 1].at) list_.push_back({trip.place, "times of trips must grow", ""});
    }
  }
  void check_walk(const std::string& name, const AgentSection& section, const std::set<std::string>& signals) {
    if (section.schedule.empty() == section.path.empty()) {
      say(section, "schedule", "pedestrian `" + name + "` needs a schedule, or a path to walk and look",
          "as in `schedule: [{at: 0s, position: [0, 0]}]`");
    }
    if (!section.path.empty() && section.path.size() < 2) say(section, "path", "a path needs two points");
    if (section.key_places.contains("speed") && !(section.speed > 0)) say(section, "speed", "must be positive");
    if (!section.crosses.empty() && section.path.empty()) {
      say(section, "crosses", "who walks by a schedule does not look", "give `" + name + "` a path instead");
    }
    for (const WalkSection& road : section.crosses) {
      check_signal(road.place_of("obeys"), road.obeys, signals);
      if (road.from == road.to) list_.push_back({road.place, "`from` and `to` are the same place", ""});
    }
  }
  void check(const char* what, const std::string& name, const GiveWaySection& way) {
    if (way.to.empty()) {
      list_.push_back({way.place, std::string(what) + " `" + name + "` gives way to nobody", "name lanes in `to`"});
    }
    for (const CrossedSection& lane : way.to) {
      if (lane.from == lane.meets) list_.push_back({lane.place, "`from` and `meets` are the same place", ""});
    }
  }
  const Scenario& scenario_;
  const AgentsSection& agents_;
  std::vector<Mistake> list_;
};

}  // namespace

std::vector<std::string> agent_clients(const Scenario& scenario) {
  std::vector<std::string> clients;
  for (const auto& [name, section] : scenario.agents->members) {
    if (std::find(clients.begin(), clients.end(), section.client) == clients.end()) clients.push_back(section.client);
  }
  return clients;
}

void check_agents(const Scenario& scenario) {
  Mistakes mistakes(scenario);
  const AgentsSection& agents = *scenario.agents;
  if (agents.members.empty()) throw InputError(agents.place, "`agents` has no members", "give some under `members`");
  if (!scenario.world) throw InputError(agents.place, "`agents` need a `world`", "add `world: {model: …}`");
  if (agents.heartbeat <= SimSpan::zero() || !(agents.vicinity > 0)) {
    throw InputError(agents.place, "`heartbeat` and `vicinity` must be positive", "");
  }
  mistakes.check_lists();
  mistakes.end();
  const Stage stage(scenario);
  if (agents.heartbeat % stage.step() != SimSpan::zero()) {
    throw InputError(agents.place_of("heartbeat"),
                     "the heartbeat must be a multiple of the world's step, " + to_string(stage.step()),
                     "set `world: {step: …}` or the heartbeat");
  }
  if (driver_period % stage.step() != SimSpan::zero()) {
    throw InputError(scenario.world->place_of("step"), "drivers look every 20 ms: the step must divide that", "");
  }
  mistakes.check_bodies(const_cast<Stage&>(stage).world().engine());
  mistakes.end();
  check_v2x(scenario);
  for (const RosPart& part : ros_parts(scenario)) AgentWorld(scenario, ros_client(scenario, part.section));
}

AgentWorld::AgentWorld(const Scenario& scenario, const std::string& client) : scenario_(scenario) {
  const auto clients = agent_clients(scenario_);
  if (std::find(clients.begin(), clients.end(), client) == clients.end()) {
    throw InputError(scenario_.agents->place, "no agent has the client `" + client + "`",
                     nearest_hint(client, clients));
  }
  keep_robots(scenario_, client);
  for (const RosPart& part : ros_parts(scenario)) {
    if (ros_client(scenario, part.section) == client) continue;
    part.name == "ros" ? scenario_.ros.reset() : scenario_.ros2.reset();  // it stands at another client
  }
  std::vector<Mark> marks = planned_marks(scenario_);
  scenario_.faults.timeline.clear();  // it may name robots of other clients; check_agents() has seen all of it
  stage_ = std::make_unique<Stage>(scenario_);
  stage_->plan(std::move(marks));
  world::World& world = stage_->world();
  for (const auto& [name, section] : scenario_.agents->members) {
    const bool bodiless = section.kind == AgentKind::lights;
    const std::uint32_t body = bodiless ? 0 : world.body(body_name(name, section));
    if (section.client == client) {
      own_.push_back({name, &section, body, bodiless ? std::array<double, 3>{} : size_of(world.engine(), body)});
    } else if (!bodiless) {
      bodies_[name] = body;
      lend(body);
    }
  }
  for (const std::string& guest : scenario_.agents->guests) guests_.push_back(world.body(guest));
  if (scenario_.v2x) radio_ = std::make_unique<V2xUnit>(scenario_, client);
  make_traffic(client);
  std::shared_ptr<const world::Ground> ground;  // shared by all cars of a world
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const Own& own = own_[i];
    switch (own.section->kind) {
      case AgentKind::car:
        if (!ground) ground = std::make_shared<world::Ground>(world.engine());
        make_car(own, ground);
        break;
      case AgentKind::pedestrian:
        make_pedestrian(i);
        break;
      case AgentKind::lights:
        signals_.emplace_back(own.name, Signals(own.name, own.section->phases));
        break;
      case AgentKind::passive:
        if (own.section->drag > 0) {
          world.add(std::make_unique<world::Wind>(std::vector{own.body}, own.section->wind, own.section->drag));
        }
        break;
      case AgentKind::scenery:
        break;
    }
  }
  for (const auto& [name, signals] : signals_) {
    if (radio_) radio_->set_signals(name, signals);
  }
  if (stage_->scene() != nullptr) seen_lamps_ = std::make_unique<SignalLamps>(world.engine().geometry());
  const bool any = std::any_of(scenario_.robots.begin(), scenario_.robots.end(),
                               [](const auto& robot) { return !robot.second.programs.empty(); });
  if (any || scenario_.ros || scenario_.ros2)
    programs_ = std::make_unique<AgentPrograms>(scenario_, *stage_, radio_.get());  // after the cars, which they drive
}

/// Who is aware of whom, and who goes first.
void AgentWorld::make_traffic(const std::string& client) {
  world::Engine& engine = stage_->world().engine();
  std::vector<Awareness::Other> others;  // cars and pedestrians
  std::vector<std::uint32_t> yielding;   // of other clients: who turns across somebody's way, as its lights tell
  for (const auto& [name, section] : scenario_.agents->members) {
    if (section.kind != AgentKind::car && section.kind != AgentKind::pedestrian) continue;
    const std::uint32_t body = stage_->world().body(body_name(name, section));
    const std::array<double, 3> size = size_of(engine, body);
    const bool car = section.kind == AgentKind::car && size[0] > 0.5;
    others.push_back(car ? Awareness::Other{body, size[0], size[1]} : Awareness::Other{body, 0.3, 0.3});
    if (section.client != client && section.gives_way) yielding.push_back(body);
  }
  v2x::Boxes buildings;
  for (const v2x::Box& box : buildings_of(engine)) buildings.add_fixed(box);
  awareness_ = std::make_unique<Awareness>(std::move(others), std::move(buildings), driver_period);
  right_of_way_ = std::make_unique<RightOfWay>(*awareness_, std::move(yielding), driver_period);
  trips_ = std::make_unique<Trips>(scenario_.agents->routes, scenario_.seed, *right_of_way_, *awareness_, radio_.get());
}

void AgentWorld::make_pedestrian(std::size_t index) {
  world::World& world = stage_->world();
  const Own& own = own_[index];
  if (own.section->path.empty()) {
    auto walker = std::make_unique<Walker>(world.engine(), own.body, own.section->schedule, offset_);
    walkers_.emplace_back(index, walker.get());
    return world.add(std::move(walker));
  }
  Pedestrian::Settings settings{own.body};
  if (own.section->key_places.contains("speed")) settings.speed = own.section->speed;
  settings.eyes = awareness_->add(own.body, temper_of(DriverKind::human, scenario_.seed, own.name),
                                  RandomStream(scenario_.seed, "eyes/" + own.name));
  auto made = std::make_unique<Pedestrian>(world.engine(), settings, *own.section);
  pedestrians_.push_back(made.get());
  world.add(std::move(made));
}

void AgentWorld::make_car(const Own& own, const std::shared_ptr<const world::Ground>& ground) {
  world::World& world = stage_->world();
  const std::string& body = body_name(own.name, *own.section);
  std::unique_ptr<world::Part> part;
  Trips::Car way{own.name, own.section};
  const auto take = [&](auto car) {
    way.put = [&world, c = car.get()](double x, double y, double heading, double speed) {
      c->put(world.engine(), x, y, heading, speed);
    };
    way.take_away = [&world, c = car.get()] { c->take_away(world.engine()); };
    part = std::move(car);
  };
  if (own.section->model == CarModel::kinematic) {
    take(std::make_unique<world::KinematicCar>(world.engine(), body, world::KinematicCarSettings{}, ground));
  } else {
    take(std::make_unique<world::Car>(world.engine(), body, world::CarSettings{}, ground));
  }
  if (has_programs(scenario_, body) || ros_drives(scenario_, body)) {
    if (radio_) radio_->add({own.name, own.size, nullptr, receiver_of(own), true});
    if (!own.section->trips.empty()) {
      counters_.push_back(std::make_unique<world::PathDriver>(scenario_.agents->routes.front().second.path, false,
                                                              world::PathDriverSettings{}));
      way.seat = {counters_.back().get(), own.body};
      if (own.size[0] > 0.5) std::tie(way.seat.half_length, way.seat.half_width) = std::pair{own.size[0], own.size[1]};
      way.programmed = true;
      trips_->add(way);
    }
  } else {
    seat_driver(own, *part, way);
  }
  world.add(std::move(part));
}

/// The driver acts before its car does, so it is added first.
void AgentWorld::seat_driver(const Own& own, world::Part& car, const Trips::Car& way) {
  const AgentSection& section = *own.section;
  RightOfWay::Sitting who{nullptr, own.body};
  if (own.size[0] > 0.5) std::tie(who.half_length, who.half_width) = std::pair{own.size[0], own.size[1]};
  who.temper = temper_of(section.driver, scenario_.seed, own.name);
  const bool comes = !section.trips.empty();
  auto driver = std::make_unique<world::PathDriver>(comes ? scenario_.agents->routes.front().second.path : section.path,
                                                    section.closed, settings_of(who.temper, section.speed));
  who.driver = driver.get();
  who.eyes = awareness_->add(own.body, who.temper, RandomStream(scenario_.seed, "eyes/" + own.name));
  if (radio_) {
    V2xUnit::Car talks{own.name, own.size, driver.get(), receiver_of(own)};
    talks.heeds = section.driver != DriverKind::human;
    talks.reaction = who.temper.reaction;
    radio_->add(talks);
  }
  auto seat = std::make_unique<world::Seat>(std::move(driver), car, own.body, section.model == CarModel::kinematic,
                                            driver_period);
  seat->lend_eyes(awareness_->of(who.eyes));
  stage_->world().add(std::move(seat));
  if (!comes) {
    if (!section.obeys.empty() || section.gives_way || who.temper.human) right_of_way_->add(who, section);
    return;
  }
  Trips::Car coming = way;
  coming.seat = who;
  trips_->add(std::move(coming));
}

void AgentWorld::fill(std::size_t own, AgentState& state) const {
  const Own& agent = own_[own];
  state = {};
  state.name = agent.name;
  state.kind = static_cast<std::uint8_t>(agent.section->kind);
  if (agent.section->kind == AgentKind::lights) {
    for (const auto& [head, lamp] : lamps_) {
      if (!head.starts_with(agent.name + "/")) continue;
      state.heads.push_back(head);
      state.lamps.push_back(static_cast<std::uint8_t>(lamp));
    }
    return;
  }
  world::Motion motion = stage_->world().engine().motion(agent.body);
  for (const auto& [index, walker] : walkers_) {
    if (index == own) motion = walker->at(time());
  }
  state.position = motion.pose.position;
  state.orientation = motion.pose.orientation;
  state.linear = motion.linear;
  state.angular = motion.angular;
}

std::uint32_t AgentWorld::body_for(const std::string& name) {
  if (const auto found = bodies_.find(name); found != bodies_.end()) return found->second;
  if (guests_.empty()) return 0;
  const std::uint32_t body = guests_.back();
  guests_.pop_back();
  bodies_[name] = body;
  lend(body);
  return body;
}

/// A body that shows somebody else's agent: what hangs on it goes where it goes.
void AgentWorld::lend(std::uint32_t body) {
  make_passable(body);
  const world::Engine& engine = stage_->world().engine();
  const auto& names = engine.catalog().bodies;
  const world::Pose at = engine.motion(body).pose;
  const world::Quat back = world::conjugate(at.orientation);
  for (std::uint32_t other = 1; other < names.size(); ++other) {
    if (!names[other].starts_with(names[body] + "/") || !engine.can_place(other)) continue;
    const world::Pose pose = engine.motion(other).pose;
    followers_[body].push_back(
        {other, {world::rotate(back, pose.position - at.position), world::multiply(back, pose.orientation)}});
  }
}

bool AgentWorld::move(std::uint32_t body, const world::Motion& motion) {
  if (!stage_->world().place(body, motion).ok()) return false;
  const auto found = followers_.find(body);
  if (found == followers_.end()) return true;
  for (const Follower& follower : found->second) {
    world::Motion its = motion;
    its.pose.position = motion.pose.position + world::rotate(motion.pose.orientation, follower.offset.position);
    its.pose.orientation = world::multiply(motion.pose.orientation, follower.offset.orientation);
    (void)stage_->world().place(follower.body, its).ok();
  }
  return true;
}

void AgentWorld::make_passable(std::uint32_t body) {
  if (scenario_.agents->collide || stage_->world().engine().set_solid(body, false)) return;
  throw InputError(scenario_.agents->place_of("collide"), "this engine cannot make bodies passable", "use mujoco");
}

bool AgentWorld::place(const AgentState& state) {
  if (state.kind == static_cast<std::uint8_t>(AgentKind::lights)) {
    for (std::size_t i = 0; i < std::min(state.heads.size(), state.lamps.size()); ++i) {
      lamps_[state.heads[i]] = static_cast<Lamp>(state.lamps[i]);
    }
    return true;
  }
  if (state.kind == static_cast<std::uint8_t>(AgentKind::scenery)) return true;  // it stands where the model has it
  const std::uint32_t body = body_for(state.name);
  if (body == 0) return false;
  const world::Motion motion{{state.position, state.orientation}, state.linear, state.angular};
  return move(body, motion);
}

void AgentWorld::remove(const std::string& name) {
  const auto found = bodies_.find(name);
  if (found == bodies_.end()) return;
  // Out of everybody's way and sight; it is placed anew when it comes back.
  move(found->second, world::out_of_the_way(found->second));
}

/// A car's satellite receiver: the first GPS of the robot with its body.
std::optional<V2xUnit::Receiver> AgentWorld::receiver_of(const Own& own) {
  world::SensorSet& sensors = stage_->sensors();
  for (std::uint32_t i = 0; i < sensors.size(); ++i) {
    const world::SensorSpec& spec = sensors[i].spec();
    if (spec.type != world::SensorType::gps) continue;
    const auto robot = std::find_if(scenario_.robots.begin(), scenario_.robots.end(),
                                    [&](const auto& entry) { return entry.first == spec.robot; });
    if ((robot->second.body.empty() ? robot->first : robot->second.body) != body_name(own.name, *own.section)) continue;
    return V2xUnit::Receiver{spec.offset.position, [this, i](sensor_msgs::NavSatFix& fix) -> SimTime {
                               const world::Reading* reading = stage_->reading(i, stage_->world().time());
                               if (reading == nullptr || !reading->decode(fix)) return SimTime::before_all();
                               return reading->taken() + offset_;
                             }};
  }
  return std::nullopt;
}

void AgentWorld::obey() {
  const world::Engine& engine = stage_->world().engine();
  const auto occupied = [&](const std::array<double, 2>& detector) {
    constexpr double reach = 3;
    return std::ranges::any_of(awareness_->others(), [&](const Awareness::Other& other) {
      const world::Vec3 at = engine.motion(other.body).pose.position;
      return other.half_length > 0.5 && std::hypot(at[0] - detector[0], at[1] - detector[1]) < reach;
    });
  };
  for (auto& [name, signals] : signals_) {
    signals.advance(time(), occupied);
    signals.show(time(), lamps_);
  }
  if (seen_lamps_) seen_lamps_->show(*stage_->scene(), lamps_);
  if (engine.time().since_zero() % driver_period >= step()) return;
  trips_->apply(engine, time());
  awareness_->remember(engine);
  right_of_way_->apply(engine, time(), lamps_, [this](const world::PathDriver& driver) {
    return radio_ ? radio_->green_in(driver) : std::nullopt;
  });
  for (Pedestrian* pedestrian : pedestrians_) pedestrian->decide(*awareness_, lamps_);
}

V2xUnit::MotionOf AgentWorld::motions() {
  return [this](const std::string& name) {
    const auto own = std::find_if(own_.begin(), own_.end(), [&](const Own& agent) { return agent.name == name; });
    ENSURE(own != own_.end(), "a radio asks where somebody else's agent is");
    return stage_->world().engine().motion(own->body);
  };
}

Result<Done, std::string> AgentWorld::take_step() {
  obey();
  if (radio_) radio_->act(time(), motions());
  if (programs_) {
    if (auto turn = programs_->take_turn(); !turn.ok()) return turn;
  }
  return stage_->take_step();
}

}  // namespace isochron
