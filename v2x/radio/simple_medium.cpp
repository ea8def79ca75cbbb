#include "v2x/radio/simple_medium.hpp"

#include "core/ensure.hpp"
#include "core/input_error.hpp"
#include "v2x/radio/dsrc_medium.hpp"

namespace isochron::v2x {

double Delivery::power_dbm() const { return db_of(power_mw); }

SimSpan airtime(const MediumOptions& options, std::size_t octets) {
  const auto bits = static_cast<std::int64_t>(22 + 8 * (octets + options.overhead_octets));
  return std::chrono::microseconds(40 + 8 * ((bits + 47) / 48));
}

std::unique_ptr<Medium> make_medium(std::string_view kind, const MediumOptions& options) {
  if (kind == "ideal") return std::make_unique<SimpleMedium>(SimpleMedium::Kind::ideal, options);
  if (kind == "fixed") return std::make_unique<SimpleMedium>(SimpleMedium::Kind::fixed, options);
  if (kind == "802.11p") return std::make_unique<DsrcMedium>(options);
  throw InputError(Place{}, "unknown radio `" + std::string(kind) + "`", "one of ideal, fixed, 802.11p");
}

SimpleMedium::SimpleMedium(Kind kind, const MediumOptions& options) : kind_(kind), options_(options) {
  if (!(options.fixed_loss >= 0 && options.fixed_loss <= 1)) {
    throw InputError(Place{}, "fixed_loss must be in 0..1");
  }
  if (options.fixed_delay < SimSpan::zero()) throw InputError(Place{}, "fixed_delay must not be negative");
}

StationId SimpleMedium::add_station(const Vec3& at) {
  const auto id = static_cast<StationId>(stations_.size());
  stations_.push_back({at, true, false, RandomStream(options_.seed, "radio/receiver/" + std::to_string(id))});
  return id;
}

void SimpleMedium::set_position(StationId station, const Vec3& at) { stations_.at(station).at = at; }
void SimpleMedium::set_noise(StationId station, double noise_mw) { stations_.at(station).drowned = noise_mw > 0; }
void SimpleMedium::remove_station(StationId station) { stations_.at(station).there = false; }

SimSpan SimpleMedium::lookahead() const {
  return kind_ == Kind::ideal ? options_.aifs + airtime(options_, 0) : options_.fixed_delay;
}

void SimpleMedium::send(SimTime at, StationId from, Bytes octets, double) {
  ENSURE(at >= now_, "sent before the time that the medium was advanced to");
  ++counts_.sent;
  if (!stations_.at(from).there) return;
  ++counts_.transmitted;
  const SimSpan delay = kind_ == Kind::ideal ? options_.aifs + airtime(options_, octets.size()) : options_.fixed_delay;
  const auto shared = std::make_shared<const SharedMessage>(std::move(octets));
  receptions_.clear();
  for (StationId to = 0; to < stations_.size(); ++to) {
    Station& station = stations_[to];
    if (to == from || !station.there) continue;
    Reception reception{to, Fate::delivered, at + delay, ratio_of_db(options_.power_dbm)};
    if (distance(station.at, stations_[from].at) > options_.range_m) {
      reception.fate = Fate::weak;
    } else if (station.drowned) {
      ++counts_.lost;
      reception.fate = Fate::garbled;
    } else if (kind_ == Kind::fixed && station.luck.chance(options_.fixed_loss)) {
      ++counts_.lost;
      reception.fate = Fate::lost;
    } else {
      arrivals_.push({at + delay, to, from, counts_.sent, at, shared});
    }
    receptions_.push_back(reception);
  }
  if (witness_) witness_({at, at, at + delay, from, shared->octets, receptions_});
}

void SimpleMedium::advance(SimTime until, const Deliver& deliver) {
  while (!arrivals_.empty() && arrivals_.top().at <= until) {
    const Arrival arrival = arrivals_.top();
    arrivals_.pop();
    now_ = arrival.at;
    ++counts_.events;
    if (!stations_[arrival.to].there) continue;
    ++counts_.delivered;
    const Delivery d{
        arrival.sent, arrival.at, arrival.from, arrival.to, arrival.message->octets, ratio_of_db(options_.power_dbm)};
    digest_.add(d, arrival.message->digest);
    deliver(d);
  }
  now_ = std::max(now_, until);
}

SimTime SimpleMedium::next_event() const { return arrivals_.empty() ? SimTime::never() : arrivals_.top().at; }

}  // namespace isochron::v2x
