#include "v2x/station/vehicle.hpp"

#include <algorithm>

#include "core/ensure.hpp"
#include "v2x/station/time_marks.hpp"

namespace isochron::v2x {
namespace {

double length(const Vec3& v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }
Vec3 moved(const Vec3& p, const Vec3& v, double seconds) {
  return {p.x + v.x * seconds, p.y + v.y * seconds, p.z + v.z * seconds};
}

/// Rounded as it is sent: what would round to a whole turn is north, because 28800 means "unavailable".
double sent_heading(double angle_rad) {
  constexpr double step = std::numbers::pi / 14400;
  const double steps = std::round(compass(angle_rad) / step);
  return steps >= 28800 ? 0 : steps * step;
}

/// Somebody on foot as a vehicle that takes no more room than a person.
BsmCore core_of(const Psm& psm) {
  BsmCore core;
  core.id = psm.id;
  core.sec_mark_s = psm.sec_mark_s;
  core.latitude_deg = psm.position.latitude_deg;
  core.longitude_deg = psm.position.longitude_deg;
  core.accuracy = psm.accuracy;
  core.speed_m_s = psm.speed_m_s;
  core.heading_rad = psm.heading_rad;
  core.size = {0.6, 0.6};
  return core;
}

}  // namespace

Expected carried_on(const Expected& then, double seconds) {
  Expected now = then;
  // It does not begin to go backwards by braking.
  const double braking_s = then.acceleration_m_s2 < 0 ? -then.speed_m_s / then.acceleration_m_s2 : seconds;
  const double t = std::clamp(seconds, 0.0, std::max(braking_s, 0.0));
  const double way = then.speed_m_s * t + then.acceleration_m_s2 * t * t / 2;
  now.speed_m_s = std::max(0.0, then.speed_m_s + then.acceleration_m_s2 * t);
  now.position.x += way * std::cos(then.heading_rad);
  now.position.y += way * std::sin(then.heading_rad);
  return now;
}

VehicleStation::VehicleStation(const VehicleSettings& settings, const GeoFrame& frame)
    : settings_(settings),
      frame_(frame),
      congestion_(settings.congestion),
      draws_(settings.seed, "v2x/" + settings.name),
      road_(frame),
      next_(SimTime::zero() + SimSpan::from_seconds(draws_.uniform(0, 0.1))) {
  count_ = static_cast<int>(draws_.below(128));
}

/// Its receiver's place, carried on; without a receiver the true one.
void VehicleStation::fill_place(BsmCore& core, const VehicleMotion& motion, SimTime at) const {
  const PositionFix fix = motion.fix.value_or(PositionFix{motion.time, true, motion.position, 0, 0});
  if (!fix.found || at - fix.time > settings_.fix_lasts) return;  // "unavailable"
  const auto place = frame_.at(moved(fix.position, motion.velocity_m_s, (at - fix.time).seconds()));
  core.latitude_deg = place.latitude_deg;
  core.longitude_deg = place.longitude_deg;
  core.elevation_m = std::clamp(place.elevation_m, -400.0, 6000.0);
  const auto told = [](double metres) { return std::min(metres, 12.7); };  // that means "so much, or more"
  const bool northerly = fix.north_m >= fix.east_m;
  core.accuracy.semi_major_m = told(std::max(fix.east_m, fix.north_m));
  core.accuracy.semi_minor_m = told(std::min(fix.east_m, fix.north_m));
  core.accuracy.orientation_rad = northerly ? 0 : std::numbers::pi / 2;  // of the major axis, from north
}

BsmCore VehicleStation::core(const VehicleMotion& motion, SimTime at) {
  BsmCore core;
  const double later = (at - motion.time).seconds(), speed = length(motion.velocity_m_s);
  core.msg_count = count_ = (count_ + 1) % 128;
  core.id = settings_.id;
  core.sec_mark_s = second_of_minute(at);
  fill_place(core, motion, at);
  core.transmission = TransmissionState::forward;
  core.speed_m_s = std::min(speed, 163.8);
  core.heading_rad = sent_heading(motion.heading_rad + motion.yaw_rate_rad_s * later);
  core.acceleration.longitudinal_m_s2 = std::clamp(acceleration_m_s2_, -20.0, 20.0);
  core.acceleration.yaw_rate_rad_s = std::clamp(-motion.yaw_rate_rad_s, -5.7, 5.7);  // clockwise is positive there
  core.size = {settings_.width_m, settings_.length_m};
  return core;
}

Bytes VehicleStation::psm(const VehicleMotion& motion, SimTime at) {
  const BsmCore core = this->core(motion, at);
  Frame frame;
  Psm& psm = frame.message.emplace<Psm>();
  psm.type = PersonType::pedestrian;
  psm.sec_mark_s = core.sec_mark_s;
  psm.msg_count = core.msg_count;
  psm.id = core.id;
  psm.position.latitude_deg = core.latitude_deg;
  psm.position.longitude_deg = core.longitude_deg;
  psm.position.elevation_m = core.elevation_m;
  psm.accuracy = core.accuracy;
  psm.speed_m_s = core.speed_m_s;
  psm.heading_rad = core.heading_rad;
  auto octets = encode(frame);
  ENSURE(octets.ok(), "a PSM that cannot be sent");
  return std::move(octets).value();
}

Bytes VehicleStation::bsm(const VehicleMotion& motion, SimTime at) {
  Frame frame;
  frame.message.emplace<Bsm>().core = core(motion, at);
  auto octets = encode(frame);
  ENSURE(octets.ok(), "a BSM that cannot be sent");
  return std::move(octets).value();
}

std::optional<Outgoing> VehicleStation::speak(const VehicleMotion& motion, SimSpan window) {
  if (last_ && motion.time > last_->time) {
    const double gain = length(motion.velocity_m_s) - length(last_->velocity_m_s);
    acceleration_m_s2_ += 0.2 * (gain / (motion.time - last_->time).seconds() - acceleration_m_s2_);
  }
  last_ = motion;
  if (settings_.says == Says::nothing) return std::nullopt;
  SimTime at = std::max(next_, motion.time);
  if (at >= motion.time + window && congestion_.misplaced(motion.time, motion.position)) {
    at = motion.time + SimSpan::from_seconds(draws_.uniform(0, window.seconds()));  // not all at the same moment
  }
  if (at >= motion.time + window) return std::nullopt;
  Outgoing out{at, settings_.says == Says::psm ? psm(motion, at) : bsm(motion, at), congestion_.power_dbm()};
  congestion_.sent(at, moved(motion.position, motion.velocity_m_s, (at - motion.time).seconds()), motion.velocity_m_s);
  // A little at random, so that two who begin at the same time do not always meet.
  next_ = at + congestion_.interval() + SimSpan::from_seconds(draws_.uniform(-0.005, 0.005));
  return out;
}

void VehicleStation::hear(SimTime received, std::span<const std::uint8_t> octets) {
  const auto frame = decode(octets);
  if (!frame) {
    ++counts_.unreadable;
    return;
  }
  if (const auto* bsm = std::get_if<Bsm>(&frame->message)) take(bsm->core, received);
  if (const auto* psm = std::get_if<Psm>(&frame->message)) take(core_of(*psm), received);
  if (const auto* map = std::get_if<MapData>(&frame->message)) {
    ++counts_.map;
    road_.take(*map);
  }
  if (const auto* spat = std::get_if<Spat>(&frame->message)) {
    for (const IntersectionState& state : spat->intersections) {
      if (!state.second_s || !*state.second_s) continue;
      const double age = -until_mark(**state.second_s, second_of_minute(received), 60);
      if (age > settings_.freshness.seconds() || age < -0.05) {
        ++counts_.stale;
        return;
      }
    }
    ++counts_.spat;
    road_.take(*spat, received);
  }
}

void VehicleStation::take(const BsmCore& core, SimTime received) {
  if (!core.latitude_deg || !core.longitude_deg || !core.speed_m_s || !core.heading_rad || !core.sec_mark_s ||
      core.id == settings_.id) {
    return;
  }
  const double age = -until_mark(*core.sec_mark_s, second_of_minute(received), 60);
  if (age > settings_.freshness.seconds() || age < -0.05) {
    ++counts_.stale;
    return;
  }
  ++counts_.bsm;
  Neighbour& n = neighbours_[core.id];
  n.heard = received - SimSpan::from_seconds(std::max(age, 0.0));
  n.then.position = frame_.from(*core.latitude_deg, *core.longitude_deg);
  n.then.heading_rad = compass(*core.heading_rad);
  n.then.speed_m_s = *core.speed_m_s;
  n.then.acceleration_m_s2 = core.acceleration.longitudinal_m_s2.value_or(0);
  // Who does not know exactly where it is may be anywhere within that.
  const double unsure = 2 * core.accuracy.semi_major_m.value_or(0);
  n.then.width_m = core.size.width_m.value_or(1.8) + unsure;
  n.then.length_m = core.size.length_m.value_or(4.5) + unsure;
  n.yaw_rate_rad_s = -core.acceleration.yaw_rate_rad_s;
}

void VehicleStation::observe(const VehicleMotion& motion, double busy_ratio) {
  std::erase_if(neighbours_, [&](const auto& entry) { return motion.time - entry.second.heard > settings_.memory; });
  unsigned near = 0;
  for (const auto& [id, n] : neighbours_) near += distance(n.then.position, motion.position) <= 100 ? 1 : 0;
  congestion_.observe(busy_ratio, near);
}

/// A red signal stops who can still stop for it.
bool VehicleStation::expected_to_stop(const Expected& other, SimTime now) const {
  const auto approach = road_.approach(other.position, other.heading_rad, now);
  if (!approach || !approach->told || is_green(approach->state)) return false;
  const double nose = approach->distance_m - other.length_m / 2;
  if (nose < 0.5) return false;  // it is over the line
  return other.speed_m_s * other.speed_m_s / (2 * nose) < settings_.hard_braking_m_s2;
}

Advice VehicleStation::advise(const VehicleMotion& motion, const OwnPath& path) const {
  Advice advice;
  if (const auto approach = road_.approach(motion.position, motion.heading_rad, motion.time)) {
    const double limit = approach->limit_m_s > 0 ? std::min(approach->limit_m_s, path.wanted_m_s) : path.wanted_m_s;
    const double to_line = approach->distance_m - path.length_m / 2;
    if (const auto green = speed_for_green(to_line, path.speed_m_s, limit, approach->greens, settings_.green)) {
      advice.speed_m_s = green->speed_m_s;
      advice.green_in_s = green->green_in_s;
    }
  }
  for (const auto& [id, neighbour] : neighbours_) {
    if (motion.time - neighbour.heard > settings_.memory) continue;
    const Expected now = carried_on(neighbour.then, (motion.time - neighbour.heard).seconds());
    const auto threat = find_threat(path, now, settings_.warning);
    if (!threat || expected_to_stop(now, motion.time)) continue;
    // Who cannot stop clear of it any more had better be gone.
    const double braking = path.speed_m_s * path.speed_m_s / (2 * 8.0);
    if (threat->stop_within_m + settings_.warning.clearance_m < braking) continue;
    if (advice.stop_within_m && *advice.stop_within_m <= threat->stop_within_m) continue;
    advice.stop_within_m = std::max(0.0, threat->stop_within_m);
    advice.threat_in_s = threat->in_s;
    advice.threat = id;
  }
  return advice;
}

}  // namespace isochron::v2x
