#include "v2x/comm/air.hpp"

#include <algorithm>
#include <utility>

#include "core/input_error.hpp"
#include "v2x/security/envelope.hpp"

namespace isochron::v2x {
namespace {

constexpr SimSpan busy_every = std::chrono::milliseconds(100);

Vec3 vec(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }

/// J2735's number stands in the first 16 bits, the extension bit before it; an envelope may be around them.
std::uint16_t type_of(std::span<const std::uint8_t> octets) {
  octets = message_inside(octets);
  if (octets.size() < 2) return 0;
  return static_cast<std::uint16_t>((octets[0] & 0x7fU) << 8U | octets[1]);
}

std::unique_ptr<Medium> made(const AirSettings& settings, const Obstruction& between) {
  MediumOptions options = settings.options;
  options.obstruction = &between;
  auto medium = make_medium(settings.medium, options);
  if (settings.attacks.empty()) return medium;
  return std::make_unique<AttackedMedium>(std::move(medium), settings.attacks, options.seed);
}

}  // namespace

Air::Air(const AirSettings& settings)
    : stations_(settings.stations),
      medium_(made(settings, boxes_)),
      attacked_(dynamic_cast<const AttackedMedium*>(medium_.get())) {
  for (const Box& building : settings.buildings) boxes_.add_fixed(building);
  for (const AirShape& shape : settings.bodies) shapes_[shape.name] = boxes_.add_body(shape.boxes);
  for (const AirStation& station : stations_) {
    // Those that have not said where they are are out of everybody's reach.
    places_.push_back(station.fixed ? station.antenna : Vec3{1e6, 1e6 + 1e4 * static_cast<double>(ids_.size()), 0});
    ids_[station.name] = medium_->add_station(places_.back());
  }
  busy_before_.resize(stations_.size());
  medium_->set_witness([this](const Transmission& t) { witness(t); });
}

void Air::place(const AirBody& body) {
  const Vec3 at = vec(body.position);
  if (const auto shape = shapes_.find(body.name); shape != shapes_.end()) {
    boxes_.move(shape->second, at, body.orientation);
  }
  const auto id = ids_.find(body.name);
  if (id == ids_.end() || stations_[id->second].fixed) return;
  const Vec3 up = rotated(body.orientation, stations_[id->second].antenna);
  places_[id->second] = {at.x + up.x, at.y + up.y, at.z + up.z};
  medium_->set_position(id->second, places_[id->second]);
}

void Air::hear(const AirUp& up) {
  refused_.old += up.refused.old;
  refused_.unreadable += up.refused.unreadable;
  refused_.untrusted += up.refused.untrusted;
  for (const AirBody& body : up.bodies) place(body);
  for (const AirSend& send : up.sends) {
    const auto id = ids_.find(send.from);
    if (id == ids_.end()) continue;  // not equipped: nobody can hear it
    late_ += send.at < now_ ? 1 : 0;
    medium_->send(std::max(send.at, now_), id->second, send.octets, send.power_dbm);
  }
}

void Air::advance(SimTime until, const Hand& hand) {
  if (until < now_) return;
  medium_->advance(until, [&](const Delivery& d) {
    hand({stations_[d.to].name, stations_[d.from].name, d.sent, d.received, d.power_dbm(),
          std::vector<std::uint8_t>(d.octets.begin(), d.octets.end())});
  });
  now_ = until;
}

void Air::witness(const Transmission& t) {
  AirFrame& frame = frames_.emplace_back();
  frame.from = stations_[t.from].name;
  frame.type = type_of(t.octets);
  frame.octets = static_cast<std::uint16_t>(std::min<std::size_t>(t.octets.size(), 65535));
  frame.sent = t.sent;
  frame.started = t.started;
  frame.ended = t.ended;
  for (const Reception& r : t.receptions) {
    const bool heard = r.fate == Fate::delivered;
    frame.to.push_back(stations_[r.to].name);
    frame.fate.push_back(static_cast<std::uint8_t>(r.fate));
    frame.distance_m.push_back(static_cast<float>(distance(places_[t.from], places_[r.to])));
    frame.latency_s.push_back(heard ? static_cast<float>((r.received - t.sent).seconds()) : -1.0F);
    const Delivery power{.octets = {}, .power_mw = r.power_mw};
    frame.power_dbm.push_back(r.power_mw > 0 ? static_cast<float>(power.power_dbm()) : -999.0F);
  }
}

void Air::take_counts(AirLog& log) {
  log.refused = std::exchange(refused_, {});
  if (attacked_ == nullptr) return;
  const AttackedMedium::Tampering now = attacked_->tampering(), before = std::exchange(told_, now);
  const auto more = [](std::uint64_t to, std::uint64_t from) { return static_cast<std::uint32_t>(to - from); };
  log.tampered = {more(now.altered, before.altered), more(now.delayed, before.delayed),
                  more(now.dropped, before.dropped), more(now.replayed, before.replayed),
                  more(now.invented, before.invented)};
}

AirLog Air::log(SimTime stamp) {
  AirLog log{stamp, std::exchange(frames_, {}), {}};
  if (now_ - busy_from_ < busy_every) return log;
  take_counts(log);
  const double span = (now_ - busy_from_).seconds();
  for (StationId i = 0; i < stations_.size(); ++i) {
    const SimSpan busy = medium_->busy_time(i);
    log.busy.push_back({stations_[i].name, (busy - busy_before_[i]).seconds() / span});
    busy_before_[i] = busy;
  }
  busy_from_ = now_;
  return log;
}

}  // namespace isochron::v2x
