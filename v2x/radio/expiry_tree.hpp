#pragma once
// The earliest of many alarms that are set, moved and cancelled all the time: a tree of winners over the stations. At a
// busy channel every frame stops and restarts hundreds of countdowns, of which one will fire; a heap would fill with
// the cancelled ones.
//
// Promises: first() is the least (time, station). Cost: set() O(log n), first() O(1); allocates when a station is
// added.

#include <bit>
#include <cstdint>
#include <vector>

#include "core/time.hpp"

namespace isochron::v2x {

class ExpiryTree {
 public:
  void add_station() {
    if (++count_ <= leaves_) return;
    const std::vector<SimTime> old(times_);
    leaves_ = std::bit_ceil(count_);
    times_.resize(leaves_, SimTime::never());
    winners_.assign(2 * leaves_, 0);
    for (std::size_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = static_cast<std::uint32_t>(i);
    for (std::size_t node = leaves_; node-- > 1;) winners_[node] = better(2 * node);
  }
  void set(std::uint32_t station, SimTime at) {
    if (times_[station] == at) return;
    times_[station] = at;
    for (std::size_t node = (leaves_ + station) / 2; node > 0; node /= 2) {
      const std::uint32_t before = winners_[node];
      winners_[node] = better(2 * node);
      if (winners_[node] == before && before != station) return;  // nothing changes further up
    }
  }
  [[nodiscard]] SimTime at(std::uint32_t station) const { return times_[station]; }
  [[nodiscard]] SimTime first_time() const { return count_ == 0 ? SimTime::never() : times_[first()]; }
  [[nodiscard]] std::uint32_t first() const { return leaves_ == 1 ? 0 : winners_[1]; }

 private:
  [[nodiscard]] std::uint32_t better(std::size_t left) const {
    const std::uint32_t a = winners_[left];
    const std::uint32_t b = winners_[left + 1];
    return times_[b] < times_[a] ? b : a;
  }

  std::size_t count_ = 0;
  std::size_t leaves_ = 0;
  std::vector<SimTime> times_;
  std::vector<std::uint32_t> winners_;  // of each node; the leaves are their own
};

}  // namespace isochron::v2x
