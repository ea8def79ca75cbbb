#include "v2x/radio/forgery.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ensure.hpp"
#include "v2x/security/envelope.hpp"
#include "v2x/security/oer.hpp"
#include "v2x/station/time_marks.hpp"

namespace isochron::v2x {
namespace {

constexpr double turn = 2 * std::numbers::pi;

void move(Known& latitude_deg, Known& longitude_deg, double east_m, double north_m, const GeoFrame& geo) {
  if (!latitude_deg || !longitude_deg) return;
  const Vec3 at = geo.from(*latitude_deg, *longitude_deg);
  const auto place = geo.at({at.x + east_m, at.y + north_m, 0});
  latitude_deg = std::clamp(place.latitude_deg, -90.0, 90.0);
  longitude_deg = std::clamp(place.longitude_deg, -179.9999999, 180.0);
}

/// As it can be said: a whole turn is north.
double said_heading(double heading_rad) {
  constexpr double steps = 28800;
  const double folded = heading_rad - turn * std::floor(heading_rad / turn);
  const double step = std::round(folded / turn * steps);
  return step >= steps ? 0 : step / steps * turn;
}

template <class Core>
void pretend(Core& core, const FalseMotion& motion) {
  if (motion.speed_m_s) core.speed_m_s = std::clamp(*motion.speed_m_s, 0.0, 163.8);
  if (motion.heading_rad) core.heading_rad = said_heading(*motion.heading_rad);
}

/// How many octets the length before a text of so many takes.
std::size_t length_octets(std::size_t n) { return n < 0x80 ? 1 : n < 0x100 ? 2 : n < 0x10000 ? 3 : 5; }

}  // namespace

bool forge_message(Bytes& octets, const std::function<bool(Frame& frame)>& forge) {
  const OctetView inside = message_inside(octets);
  auto frame = decode(inside);
  if (!frame.ok() || !forge(*frame)) return false;
  const auto made = encode(*frame);
  if (!made.ok()) return false;
  if (inside.data() == octets.data()) return octets = *made, true;
  const auto begin = static_cast<std::size_t>(inside.data() - octets.data()) - length_octets(inside.size());
  OerWriter out;
  out.octets(OctetView(octets).first(begin));
  out.text(*made);
  out.octets(OctetView(octets).subspan(begin + length_octets(inside.size()) + inside.size()));
  octets = out.take();
  return true;
}

bool falsify(Frame& frame, const FalseMotion& motion, const GeoFrame& geo) {
  if (auto* bsm = std::get_if<Bsm>(&frame.message)) {
    move(bsm->core.latitude_deg, bsm->core.longitude_deg, motion.east_m, motion.north_m, geo);
    pretend(bsm->core, motion);
    return true;
  }
  if (auto* psm = std::get_if<Psm>(&frame.message)) {
    move(psm->position.latitude_deg, psm->position.longitude_deg, motion.east_m, motion.north_m, geo);
    pretend(*psm, motion);
    return true;
  }
  return false;
}

std::optional<Frame> as_another(const Frame& frame, std::uint32_t id, double aside_m, double behind_m,
                                const GeoFrame& geo) {
  const auto* bsm = std::get_if<Bsm>(&frame.message);
  if (bsm == nullptr || !bsm->core.heading_rad) return std::nullopt;
  Frame made = frame;
  BsmCore& core = std::get<Bsm>(made.message).core;
  const double east = std::sin(*core.heading_rad), north = std::cos(*core.heading_rad);  // ahead
  move(core.latitude_deg, core.longitude_deg, north * aside_m - east * behind_m, -east * aside_m - north * behind_m,
       geo);
  core.id = id;
  return made;
}

Bytes ghost_bsm(const Ghost& ghost, SimTime since, SimTime at, const GeoFrame& geo) {
  Frame frame;
  BsmCore& core = frame.message.emplace<Bsm>().core;
  const double way_m = ghost.speed_m_s * (at - since).seconds();
  const auto place = geo.at(
      {ghost.start.x + way_m * std::sin(ghost.heading_rad), ghost.start.y + way_m * std::cos(ghost.heading_rad), 0});
  core.msg_count = static_cast<int>((at.ns() / 100'000'000) % 128);
  core.id = ghost.id;
  core.sec_mark_s = second_of_minute(at);
  core.latitude_deg = std::clamp(place.latitude_deg, -90.0, 90.0);
  core.longitude_deg = std::clamp(place.longitude_deg, -179.9999999, 180.0);
  core.elevation_m = std::clamp(place.elevation_m, -400.0, 6000.0);
  core.accuracy = {0.5, 0.5, 0.0};
  core.transmission = TransmissionState::forward;
  core.speed_m_s = std::clamp(ghost.speed_m_s, 0.0, 163.8);
  core.heading_rad = said_heading(ghost.heading_rad);
  core.acceleration.longitudinal_m_s2 = 0;
  core.size = {1.8, 4.5};
  auto octets = encode(frame);
  ENSURE(octets.ok(), "a ghost whose BSM cannot be sent");
  return std::move(octets).value();
}

bool fake_signals(Frame& frame, SignalState state, SimTime at) {
  auto* spat = std::get_if<Spat>(&frame.message);
  if (spat == nullptr) return false;
  const double until_s = std::fmod(second_of_hour(at) + 20, 3600);
  for (IntersectionState& intersection : spat->intersections) {
    for (MovementState& movement : intersection.movements) {
      MovementEvent event;
      event.state = state;
      event.timing.emplace();
      event.timing->min_end_s = event.timing->max_end_s.emplace() = until_s;
      movement.events.clear();
      movement.events.push_back(event);
    }
  }
  return true;
}

}  // namespace isochron::v2x
