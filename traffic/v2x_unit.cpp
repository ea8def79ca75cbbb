#include "traffic/v2x_unit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "traffic/agent_parts.hpp"

namespace isochron {
namespace {

constexpr SimSpan advise_every = std::chrono::milliseconds(20);
constexpr std::size_t spans_told = 5, phases_looked_at = 32;
constexpr std::size_t most_said = 64;         // by a car's programs in a heartbeat
constexpr std::size_t most_unread = 100'000;  // deliveries to programs that take none

v2x::SignalState shown(const PhaseSection& phase, const std::string& head, bool yields) {
  const auto has = [&](const std::vector<std::string>& heads) {
    return std::find(heads.begin(), heads.end(), head) != heads.end();
  };
  using State = v2x::SignalState;
  if (has(phase.green)) return yields ? State::permissive_movement_allowed : State::protected_movement_allowed;
  if (has(phase.yellow)) return yields ? State::permissive_clearance : State::protected_clearance;
  return State::stop_and_remain;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

v2x::IntersectionShape shape_of(const std::string& name, const IntersectionSection& section,
                                const std::vector<std::string>& heads) {
  v2x::IntersectionShape shape;
  shape.name = name;
  shape.id = section.id;
  shape.reference = {section.antenna[0], section.antenna[1], 0};
  shape.lane_width_m = section.lane_width;
  shape.speed_limit_m_s = section.speed_limit;
  for (const auto& [lane_name, lane] : section.lanes) {
    v2x::LaneShape made;
    made.name = lane_name;
    for (const auto& node : lane.nodes) made.nodes.push_back({node[0], node[1], 0});
    const auto head = std::find(heads.begin(), heads.end(), lane.head);
    if (head != heads.end()) made.signal_group = static_cast<int>(head - heads.begin()) + 1;
    for (const std::string& to : lane.to) {
      const bool yields = made.signal_group > 0 && contains(lane.yields, to);
      const int group = made.signal_group + (yields ? static_cast<int>(heads.size()) : 0);
      for (std::size_t i = 0; i < section.lanes.size(); ++i) {
        if (section.lanes[i].first == to) made.leads_to.push_back({static_cast<int>(i), group});
      }
    }
    shape.lanes.push_back(std::move(made));
  }
  return shape;
}

}  // namespace

v2x::SignalPlan signal_plan(const Signals& signals, const std::string& head, int group, SimTime t, bool yields) {
  v2x::SignalPlan plan{group, {}};
  for (const Signals::Stretch& stretch : signals.ahead(t, phases_looked_at)) {
    const v2x::SignalState state = shown(*stretch.phase, head, yields);
    if (!plan.spans.empty() && plan.spans.back().state == state) {
      plan.spans.back().until = stretch.least;
      plan.spans.back().latest = stretch.most;
    } else {
      plan.spans.push_back({state, stretch.least, stretch.most});
    }
    if (plan.spans.size() > spans_told) break;
  }
  if (plan.spans.size() > spans_told) plan.spans.pop_back();  // it may go on for longer
  return plan;
}

v2x::VehicleSettings unit_settings(const V2xSection& v2x, const std::string& name) {
  const auto found = std::ranges::find(v2x.units, name, [](const auto& entry) { return entry.first; });
  const UnitSection& own = found == v2x.units.end() ? v2x.unit : found->second;
  v2x::VehicleSettings settings;
  settings.says = static_cast<v2x::Says>(own.says.value_or(v2x.unit.says.value_or(Says::bsm)));
  if (contains(v2x.quiet, name)) settings.says = v2x::Says::nothing;
  v2x::CongestionOptions& talk = settings.congestion;
  talk.power_high_dbm = own.power.value_or(v2x.unit.power.value_or(v2x.power));
  talk.power_low_dbm = std::min(talk.power_high_dbm, talk.power_low_dbm);
  talk.shortest = own.every.value_or(v2x.unit.every.value_or(talk.shortest));
  talk.longest = std::max(talk.shortest, own.slowest.value_or(v2x.unit.slowest.value_or(talk.longest)));
  talk.adapts = own.congestion.value_or(v2x.unit.congestion.value_or(true));
  return settings;
}

v2x::PositionFix position_fix(const sensor_msgs::NavSatFix& fix, SimTime taken, const std::array<double, 3>& antenna,
                              double heading_rad, const v2x::GeoFrame& frame) {
  const double c = std::cos(heading_rad), s = std::sin(heading_rad);
  const v2x::Vec3 at = frame.from(fix.latitude, fix.longitude, fix.altitude);
  return {taken,
          true,
          {at.x - c * antenna[0] + s * antenna[1], at.y - s * antenna[0] - c * antenna[1], at.z - antenna[2]},
          std::sqrt(fix.position_covariance[0]),
          std::sqrt(fix.position_covariance[4])};
}

std::vector<std::pair<std::string, v2x::Bytes>> map_messages(const Scenario& scenario) {
  const V2xSection& v2x = *scenario.v2x;
  const v2x::GeoFrame frame(v2x.latitude, v2x.longitude, v2x.altitude);
  std::vector<std::pair<std::string, v2x::Bytes>> all;
  for (const auto& [lights, intersection] : v2x.intersections) {
    std::vector<std::string> heads;
    for (const auto& [name, member] : scenario.agents->members) {
      if (name == lights) heads = Signals(name, member.phases).heads();
    }
    all.emplace_back(lights, v2x::encode_map(shape_of(lights, intersection, heads), frame));
  }
  return all;
}

V2xUnit::V2xUnit(const Scenario& scenario, const std::string& client)
    : section_(*scenario.v2x), frame_(section_.latitude, section_.longitude, section_.altitude), seed_(scenario.seed) {
  if (section_.security) secured_.emplace(scenario);
  for (const auto& [name, member] : scenario.agents->members) {
    members_.push_back(name);
    if (member.client != client) continue;
    if (member.kind == AgentKind::car || member.kind == AgentKind::passive) own_.push_back(name);
    if (member.kind != AgentKind::lights) continue;
    for (const auto& [lights, intersection] : section_.intersections) {
      if (lights != name) continue;
      const std::vector<std::string> heads = Signals(name, member.phases).heads();
      auto station = std::make_unique<v2x::RoadsideStation>(shape_of(name, intersection, heads), frame_,
                                                            SimSpan::from_ns(7'000'000));
      lights_.push_back({name, nullptr, heads, std::move(station)});
    }
  }
}

void V2xUnit::add(const Car& car) {
  if (!section_.equipped.empty() && !contains(section_.equipped, car.name)) return;
  cars_.push_back({car, make_station(car, 0), contains(section_.deaf, car.name)});
}

std::vector<std::string> V2xUnit::programmed() const {
  std::vector<std::string> names;
  for (const Equipped& car : cars_) {
    if (car.car.programmed) names.push_back(car.car.name);
  }
  return names;
}

bool V2xUnit::say(const std::string& name, SimTime at, std::span<const std::byte> octets) {
  Equipped* car = find(name);
  if (car == nullptr || car->said >= most_said) return false;
  ++car->said;
  const auto* first = reinterpret_cast<const std::uint8_t*>(octets.data());
  said_.push_back({name, at, unit_settings(section_, name).congestion.power_high_dbm, {first, first + octets.size()}});
  return true;
}

void V2xUnit::give_programs(SimTime before, const std::function<void(const v2x::AirDelivery&)>& give) {
  while (!for_programs_.empty() && for_programs_.front().received < before) {
    give(for_programs_.front());
    for_programs_.pop_front();
  }
}

void V2xUnit::set_signals(const std::string& name, const Signals& signals) {
  for (Light& light : lights_) {
    if (light.name == name) light.signals = &signals;
  }
}

void V2xUnit::change_driver(const std::string& name, SimSpan reaction) {
  if (Equipped* car = find(name)) {
    car->car.reaction = reaction;
    car->warned = false;
    car->advice = {};
  }
}

void V2xUnit::let_talk(const std::string& name, bool talks) {
  if (Equipped* car = find(name)) car->talks = talks;
}

void V2xUnit::renew(const std::string& name, std::uint32_t generation) {
  Equipped* car = find(name);
  if (car == nullptr) return;
  refused_.old -= static_cast<std::uint32_t>(car->station->heard().stale);  // the new one counts from zero
  refused_.unreadable -= static_cast<std::uint32_t>(car->station->heard().unreadable);
  car->station = make_station(car->car, generation);
}

std::unique_ptr<v2x::VehicleStation> V2xUnit::make_station(const Car& car, std::uint32_t generation) const {
  v2x::VehicleSettings settings = unit_settings(section_, car.name);
  const auto number = std::find(members_.begin(), members_.end(), car.name) - members_.begin();
  settings.id = static_cast<std::uint32_t>(0x1000 + number) + (generation << 16U);
  settings.length_m = 2 * car.size[0];
  settings.width_m = 2 * car.size[1];
  settings.seed = seed_;
  settings.name = car.name;
  return std::make_unique<v2x::VehicleStation>(settings, frame_);
}

V2xUnit::Equipped* V2xUnit::find(const std::string& name) {
  const auto found = std::find_if(cars_.begin(), cars_.end(), [&](const Equipped& e) { return e.car.name == name; });
  return found == cars_.end() ? nullptr : &*found;
}

v2x::VehicleMotion V2xUnit::motion_of(const Equipped& car, SimTime now, const MotionOf& motion) const {
  const world::Motion m = motion(car.car.name);
  const world::Vec3 forward = world::rotate(m.pose.orientation, {1, 0, 0});
  return {now,
          {m.pose.position[0], m.pose.position[1], m.pose.position[2]},
          {m.linear[0], m.linear[1], 0},
          std::atan2(forward[1], forward[0]),
          m.angular[2]};
}

std::optional<v2x::PositionFix> V2xUnit::fix_of(const Equipped& car, const v2x::VehicleMotion& now) const {
  if (!car.car.receiver) return std::nullopt;
  const SimTime taken = car.car.receiver->read(fix_);
  if (taken == SimTime::before_all() || fix_.status.status < 0) return v2x::PositionFix{now.time, false};
  return position_fix(fix_, taken, car.car.receiver->antenna, now.heading_rad, frame_);
}

std::optional<double> V2xUnit::green_in(const world::PathDriver& driver) const {
  const auto car = std::find_if(cars_.begin(), cars_.end(), [&](const Equipped& e) { return e.car.driver == &driver; });
  if (car == cars_.end() || !car->advice.speed_m_s) return std::nullopt;
  return car->advice.green_in_s;
}

/// What its stations refused since the last time.
v2x::AirRefused V2xUnit::take_refused() {
  v2x::AirRefused now;
  for (const Equipped& car : cars_) {
    now.old += static_cast<std::uint32_t>(car.station->heard().stale);
    now.unreadable += static_cast<std::uint32_t>(car.station->heard().unreadable);
  }
  now.untrusted = secured_ ? secured_->refused() : 0;
  const v2x::AirRefused before = std::exchange(refused_, now);
  return {now.old - before.old, now.unreadable - before.unreadable, now.untrusted - before.untrusted};
}

v2x::AirSend V2xUnit::sent_by(const std::string& name, v2x::Outgoing out) {
  if (secured_) out.octets = secured_->signed_by(name, out.at, std::move(out.octets));
  return {name, out.at, out.power_dbm, std::move(out.octets)};
}

v2x::AirUp V2xUnit::report(SimTime t, SimSpan heartbeat, const MotionOf& motion) {
  v2x::AirUp up;
  up.stamp = t;
  up.until = t + heartbeat;
  up.refused = take_refused();
  for (const std::string& name : own_) {
    const world::Motion m = motion(name);
    up.bodies.push_back({name, m.pose.position, m.pose.orientation});
  }
  for (Equipped& car : cars_) {
    if (!car.talks) continue;
    v2x::VehicleMotion here = motion_of(car, t, motion);
    here.fix = fix_of(car, here);
    if (auto out = car.station->speak(here, heartbeat)) {
      up.sends.push_back(sent_by(car.car.name, std::move(*out)));
    }
    if (car.advice.speed_m_s || car.advice.stop_within_m) {
      up.advice.push_back({car.car.name, car.advice.speed_m_s.value_or(-1), car.advice.stop_within_m.value_or(-1),
                           car.advice.stop_within_m ? car.advice.threat_in_s : -1});
    }
  }
  for (v2x::AirSend& said : said_) {
    Equipped* car = find(said.from);
    car->said = 0;
    if (!car->talks) continue;
    said.at = std::clamp(said.at + heartbeat, t, t + heartbeat - SimSpan::from_ns(1));
    up.sends.push_back(sent_by(said.from, {said.at, std::move(said.octets), said.power_dbm}));
  }
  said_.clear();
  for (Light& light : lights_) {
    std::vector<v2x::SignalPlan> plans;
    const std::size_t heads = light.heads.size();
    for (std::size_t i = 0; light.station->due(t, heartbeat) && i < 2 * heads; ++i) {
      const bool yields = i >= heads;
      if (yields && !light.station->tells_of(static_cast<int>(i) + 1)) continue;
      plans.push_back(signal_plan(*light.signals, light.heads[i % heads], static_cast<int>(i) + 1, t, yields));
    }
    for (v2x::Outgoing& out : light.station->speak(t, heartbeat, plans)) {
      up.sends.push_back(sent_by(light.name, {out.at, std::move(out.octets), section_.power}));
    }
  }
  return up;
}

void V2xUnit::hear(v2x::AirNews news) {
  for (v2x::AirDelivery& delivery : news.deliveries) {
    const Equipped* car = find(delivery.to);
    if (car == nullptr) continue;  // lights only talk
    if (secured_) {
      auto message = secured_->believed(delivery.to, delivery.received, delivery.octets);
      if (!message) continue;
      delivery.octets = std::move(*message);
    }
    if (car->car.programmed && for_programs_.size() < most_unread) {
      for_programs_.push_back(delivery);
    }
    waiting_.push_back(std::move(delivery));
  }
  busy_.insert(busy_.end(), news.busy.begin(), news.busy.end());
}

void V2xUnit::arrive(const v2x::AirDelivery& delivery) {
  Equipped* car = find(delivery.to);
  if (car == nullptr) return;  // lights only talk
  ++counts_.heard;
  car->station->hear(delivery.received, delivery.octets);
}

v2x::OwnPath V2xUnit::path_of(const Equipped& car, const v2x::VehicleMotion& motion) const {
  v2x::OwnPath path;
  const world::PathDriver& driver = *car.car.driver;
  path.speed_m_s = std::hypot(motion.velocity_m_s.x, motion.velocity_m_s.y);
  path.wanted_m_s = driver.wanted_speed();
  path.length_m = 2 * car.car.size[0];
  path.width_m = 2 * car.car.size[1];
  const double end = std::min(driver.travelled() + 20 + 3 * path.speed_m_s, driver.length());
  for (double arc = driver.travelled(); arc <= end; arc += path.spacing_m) {
    const auto p = driver.at(arc);
    path.points.push_back({p[0], p[1], 0});
  }
  return path;
}

void V2xUnit::advise(Equipped& car, SimTime now, const MotionOf& motion) {
  if (car.car.driver == nullptr) return;  // a program drives it
  world::PathDriver& driver = *car.car.driver;
  if (car.deaf || !car.car.heeds || !car.talks || driver.travelled() < 0) return;
  const v2x::VehicleMotion here = motion_of(car, now, motion);
  v2x::Advice advice = car.station->advise(here, path_of(car, here));
  if (!section_.advice) advice.speed_m_s.reset();
  if (!section_.warning) advice.stop_within_m.reset();
  driver.limit_speed(advice.speed_m_s.value_or(1e18));
  if (advice.stop_within_m && !car.warned) {
    ++counts_.warnings;
    car.warned_since = now;
  }
  car.warned = advice.stop_within_m.has_value();
  const bool brakes = car.warned && now - car.warned_since >= car.car.reaction;
  driver.yield_before(brakes ? driver.travelled() + *advice.stop_within_m : 1e18);
  car.advice = advice;
}

void V2xUnit::act(SimTime now, const MotionOf& motion) {
  while (!waiting_.empty() && waiting_.front().received <= now) {
    const SimSpan late = now - waiting_.front().received;
    if (late > SimSpan::from_ns(20'000'000)) {  // more than steps and heartbeats account for
      ++counts_.late;
      counts_.latest = std::max(counts_.latest, late);
    }
    arrive(waiting_.front());
    waiting_.pop_front();
  }
  for (const v2x::AirBusy& busy : busy_) {
    if (Equipped* car = find(busy.name)) car->station->observe(motion_of(*car, now, motion), busy.ratio);
  }
  busy_.clear();
  if (now.since_zero() % advise_every != SimSpan::zero()) return;
  for (Equipped& car : cars_) advise(car, now, motion);
}

}  // namespace isochron
