// How a station of the 802.11p medium gets the channel: it waits until the channel has been idle for AIFS, then counts
// slots down while it stays idle, and talks when it reaches zero. Whoever finds the channel busy draws a number of
// slots.

#include <algorithm>

#include "v2x/radio/dsrc_medium.hpp"

namespace isochron::v2x {

void DsrcMedium::message_arrives(Arrival arrival) {
  const StationId station = arrival.from;
  const Receiver& receiver = receivers_[station];
  Access& access = access_[station];
  if (!receiver.there) return;
  if (access.queue.size() >= options_.queue) {
    expire_oldest(station, arrival.at);  // it is worth least
  }
  access.queue.push_back(std::move(arrival.message));
  if (countdowns_.at(station) != SimTime::never()) return;  // counts already for an earlier one
  if (receiver.busy) {
    if (access.backoff == 0) draw_backoff(access);
    return;  // goes on when the channel is idle
  }
  // Slots were counted since the channel became idle; but never less than AIFS from now: that is the lookahead.
  const SimTime counted = access.idle_since + options_.aifs + options_.slot * access.backoff;
  if (counted <= arrival.at) access.backoff = 0;
  countdowns_.set(station, std::max(counted, arrival.at + options_.aifs));
}

void DsrcMedium::expire_oldest(StationId station, SimTime now) {
  std::deque<Message>& queue = access_[station].queue;
  ++counts_.expired;
  if (witness_) {
    const Reception nobody{station, Fate::expired, {}, 0};
    witness_({queue.front().sent, now, now, station, queue.front().octets, {&nobody, 1}});
  }
  queue.pop_front();
}

bool DsrcMedium::drop_expired(StationId station, SimTime now) {
  const std::deque<Message>& queue = access_[station].queue;
  while (!queue.empty() && now - queue.front().sent > options_.lifetime) expire_oldest(station, now);
  return !queue.empty();
}

void DsrcMedium::countdown_expires(StationId station, SimTime now) {
  countdowns_.set(station, SimTime::never());
  Access& access = access_[station];
  if (!drop_expired(station, now)) return;
  Message message = std::move(access.queue.front());
  access.queue.pop_front();
  access.backoff = 0;
  start_frame(station, std::move(message), now);
}

void DsrcMedium::channel_turned(StationId station, bool busy, SimTime now) {
  Access& access = access_[station];
  if (busy) {
    access.busy_since = now;
    turned_busy(station, now);
  } else {
    access.busy_total += now - access.busy_since;
    turned_idle(station, now);
  }
}

/// Takes the slots off that passed since the channel became idle.
void DsrcMedium::count_down(Access& access, SimTime now) const {
  const SimTime first = access.idle_since + options_.aifs;
  if (now <= first) return;
  const std::int64_t slots = (now - first) / options_.slot;
  access.backoff -= static_cast<std::uint32_t>(std::min<std::int64_t>(slots, access.backoff));
}

void DsrcMedium::turned_busy(StationId station, SimTime now) {
  Access& access = access_[station];
  const SimTime expiry = countdowns_.at(station);
  if (expiry == SimTime::never()) return count_down(access, now);
  if (expiry <= now + options_.detection) return;  // cannot have noticed yet: both talk
  count_down(access, now);
  if (access.backoff == 0) draw_backoff(access);  // its AIFS was cut short
  countdowns_.set(station, SimTime::never());
}

void DsrcMedium::turned_idle(StationId station, SimTime now) {
  Access& access = access_[station];
  access.idle_since = now;
  if (access.queue.empty() || !receivers_[station].there) return;
  if (countdowns_.at(station) != SimTime::never()) return;  // about to talk in any case
  countdowns_.set(station, now + options_.aifs + options_.slot * access.backoff);
}

}  // namespace isochron::v2x
