#include "v2x/radio/dsrc_medium.hpp"

#include <algorithm>

#include "core/ensure.hpp"
#include "core/input_error.hpp"
#include "v2x/radio/repeatable_math.hpp"

namespace isochron::v2x {
namespace {

constexpr double light_m_per_ns = 0.299792458;

void check(const MediumOptions& o) {
  const auto demand = [](bool ok, const char* what) {
    if (!ok) throw InputError(Place{}, what);
  };
  demand(o.slot > SimSpan::zero() && o.aifs > SimSpan::zero(), "slot and aifs must be positive");
  demand(o.power_dbm >= -20 && o.power_dbm <= 50, "power_dbm must be in -20..50");
  demand(o.preamble_dbm > o.noise_dbm - 20, "preamble_dbm is far below the noise");
  demand(o.propagation.line_of_sight.near > 0.5 && o.propagation.line_of_sight.far > 0.5,
         "path loss must grow with distance");
  demand(o.propagation.fading_m == 0 || (o.propagation.fading_m >= 0.25 && o.propagation.fading_m <= 50),
         "fading_m must be 0 or in 0.25..50");
  demand(o.propagation.shadowing_distance_m > 0, "shadowing_distance_m must be positive");
}

/// Where a frame's mean power has fallen to the noise, and some more for two cars that approach for a second.
double reach(const MediumOptions& o) {
  return distance_of_loss(o.propagation.line_of_sight, o.power_dbm - o.noise_dbm) + 100;
}

}  // namespace

DsrcMedium::DsrcMedium(const MediumOptions& options)
    : options_((check(options), options)),
      noise_mw_(ratio_of_db(options.noise_dbm)),
      negligible_mw_(noise_mw_ / 10),
      preamble_mw_(ratio_of_db(options.preamble_dbm)),
      preamble_ratio_(ratio_of_db(options.preamble_snr_db)),
      energy_mw_(ratio_of_db(options.energy_dbm)),
      reach_m_(std::min(reach(options), options.range_m)),
      error_(options),
      fading_(options.propagation.fading_m),
      link_seed_(RandomStream(options.seed, "radio/links").bits()),
      neighbours_(reach_m_) {}

StationId DsrcMedium::add_station(const Vec3& at) {
  const auto id = static_cast<StationId>(places_.size());
  places_.push_back(at);
  odometers_m_.push_back(0);
  receivers_.emplace_back();
  access_.emplace_back(RandomStream(options_.seed, "radio/station/" + std::to_string(id)));
  access_.back().idle_since = now_;
  links_.emplace_back();
  countdowns_.add_station();
  neighbours_.add(id, at);
  disturb(at);
  return id;
}

void DsrcMedium::remove_station(StationId station) {
  if (!receivers_.at(station).there) return;
  receivers_[station].there = false;
  countdowns_.set(station, SimTime::never());
  access_[station].queue.clear();
  neighbours_.remove(station, places_[station]);
  disturb(places_[station]);
}

void DsrcMedium::set_noise(StationId station, double noise_mw) {
  Receiver& r = receivers_.at(station);
  if (r.noise_mw == noise_mw) return;
  if (r.locked != none) settle(r, now_);
  r.noise_mw = noise_mw;
  refresh_busy(station, now_);
}

void DsrcMedium::set_position(StationId station, const Vec3& at) {
  Vec3& place = places_.at(station);
  if (!receivers_[station].there) return;
  const double way = distance(place, at);
  odometers_m_[station] += way;
  neighbours_.move(station, place, at);
  place = at;
  if (way > 50) disturb(at);  // faster than any car: those there do not know it yet
}

SimSpan DsrcMedium::lookahead() const { return options_.aifs + airtime(options_, 0); }

SimSpan DsrcMedium::busy_time(StationId station) const {
  const Access& access = access_.at(station);
  return access.busy_total + (receivers_[station].busy ? now_ - access.busy_since : SimSpan::zero());
}

void DsrcMedium::send(SimTime at, StationId from, Bytes octets, double power_dbm) {
  ENSURE(at >= now_, "sent before the time that the medium was advanced to");
  ENSURE(from < places_.size(), "sent by a station that was never added");
  const double power = std::isnan(power_dbm) ? options_.power_dbm : std::min(power_dbm, options_.power_dbm);
  arrivals_.push({at, from, counts_.sent++, {at, std::move(octets), ratio_of_db(power)}});
}

SimTime DsrcMedium::next_event() const {
  SimTime next = countdowns_.first_time();
  if (!endings_.empty()) next = std::min(next, endings_.top().at);
  if (!arrivals_.empty()) next = std::min(next, arrivals_.top().at);
  if (!landings_.empty()) next = std::min(next, landings_.top().at);
  return next;
}

void DsrcMedium::advance(SimTime until, const Deliver& deliver) {
  while (true) {
    // At equal times: frames end, countdowns expire, messages arrive. Arrivals are last because their senders may run
    // at this very time and call send() after it was advanced to: it must not matter when they do.
    const SimTime ending = endings_.empty() ? SimTime::never() : endings_.top().at;
    const SimTime expiry = countdowns_.first_time();
    const SimTime arrival = arrivals_.empty() ? SimTime::never() : arrivals_.top().at;
    const SimTime next = std::min({ending, expiry, arrival});
    if (!landings_.empty() && landings_.top().at < next && landings_.top().at <= until) {
      land_before(next, deliver);
      continue;  // who heard may have answered
    }
    if (next > until || next == SimTime::never()) break;
    now_ = next;
    if (ending == next) {
      const std::uint32_t slot = endings_.top().slot;
      endings_.pop();
      end_frame(slot, next);
    } else if (expiry == next) {
      countdown_expires(countdowns_.first(), next);
    } else {
      Arrival arrived = std::move(const_cast<Arrival&>(arrivals_.top()));  // popped at once
      arrivals_.pop();
      message_arrives(std::move(arrived));
    }
  }
  now_ = std::max(now_, until);
}

/// Hands over the first landing, which is before `bound`.
void DsrcMedium::land_before(SimTime bound, const Deliver& deliver) {
  const Landing landing = landings_.top();
  ENSURE(landing.at < bound, "a delivery out of order");
  landings_.pop();
  now_ = std::max(now_, landing.at);
  if (!receivers_[landing.to].there) return;
  ++counts_.delivered;
  const Delivery d{landing.sent, landing.at, landing.from, landing.to, landing.message->octets, landing.power_mw};
  digest_.add(d, landing.message->digest);
  deliver(d);
}

void DsrcMedium::start_frame(StationId from, Message message, SimTime now) {
  ++counts_.transmitted;
  std::uint32_t slot = 0;
  if (free_frames_.empty()) {
    slot = static_cast<std::uint32_t>(frames_.size());
    frames_.emplace_back();
  } else {
    slot = free_frames_.back();
    free_frames_.pop_back();
  }
  FrameOnAir& frame = frames_[slot];
  frame.from = from;
  frame.key = access_[from].draws.bits();
  frame.start = now;
  frame.end = now + airtime(options_, message.octets.size());
  frame.message = std::move(message);
  endings_.push({frame.end, from, slot});

  Receiver& own = receivers_[from];
  own.transmitting = true;
  own.locked = none;  // nobody hears while talking
  refresh_busy(from, now);
  LinkList& list = links_of(from, now);
  frame.heard.clear();
  frame.heard.reserve(list.links.size());
  for (const Link& link : list.links) {
    const double mean_mw = frame.message.power_mw * link.gain;
    if (mean_mw < negligible_mw_) continue;
    frame.heard.push_back({link.to, mean_mw * fading_.factor(mixed(frame.key ^ link.to))});
    hear(slot, frame.heard.back(), now);
  }
  counts_.events += frame.heard.size();
}

void DsrcMedium::hear(std::uint32_t slot, const Heard& heard, SimTime now) {
  Receiver& r = receivers_[heard.to];
  if (r.locked != none) settle(r, now);
  r.total_mw += heard.power_mw;
  ++r.signals;
  if (!r.transmitting) lock_or_not(r, slot, heard.power_mw, now);
  refresh_busy(heard.to, now);
}

/// A free receiver locks on to a frame that is loud enough and stands out. Another one within the first 4 us takes
/// over if it is louder, or blurs both; after that it is interference.
void DsrcMedium::lock_or_not(Receiver& r, std::uint32_t slot, double power_mw, SimTime now) const {
  if (r.locked != none) {
    if (now.ns() - r.locked_ns > options_.detection.ns()) return;
    if (power_mw <= r.locked_mw) {
      if (r.locked_mw < preamble_ratio_ * (noise_mw_ + r.noise_mw + r.total_mw - r.locked_mw)) r.locked = none;
      return;
    }
    r.locked = none;
  }
  if (power_mw < preamble_mw_ || power_mw < preamble_ratio_ * (noise_mw_ + r.noise_mw + r.total_mw - power_mw)) return;
  r.locked = slot;
  r.locked_mw = power_mw;
  r.locked_ns = r.changed_ns = now.ns();
  r.log_success = 0;
}

/// Accounts for the stretch since the last change at the interference that it had.
void DsrcMedium::settle(Receiver& r, SimTime now) const {
  const std::int64_t stretch = now.ns() - r.changed_ns;
  if (stretch == 0) return;
  const double sinr = r.locked_mw / (noise_mw_ + r.noise_mw + std::max(0.0, r.total_mw - r.locked_mw));
  r.log_success += static_cast<double>(stretch) * error_.log_success_per_ns(sinr);
  r.changed_ns = now.ns();
}

void DsrcMedium::refresh_busy(StationId station, SimTime now) {
  Receiver& r = receivers_[station];
  const bool busy = r.transmitting || r.locked != none || r.total_mw + r.noise_mw > energy_mw_;
  if (busy == r.busy) return;
  r.busy = busy;
  channel_turned(station, busy, now);
}

void DsrcMedium::end_frame(std::uint32_t slot, SimTime now) {
  FrameOnAir& frame = frames_[slot];
  std::shared_ptr<const SharedMessage> shared;
  if (witness_) begin_account();
  for (const Heard& heard : frame.heard) {
    const Receiver& r = receivers_[heard.to];
    Fate fate = heard.power_mw < preamble_mw_ ? Fate::weak : r.noise_mw > 0 ? Fate::garbled : Fate::busy;
    if (r.locked == slot) {
      fate = finish_reception(frame, heard, now, shared) ? Fate::delivered : Fate::garbled;
    }
    if (witness_) account_[heard.to] = {heard.to, fate, now + flight(frame.from, heard.to), heard.power_mw};
    unhear(slot, heard, now);
  }
  if (witness_) tell_witness(frame, shared ? shared->octets : frame.message.octets);
  counts_.events += frame.heard.size();
  receivers_[frame.from].transmitting = false;
  draw_backoff(access_[frame.from]);
  free_frames_.push_back(slot);
  refresh_busy(frame.from, now);
}

/// Whoever is not in a frame's list heard nothing of it.
void DsrcMedium::begin_account() {
  account_.resize(receivers_.size());
  for (StationId to = 0; to < account_.size(); ++to) account_[to] = {to, Fate::weak, {}, 0};
}

void DsrcMedium::tell_witness(const FrameOnAir& frame, std::span<const std::uint8_t> octets) const {
  std::vector<Reception> there;
  for (const Reception& reception : account_) {
    if (reception.to != frame.from && receivers_[reception.to].there) there.push_back(reception);
  }
  witness_({frame.message.sent, frame.start, frame.end, frame.from, octets, there});
}

SimSpan DsrcMedium::flight(StationId from, StationId to) const {
  return SimSpan::from_ns(static_cast<std::int64_t>(distance(places_[from], places_[to]) / light_m_per_ns));
}

void DsrcMedium::unhear(std::uint32_t slot, const Heard& heard, SimTime now) {
  Receiver& r = receivers_[heard.to];
  if (r.locked == slot) {
    r.locked = none;
  } else if (r.locked != none) {
    settle(r, now);
  }
  r.total_mw = --r.signals == 0 ? 0 : std::max(0.0, r.total_mw - heard.power_mw);
  refresh_busy(heard.to, now);
}

bool DsrcMedium::finish_reception(FrameOnAir& frame, const Heard& heard, SimTime now,
                                  std::shared_ptr<const SharedMessage>& shared) {
  Receiver& r = receivers_[heard.to];
  settle(r, now);
  const bool unharmed = r.log_success > -1e-12 || unit_of(mixed(~frame.key ^ heard.to)) < repeatable_exp(r.log_success);
  if (!r.there || !unharmed) {
    ++counts_.lost;
    return false;
  }
  if (!shared) shared = std::make_shared<const SharedMessage>(std::move(frame.message.octets));
  landings_.push(
      {now + flight(frame.from, heard.to), heard.to, frame.from, frame.message.sent, heard.power_mw, shared});
  return true;
}

}  // namespace isochron::v2x
