#pragma once
// The air between clients that keep time by heartbeats: each says, every heartbeat, where its bodies are and what it
// will send, and takes what its stations have heard since. The medium has come as far as the slowest of them has told.
//
// A client that has stopped is not waited for: the world never lets clients be further apart than two heartbeats, so
// whoever is left further behind is in the world no more (it stalled, and was shot down), and the air goes on without
// it as the world does. When it speaks again, of a time that has not passed, it is waited for again.
//
// Promises: nothing is delivered before the medium's time for it; what a client takes after that (because it is ahead
//           of the slowest) it takes late, by at most as much as clients are apart.
//           Whoever was left behind is named in standstills().
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
  /// `lead`: how far apart clients in the world cannot be; more than two heartbeats.
  SharedAir(const AirSettings& settings, std::map<std::string, std::string> owners, SimSpan lead, OnLog on_log);

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
  struct Standstill {
    std::string client;
    SimTime from;                   // what it had told
    SimTime to = SimTime::never();  // when it was back; never = it was not
  };
  [[nodiscard]] std::vector<Standstill> standstills() const;

 private:
  struct Seat {
    SimTime told = SimTime::zero();
    AirNews outbox;
    bool behind = false;  // not waited for
    bool spoke = false;
  };
  void advance();
  void leave_behind();
  void catch_up(const std::string& client, Seat& seat);

  mutable std::mutex mutex_;
  Air air_;
  std::map<std::string, std::string> owners_;
  SimSpan lead_;
  OnLog on_log_;
  std::vector<Standstill> standstills_;
  std::map<std::string, Seat> seats_;
  AirFigures figures_;
};

}  // namespace isochron::v2x
