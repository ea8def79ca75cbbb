#include "v2x/comm/shared_air.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/limits.hpp"

namespace isochron::v2x {
namespace {

constexpr SimSpan longest_heartbeat = std::chrono::seconds(10);
constexpr std::size_t longest_message = 2304;  // octets that 802.11 carries
constexpr std::size_t standstills_kept = 100;

template <std::size_t N>
bool within(const std::array<double, N>& numbers, double most) {
  return std::all_of(numbers.begin(), numbers.end(), [most](double x) { return std::fabs(x) <= most; });
}

bool is_orientation(const std::array<double, 4>& q) {
  return within(q, 2) && q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-6;
}

}  // namespace

SharedAir::SharedAir(const AirSettings& settings, std::map<std::string, std::string> owners, SimSpan lead, OnLog on_log)
    : air_(settings), owners_(std::move(owners)), lead_(lead), on_log_(std::move(on_log)) {}

void SharedAir::enter(const std::string& client) {
  const std::lock_guard lock(mutex_);
  seats_[client] = {air_.time(), {}, false, false};
}

void SharedAir::leave(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (seats_.erase(client) > 0) advance();
}

bool SharedAir::believes(const std::string& client, const AirUp& up) const {
  const auto others = [&](const std::string& station) {
    const auto owner = owners_.find(station);
    return owner != owners_.end() && owner->second != client;
  };
  if (!limits::is_time(up.stamp.ns()) || !limits::is_time(up.until.ns()) || up.until < up.stamp) return false;
  if (up.until - up.stamp > longest_heartbeat) return false;
  for (const AirBody& body : up.bodies) {
    if (others(body.name) || !within(body.position, 1e7) || !is_orientation(body.orientation)) return false;
  }
  return std::all_of(up.sends.begin(), up.sends.end(), [&](const AirSend& send) {
    return !others(send.from) && send.at >= up.stamp && send.at <= up.until && std::fabs(send.power_dbm) <= 60 &&
           send.octets.size() <= longest_message;
  });
}

AirNews SharedAir::exchange(const std::string& client, const AirUp& up) {
  const std::lock_guard lock(mutex_);
  Seat& seat = seats_[client];
  air_.hear(up);
  seat.told = std::max(seat.told, up.until);
  seat.spoke = true;
  if (seat.behind && seat.told > air_.time()) catch_up(client, seat);
  advance();
  AirNews news = std::exchange(seat.outbox, {});
  news.stamp = air_.time();
  return news;
}

/// Between those who are in the world no gap is wider than the lead: who is below one has stopped.
void SharedAir::leave_behind() {
  std::vector<SimTime> told;
  for (const auto& [name, seat] : seats_) {
    if (!seat.behind) told.push_back(seat.told);
  }
  std::sort(told.begin(), told.end());
  const auto gap = std::adjacent_find(told.rbegin(), told.rend(),
                                      [this](SimTime above, SimTime below) { return above - below > lead_; });
  if (gap == told.rend()) return;
  const SimTime last = *std::next(gap);  // of those who are left behind
  for (auto& [name, seat] : seats_) {
    if (seat.behind || seat.told > last) continue;
    seat.behind = true;
    seat.outbox = {};  // what it missed, it missed
    if (seat.spoke && standstills_.size() < standstills_kept) standstills_.push_back({name, seat.told});
  }
}

void SharedAir::catch_up(const std::string& client, Seat& seat) {
  seat.behind = false;
  for (Standstill& s : standstills_) {
    if (s.client == client && s.to == SimTime::never()) s.to = seat.told;
  }
}

void SharedAir::advance() {
  leave_behind();
  SimTime least = SimTime::never();
  for (const auto& [name, seat] : seats_) {
    if (!seat.behind) least = std::min(least, seat.told);
  }
  if (least == SimTime::never() || least <= air_.time()) return;
  air_.advance(least - SimSpan::from_ns(1), [this](AirDelivery&& delivery) {
    const auto owner = owners_.find(delivery.to);
    if (owner == owners_.end()) return;
    const auto seat = seats_.find(owner->second);
    if (seat == seats_.end() || seat->second.behind) return;
    seat->second.outbox.deliveries.push_back(std::move(delivery));
  });
  const AirLog log = air_.log(air_.time());
  for (const AirBusy& busy : log.busy) {
    const auto owner = owners_.find(busy.name);
    const auto seat = owner == owners_.end() ? seats_.end() : seats_.find(owner->second);
    if (seat != seats_.end() && !seat->second.behind) seat->second.outbox.busy.push_back(busy);
  }
  if (log.frames.empty() && log.busy.empty()) return;
  figures_.take(log);
  on_log_(log);
}

AirFigures SharedAir::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}
SimTime SharedAir::time() const {
  const std::lock_guard lock(mutex_);
  return air_.time();
}
std::uint64_t SharedAir::late() const {
  const std::lock_guard lock(mutex_);
  return air_.late();
}
std::vector<SharedAir::Standstill> SharedAir::standstills() const {
  const std::lock_guard lock(mutex_);
  return standstills_;
}
std::size_t SharedAir::clients() const {
  const std::lock_guard lock(mutex_);
  return seats_.size();
}

}  // namespace isochron::v2x
