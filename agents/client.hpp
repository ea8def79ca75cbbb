#pragma once
// A client for a simulation loop: joins a world, publishes the simulation's agents, and keeps its time with everybody
// else's. With our world engine or any other:
//
//     agents::Client client(key, {.server = address, .name = "east"});
//     const auto car = client.add("car01", what, agents::body_type_url());
//     for (SimTime t = client.start(); ; t += client.heartbeat()) {
//       client.publish(car, t, state);
//       const auto turn = client.pass(t);                    // sends; waits for the slowest
//       if (turn.kind != agents::Turn::go) …                 // told to begin later, or it is over
//       client.look([&](const agents::StateCache& others) { others.for_each(…); });
//     }
//
// The network runs on the caller's thread while it is inside pass(), which spares two wake-ups a heartbeat. A second
// thread looks after it when the simulation is away for long, so that a slow step is not taken for death.
//
// Threads: one simulation thread; look() from any.
// Fails:   pass() says `over` with a reason when the server declines for good; lost servers are found again.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "agents/client_link.hpp"
#include "link/faults.hpp"
#include "link/reactor.hpp"

namespace isochron::agents {

struct Turn {
  enum Kind { go, begin_at, over } kind = go;
  SimTime time{};   // begin_at: the world has gone on without us; continue from here
  std::string why;  // over
};

class Client {
 public:
  Client(const link::Key& key, const ClientSettings& settings, const link::Faults& faults = {});
  /// Leaves.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Waits until the server has let it in, at most for `limit`; "" = it has, else why not.
  [[nodiscard]] std::string join(WallSpan limit);
  /// Where the world was when it joined.
  [[nodiscard]] SimTime start() const { return start_; }
  [[nodiscard]] SimSpan heartbeat();

  std::uint32_t add(const std::string& name, const Any& what, const std::string& state_type_url, double reach = 0);
  void withdraw(std::uint32_t agent);
  void publish(std::uint32_t agent, SimTime t, const BodyState& body);
  void publish(std::uint32_t agent, SimTime t, const Vec3& position, const Any& state);

  /// Everything up to t is published: sends it, and waits until the simulation may go on from t.
  Turn pass(SimTime t);
  /// Ends a pass() that waits, and all later ones; from any thread, and from signal handlers.
  void stop() noexcept { stop_.store(true); }

  /// f(cache) with the cache locked: f calls no other function of this client.
  template <class F>
  auto look(F&& f) {
    const std::lock_guard lock(shared_.mutex);
    return f(static_cast<const StateCache&>(shared_.cache));
  }
  [[nodiscard]] LinkCounts counts();
  /// Wall time spent waiting in pass().
  [[nodiscard]] WallSpan waited() const { return waited_; }
  [[nodiscard]] std::uint64_t waits() const { return waits_; }

 private:
  void pump();
  void run_until_news();
  void keep_alive();
  std::optional<Turn> decided(SimTime t);

  link::EpollReactor reactor_;
  link::FaultyReactor network_;
  SharedCache shared_;
  ClientLink link_;
  std::mutex running_;  // held by who runs the reactor
  std::atomic<bool> stop_{false}, ended_{false};
  SimTime start_;
  WallSpan waited_{};
  std::uint64_t waits_ = 0;
  std::thread keeper_;
};

}  // namespace isochron::agents
