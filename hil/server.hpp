#pragma once
// The host's side of hardware in the loop: listens for targets, keeps their executed times and simulated time together
// (hil/sync.hpp), does what they ask at its time (hil/desk.hpp), and steps the world in between. Written as reactions
// on a Reactor, so that it runs on TCP and on the simulated network alike.
//
// It begins when all declared targets are there, and ends at the scenario's end, when all targets have said good-bye,
// when one is lost that must not be, or when stop() is called. Whatever strangers or broken targets do, they are shown
// out and the others go on.
//
// Promises: answers stamped t leave when simulated time has come to t. How long each target was held and for whom, and
//           how long the world waited for whom, adds up from the wall clock.
// Threads:  the reactor's; stop() from any through Reactor::post.
// Fails:    listen() says why. Later: Outcome::why.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/network.hpp"
#include "hil/connection.hpp"
#include "hil/desk.hpp"
#include "hil/sync.hpp"

namespace isochron::hil {

struct ServerOptions {
  Sync::Options sync;
  std::optional<link::Key> key;
  Limits limits;
  WallSpan wait_for_targets = std::chrono::seconds(60);
  WallSpan wait_for_return = std::chrono::seconds(30);  // of a target whose loss pauses the world
  bool end_with_targets = true;
  WallSpan stall_after = std::chrono::seconds(5);
  /// Told once when the world has waited for one target for this long: for whom, and where everybody stands.
  std::function<void(const std::string& target, SimTime world)> on_stall = {};
  /// What a target is made to compute more before the request it stands at; asked once for each request. For faults.
  std::function<SimSpan(const std::string& target)> delay = {};
};

struct LinkOutcome {
  LatencyMeter ping, way;  // at the start; by its requests
  ClockOffset offset;
  std::uint64_t late = 0, clock_faults = 0;
  SimSpan late_by;
};

struct TargetOutcome {
  std::string name;
  TargetFigures figures;
  SimSpan executed;   // ran freely, all links together
  WallSpan free_for;  // by our clock, the link's delays included
  std::uint64_t holds = 0;
  WallSpan held, held_most;
  WallSpan held_by_world, held_by_targets, held_by_pace;
  WallSpan world_waited;  // for it
  std::uint32_t losses = 0;
  std::vector<LinkOutcome> links;
  std::string ended;  // how, if before the run did
};

struct Outcome {
  bool completed = false;
  bool targets_done = false;           // all said good-bye before the end
  std::string why;                     // not completed: what to read first
  WallTime began = WallTime::never();  // when all targets were there
  SimTime reached;
  std::uint64_t steps = 0, requests = 0, refused = 0;
  std::vector<std::string> refusals;  // the first of them
  WallSpan in_world, waited, paced;
  std::vector<TargetOutcome> targets;
};

class Server {
 public:
  Server(Reactor& reactor, Plant& plant, std::vector<TargetSpec> targets, const ServerOptions& options,
         Observer& observer);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Result<Address, NetError> listen(const Address& at);
  /// Ends the run; `why` empty = as wished.
  void stop(const std::string& why);
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] SimTime time() const { return sync_.world(); }
  [[nodiscard]] bool started() const { return sync_.started(); }
  /// Names of those that are not there yet.
  [[nodiscard]] std::vector<std::string> awaited() const;
  /// Called once, when the run has ended.
  std::function<void()> on_over;
  [[nodiscard]] Outcome outcome() const;

 private:
  struct Client;  // a connection and what it is a link of
  struct Target {
    std::uint64_t session = 0;  // 0: not there
    std::vector<LinkId> links;  // all it ever had
    bool was_there = false, ended = false, lost = false;
    WallTime lost_at;
    TargetOutcome outcome;
  };

  void make_room();
  void accept(std::unique_ptr<Stream> stream);
  std::string hello(Client& client, const std::string& name, std::uint64_t& session);
  std::string join_as_new(Client& client, Target& target, std::uint64_t& session);
  void attach(Client& client);
  void begin_if_complete();
  void take_request(Client& client, WallTime arrived);
  void leave(Client& client);
  void closed(Client& client, const std::string& why);
  void lose(Client& client, Target& target, const std::string& why);
  void end_target(Target& target, const std::string& how);
  [[nodiscard]] bool any_link_left(const Target& target) const;

  void pump_soon();
  void pump(WallTime safe);
  bool perform(const Sync::Event& event);
  bool step(SimTime to);
  void operate(const Sync::Event& event);
  void let_go(Client& client, SimTime at);
  void note_hold(Client& client, SimTime at, WallTime now);
  void wait(const Sync::Event& event);
  void settle_wait();
  void record_times(WallTime now);
  void house_keeping();
  void finish(bool completed, const std::string& why);
  [[nodiscard]] Target& target_of(const Client& client);
  [[nodiscard]] std::uint32_t index_of(LinkId link) const { return link_target_[link]; }

  Reactor& reactor_;
  Plant& plant_;
  ServerOptions options_;
  Observer& observer_;
  Sync sync_;
  Desk desk_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> by_link_;            // null: its connection is gone
  std::vector<std::uint32_t> link_target_;  // by link
  std::vector<LinkOutcome> link_outcomes_;  // by link
  std::vector<Target> targets_;
  Reply reply_;
  Outcome outcome_;
  bool over_ = false, pumping_ = false, pump_posted_ = false;
  WallTime safe_;  // every request that came before this was told
  WallTime opened_;
  Reactor::TimerId timer_ = 0, keeper_ = 0;
  bool timer_set_ = false;
  // Where the wall time goes.
  LinkId waits_for_ = no_link;
  bool waiting_ = false, waits_for_pace_ = false;
  WallTime waiting_since_;
  SimTime stall_told_ = SimTime::before_all();  // of the world at this time
  WallSpan in_world_, waited_, paced_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with what is posted
};

}  // namespace isochron::hil
