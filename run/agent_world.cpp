#include "run/agent_world.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/ensure.hpp"
#include "core/nearest_name.hpp"
#include "run/sumo_nodes.hpp"
#include "scenario/timed_faults.hpp"
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
      for (const char* key : {"path", "closed", "speed", "obeys", "stop", "gives_way"}) {
        if (!section.key_places.contains(key)) continue;
        say(section, key,
            "`" + std::string(key) + "` is for built-in drivers, and " +
                (by_ros ? "a node of ROS drives `" : "programs drive `") + name + "`",
            by_ros ? "leave it out" : "leave it out, or give it to the program with `with`");
      }
    } else if (section.kind == AgentKind::car && section.path.size() < 2) {
      say(section, "path", "car `" + name + "` needs a path of two points or more", "as in `path: [[0, 0], [50, 0]]`");
    }
    if (section.kind == AgentKind::car && !section.obeys.empty()) {
      if (!signals.contains(section.obeys)) {
        say(section, "obeys", "there is no signal `" + section.obeys + "`",
            nearest_hint(section.obeys, {signals.begin(), signals.end()}));
      }
      if (!section.stop) say(section, "obeys", "car `" + name + "` needs `stop` to know where to wait");
    }
    if (section.gives_way) check(name, section, *section.gives_way);
    if (section.kind == AgentKind::pedestrian && section.schedule.empty()) {
      say(section, "schedule", "pedestrian `" + name + "` needs a schedule",
          "as in `schedule: [{at: 0s, position: [0, 0]}]`");
    }
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
    }
  }
  void check(const std::string& name, const AgentSection& section, const GiveWaySection& way) {
    if (section.kind != AgentKind::car) say(section, "gives_way", "only cars give way, and `" + name + "` is none");
    if (way.to.empty()) list_.push_back({way.place, "car `" + name + "` gives way to nobody", "name lanes in `to`"});
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
  std::vector<std::uint32_t> in_the_way;  // what drivers keep a distance to
  std::vector<std::uint32_t> first;       // whom they give way to: not who turns across as well, as its lights tell
  for (const auto& [name, section] : scenario_.agents->members) {
    const bool bodiless = section.kind == AgentKind::lights;
    const std::uint32_t body = bodiless ? 0 : world.body(body_name(name, section));
    if (section.kind == AgentKind::car || section.kind == AgentKind::pedestrian) in_the_way.push_back(body);
    if (section.kind == AgentKind::car && !section.gives_way) first.push_back(body);
    if (section.client == client) {
      own_.push_back({name, &section, body, bodiless ? std::array<double, 3>{} : size_of(world.engine(), body)});
    } else if (!bodiless) {
      bodies_[name] = body;
      lend(body);
    }
  }
  right_of_way_ = std::make_unique<RightOfWay>(first);
  for (const std::string& guest : scenario_.agents->guests) guests_.push_back(world.body(guest));
  if (scenario_.v2x) radio_ = std::make_unique<V2xUnit>(scenario_, client);
  std::shared_ptr<const world::Ground> ground;  // shared by all cars of a world
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const Own& own = own_[i];
    switch (own.section->kind) {
      case AgentKind::car:
        if (!ground) ground = std::make_shared<world::Ground>(world.engine());
        make_car(own, ground, in_the_way);
        break;
      case AgentKind::pedestrian: {
        auto walker = std::make_unique<Walker>(world.engine(), own.body, own.section->schedule, offset_);
        walkers_.emplace_back(i, walker.get());
        world.add(std::move(walker));
        break;
      }
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
  const bool any = std::any_of(scenario_.robots.begin(), scenario_.robots.end(),
                               [](const auto& robot) { return !robot.second.programs.empty(); });
  if (any || scenario_.ros || scenario_.ros2)
    programs_ = std::make_unique<AgentPrograms>(scenario_, *stage_, radio_.get());  // after the cars, which they drive
}

void AgentWorld::make_car(const Own& own, const std::shared_ptr<const world::Ground>& ground,
                          const std::vector<std::uint32_t>& others) {
  world::World& world = stage_->world();
  const bool kinematic = own.section->model == CarModel::kinematic;
  std::unique_ptr<world::Part> car;
  const std::string& body = body_name(own.name, *own.section);
  if (kinematic) {
    car = std::make_unique<world::KinematicCar>(world.engine(), body, world::KinematicCarSettings{}, ground);
  } else {
    car = std::make_unique<world::Car>(world.engine(), body, world::CarSettings{}, ground);
  }
  if (has_programs(scenario_, body) || ros_drives(scenario_, body)) {
    if (radio_) radio_->add({own.name, own.size, nullptr, receiver_of(own), true});
    return world.add(std::move(car));
  }
  world::PathDriverSettings settings;
  settings.follow.desired_speed = own.section->speed;
  auto driver = std::make_unique<world::PathDriver>(own.section->path, own.section->closed, settings);
  right_of_way_->add(*driver, own.body, *own.section);
  if (radio_) radio_->add({own.name, own.size, driver.get(), receiver_of(own)});
  auto seat = std::make_unique<world::Seat>(std::move(driver), *car, own.body, kinematic, driver_period, others);
  world.add(std::move(seat));
  world.add(std::move(car));
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
  world::Motion away;
  away.pose.position = {1e4, 1e4 + 20.0 * found->second, 5};
  move(found->second, away);
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
  for (auto& [name, signals] : signals_) signals.show(time(), lamps_);
  right_of_way_->apply(stage_->world().engine(), lamps_, [this](const world::PathDriver& driver) {
    return radio_ ? radio_->green_in(driver) : std::nullopt;
  });
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
