#include "run/robot_radios.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ensure.hpp"
#include "run/radio_post.hpp"
#include "traffic/v2x_unit.hpp"

namespace isochron {
namespace {

constexpr std::size_t most_said = 64;  // by a robot's programs in a step
constexpr const char* frame_type = "octets";

std::array<double, 3> half_size_of(const world::Engine& engine, std::uint32_t body) {
  std::array<double, 3> size{};
  for (const world::Geometry& geometry : engine.geometry()) {
    if (geometry.body != body) continue;
    for (std::size_t i = 0; i < 3; ++i) size[i] = std::max(size[i], geometry.size[i]);
  }
  return size;
}

}  // namespace

bool has_robot_radios(const Scenario& scenario) {
  return scenario.v2x && !scenario.agents && !runs_as_flows(scenario) && scenario.world;
}

RobotRadios::RobotRadios(const Scenario& scenario, Stage& stage)
    : section_(*scenario.v2x),
      stage_(stage),
      frame_(section_.latitude, section_.longitude, section_.altitude),
      air_(air_settings(scenario)) {
  if (section_.security) secured_.emplace(scenario);
  for (const auto& [robot, section] : scenario.robots) add(scenario, robot, section);
  if (radios_.empty()) {
    throw InputError(section_.place, "no robot has a radio: none of them has a body in the model",
                     "name the body, as in `body: NAME`");
  }
}

void RobotRadios::add(const Scenario& scenario, const std::string& robot, const RobotSection& section) {
  const auto body = stage_.world().catalog().body(section.body.empty() ? robot : section.body);
  if (body) bodies_.emplace_back(robot, *body);
  const auto& equipped = section_.equipped;
  if (!equipped.empty() && std::ranges::find(equipped, robot) == equipped.end()) return;
  if (!body && !equipped.empty()) {
    throw InputError(section_.place_of("equipped"), "`" + robot + "` has no body in the model that could carry a radio",
                     "name it, as in `body: NAME`");
  }
  if (!body) return;
  v2x::VehicleSettings settings = unit_settings(section_, robot);
  const auto size = half_size_of(stage_.world().engine(), *body);
  settings.id = static_cast<std::uint32_t>(0x1000 + radios_.size());
  settings.seed = scenario.seed;
  settings.name = robot;
  settings.length_m = std::clamp(2 * size[0], 0.1, 40.0);
  settings.width_m = std::clamp(2 * size[1], 0.1, 10.0);
  Radio radio{robot, *body, {}, {}, settings.congestion.power_high_dbm, v2x::VehicleStation(settings, frame_)};
  for (std::uint32_t i = 0; i < stage_.sensors().size() && !radio.gps; ++i) {
    const world::SensorSpec& spec = stage_.sensors()[i].spec();
    if (spec.robot != robot || spec.type != world::SensorType::gps) continue;
    radio.gps = i;
    radio.antenna = spec.offset.position;
  }
  names_.push_back(robot + "/v2x");
  radios_.push_back(std::move(radio));
}

void RobotRadios::record(RunRecord& record) {
  record_ = &record;
  said_channel_ = record.journal().channel<v2x::AirUp>("/v2x/said/robots");
  air_channel_ = record.journal().channel<v2x::AirLog>("/v2x/air");
}

RobotRadios::Radio* RobotRadios::find(const std::string& robot) {
  const auto found = std::ranges::find(radios_, robot, &Radio::robot);
  return found == radios_.end() ? nullptr : &*found;
}

v2x::VehicleMotion RobotRadios::motion_of(const Radio& radio, SimTime now) {
  const world::Motion m = stage_.world().engine().motion(radio.body);
  const world::Vec3 forward = world::rotate(m.pose.orientation, {1, 0, 0});
  v2x::VehicleMotion motion{now,
                            {m.pose.position[0], m.pose.position[1], m.pose.position[2]},
                            {m.linear[0], m.linear[1], 0},
                            std::atan2(forward[1], forward[0]),
                            m.angular[2],
                            {}};
  motion.fix = fix_of(radio, motion);
  return motion;
}

std::optional<v2x::PositionFix> RobotRadios::fix_of(const Radio& radio, const v2x::VehicleMotion& now) {
  if (!radio.gps) return std::nullopt;
  const world::Reading* reading = stage_.reading(*radio.gps, stage_.world().time());
  if (reading == nullptr || !reading->decode(fix_) || fix_.status.status < 0) return v2x::PositionFix{now.time, false};
  return position_fix(fix_, reading->taken() + ahead_, radio.antenna, now.heading_rad, frame_);
}

void RobotRadios::say(Radio& radio, SimTime at, std::span<const std::byte> octets) {
  ++radio.said;
  const auto* first = reinterpret_cast<const std::uint8_t*>(octets.data());
  said_.push_back({radio.robot, at, radio.power_dbm, {first, first + octets.size()}});
}

bool RobotRadios::say(const std::string& robot, SimTime at, std::span<const std::byte> octets) {
  Radio* const radio = find(robot);
  if (radio == nullptr || radio->said >= most_said) return false;
  return say(*radio, at, octets), true;
}

void RobotRadios::take_sent(programs::Post& post, std::uint32_t radio, SimTime now) {
  while (const auto letter = post.take(radio, now)) {
    if (std::string wrong = wrong_with_frame(*letter); !wrong.empty()) {
      post.complain(*letter, wrong);
    } else if (radios_[radio].said >= most_said) {
      post.complain(*letter, "sends more than its radio can: the frame is dropped");
    } else {
      say(radios_[radio], now, letter->bytes);
    }
  }
}

/// What is sent in [now, until).
void RobotRadios::speak(v2x::AirUp& up, SimTime now, SimTime until) {
  const auto send = [&](v2x::AirSend said) {
    if (secured_) said.octets = secured_->signed_by(said.from, said.at, std::move(said.octets));
    up.sends.push_back(std::move(said));
  };
  for (v2x::AirSend& said : said_) {
    said.at = std::max(said.at, now);
    send(std::move(said));
  }
  said_.clear();
  for (Radio& radio : radios_) {
    radio.said = 0;
    auto out = radio.station.speak(motion_of(radio, now), until - now);
    if (out) send({radio.robot, out->at, out->power_dbm, std::move(out->octets)});
  }
}

void RobotRadios::hear(programs::Post& post, v2x::AirDelivery& delivery) {
  Radio* const radio = find(delivery.to);
  if (radio == nullptr) return;  // an attacker's
  if (secured_) {
    auto message = secured_->believed(delivery.to, delivery.received, delivery.octets);
    if (!message) return;
    delivery.octets = std::move(*message);
  }
  radio->station.hear(delivery.received, delivery.octets);
  const auto number = static_cast<std::uint32_t>(radio - radios_.data());
  post.hand_in(number, delivery.sent, delivery.received, frame_type, std::as_bytes(std::span(delivery.octets)));
  if (on_frame_) on_frame_(names_[number], delivery.received, delivery.octets);
}

void RobotRadios::exchange(programs::Post& post, SimTime now, SimTime until) {
  ENSURE(record_ != nullptr, "radios of robots that nobody records");
  ahead_ = now - stage_.world().time();
  if (until <= now) return;
  for (std::uint32_t radio = 0; radio < radios_.size(); ++radio) take_sent(post, radio, now);
  v2x::AirUp up;
  up.stamp = now;
  up.until = until;
  for (const auto& [name, body] : bodies_) {
    const world::Pose pose = stage_.world().engine().motion(body).pose;
    up.bodies.push_back({name, pose.position, pose.orientation});
  }
  speak(up, now, until);
  v2x::AirRefused refused;
  for (const Radio& radio : radios_) {
    refused.old += static_cast<std::uint32_t>(radio.station.heard().stale);
    refused.unreadable += static_cast<std::uint32_t>(radio.station.heard().unreadable);
  }
  refused.untrusted = secured_ ? secured_->refused() : 0;
  const v2x::AirRefused before = std::exchange(refused_, refused);
  up.refused = {refused.old - before.old, refused.unreadable - before.unreadable, refused.untrusted - before.untrusted};
  air_.hear(up);
  if (!up.sends.empty()) record_->producer().write(said_channel_, now, up);
  air_.advance(until - SimSpan::from_ns(1), [&](v2x::AirDelivery&& delivery) { hear(post, delivery); });
  write_log(now);
}

void RobotRadios::write_log(SimTime now) {
  const v2x::AirLog log = air_.log(now);
  for (const v2x::AirBusy& busy : log.busy) {
    if (Radio* const radio = find(busy.name)) radio->station.observe(motion_of(*radio, now), busy.ratio);
  }
  if (log.frames.empty() && log.busy.empty()) return;
  figures_.take(log);
  record_->producer().write(air_channel_, now, log);
}

}  // namespace isochron
