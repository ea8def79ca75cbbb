#pragma once
// The Reactor of one process on a simulated host: production code runs on it unchanged. Stream bytes come in random
// pieces and coalesced; sends back up when the peer does not read; timers due at one time fire in the seed's order.
// Beyond the interface it does to its process what machines do: freeze() it for a while, kill() it, put its clock off.
//
// run() drives the whole world (every reactor in it) until this one is stopped or nothing is left to happen; tests
// with several reactors rather use Scheduler::run_until.
//
// Requires: streams, listeners and ports are destroyed before their reactor, as on the real one.
// Threads:  owner thread; post() and stop() from callbacks and tasks of the same world.

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "testing/network.hpp"

namespace isochron {

struct Connection;

class SimulatedReactor final : public Reactor {
 public:
  /// A process on the host with this IP address (the port is ignored). One host may have several.
  SimulatedReactor(SimulatedNetwork& network, const Address& host);
  ~SimulatedReactor() override;
  SimulatedReactor(const SimulatedReactor&) = delete;
  SimulatedReactor& operator=(const SimulatedReactor&) = delete;

  [[nodiscard]] WallTime now() override { return scheduler_.now() + clock_offset_; }
  TimerId call_at(WallTime t, std::function<void()> what) override;
  void cancel(TimerId timer) override;
  void post(std::function<void()> what) override;
  Result<std::unique_ptr<Listener>, NetError> listen(const Address& at,
                                                     std::function<void(std::unique_ptr<Stream>)> on_accept) override;
  std::unique_ptr<Stream> connect(const Address& to) override;
  Result<std::unique_ptr<DatagramPort>, NetError> open_datagrams(const Address& at) override;
  void run() override;
  bool poll(WallTime until) override;
  void stop() override { stopped_ = true; }

  /// No callback for this long, then all that was due: a process that was swapped out.
  void freeze(WallSpan span) { frozen_until_ = scheduler_.now() + span; }
  /// kill -9: no callback ever again; the system closes its sockets and the peers notice, as far as the network lets.
  void kill();
  [[nodiscard]] bool alive() const { return *alive_; }
  /// This process's wall clock shows so much more than the simulated one.
  void set_clock_offset(WallSpan offset) { clock_offset_ = offset; }
  [[nodiscard]] const Address& host() const { return host_; }

 private:
  friend class SimulatedNetwork;
  friend class SimulatedStream;
  friend class SimulatedListener;
  friend class SimulatedDatagrams;
  friend struct PortState;
  friend struct Connection;

  /// Calls `what` at t of the simulated clock if this process lives then and is not frozen.
  TimerId schedule(WallTime t, std::function<void()> what);
  void wake_at(WallTime t, TimerId timer);
  void fire(TimerId timer);
  [[nodiscard]] bool is_mine(const Address& address) const;
  [[nodiscard]] SimulatedNetwork::Ip host_of(const Address& target) const;
  [[nodiscard]] Address source_for(const Address& target, std::uint16_t port) const;

  SimulatedNetwork& network_;
  Scheduler& scheduler_;
  Address host_;
  RandomStream random_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared: events in the queue ask it after we are gone
  std::map<TimerId, std::function<void()>> due_;  // ours, not the scheduler's: what they own goes before we go
  TimerId last_timer_ = 0;
  std::deque<std::function<void()>> posted_;
  std::map<std::uint64_t, std::pair<std::shared_ptr<Connection>, int>> connections_;  // by id, and which end is ours
  WallTime frozen_until_ = WallTime::zero();
  WallSpan clock_offset_;
  bool stopped_ = false;
  std::uint64_t fired_ = 0;
  std::function<void()> waker_;  // of who polls
  int objects_ = 0;              // streams, listeners and ports that still refer to us
};

}  // namespace isochron
