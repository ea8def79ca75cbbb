#pragma once
// The air between clients that keep time by heartbeats: each says, every heartbeat, where its bodies are and what it
// will send, and takes what its stations have heard since. The medium has come as far as the slowest of them has told.
//
// Promises: nothing is delivered before the medium's time for it; what a client takes after that (because it is ahead
// of
//           the slowest) it takes late, by at most as much as clients are apart.
// Threads:  any.

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "v2x/comm/air.hpp"
#include "v2x/comm/figures.hpp"

namespace isochron::v2x {

class SharedAir {
 public:
  using OnLog = std::function<void(const AirLog&)>;
  /// `owners`: which client has which station. `on_log` is called with the lock held, one at a time.
  SharedAir(const AirSettings& settings, std::map<std::string, std::string> owners, OnLog on_log);

  /// From now on the medium waits for it.
  void enter(const std::string& client);
  void leave(const std::string& client);
  /// Whether a client may say that: of its own stations, in numbers that mean something. Others are better not asked.
  [[nodiscard]] bool believes(const std::string& client, const AirUp& up) const;
  AirNews exchange(const std::string& client, const AirUp& up);

  [[nodiscard]] AirFigures figures() const;
  [[nodiscard]] SimTime time() const;
  [[nodiscard]] std::uint64_t late() const;
  [[nodiscard]] std::size_t clients() const;

 private:
  struct Seat {
    SimTime told = SimTime::zero();
    AirNews outbox;
  };
  void advance();

  mutable std::mutex mutex_;
  Air air_;
  std::map<std::string, std::string> owners_;
  OnLog on_log_;
  std::map<std::string, Seat> seats_;
  AirFigures figures_;
};

}  // namespace isochron::v2x
