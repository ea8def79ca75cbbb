#pragma once
// The world map: which clients there are, which agents they have, where those are, and how far everybody has come. It
// is a pure state machine: messages and times go in, and what clients should be told can be asked of it. One thread
// writes it.
//
// A client, seen from the map:
//
//     pending ──first datagram──► outside ──a state at t ≥ minimum──► announced ──minimum ≥ t − 3 heartbeats──► live
//                                    ▲                                    │                                      │
//                                    └──────── silent, stalled, lying about time: shot down ◄────────────────────┘
//
// Time. `minimum()` is the least progress of all clients in the world (announced or live). Clients may go on from t
// while minimum ≥ t − 2 heartbeats, and so are never beyond minimum + 3 heartbeats. Because nobody gets in below the
// minimum, it never falls, and a client that was told an old one is merely careful.
//
// Promises: minimum() only grows while somebody is in the world. Two live agents never have the same name. An agent
//           that comes back has a higher generation. A client in the world is at most 3 heartbeats ahead of the
//           minimum, or is fenced off.
// Threads:  owner thread; reads no clock.
// Cost:     an update O(1); a scan O(clients + agents).

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agents/ids.hpp"
#include "agents/notices.hpp"
#include "agents/vicinity.hpp"
#include "agents/wire.pb.h"
#include "core/network.hpp"
#include "core/time.hpp"
#include "link/auth.hpp"

namespace isochron::agents {

struct WorldSettings {
  SimSpan heartbeat = std::chrono::milliseconds(5);
  SimTime start = SimTime::zero();  // of the first client's agents
  double vicinity = 100;            // m; a client is told of agents nearer than this to one of its own
  wire::Updates updates = wire::AUTOMATIC;
  WallSpan silence = std::chrono::seconds(3);  // of a client or one of its agents, until it is shot down
  WallSpan stall = std::chrono::seconds(10);   // without progress although others wait
  WallSpan gather = std::chrono::seconds(3);   // how long those who find back wait for each other
  std::size_t clients = 256;
  std::size_t agents = 65'536;
  std::size_t agents_of_client = 4096;
  std::size_t names = 120;  // longest name, bytes
};

enum class Standing : std::uint8_t { pending, outside, announced, live };

/// What a client was shown, by the agents' slots.
struct View {
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> round_of;  // by slot: the round in which it was last wanted; 0 = not in view
  std::uint32_t round = 0;
  std::uint64_t membership = 0;      // of the map, when it was made
  std::vector<std::uint32_t> fresh;  // came into view and not sent since
  std::vector<std::size_t> cuts;     // of the burst that is being made
  [[nodiscard]] bool has(std::uint32_t slot) const { return slot < round_of.size() && round_of[slot] != 0; }
};

/// What the server knows of a client: its endpoint, its progress, its agents, and what it was told.
struct Profile {
  Connection connection = 0;
  std::string name;
  wire::Updates wanted = wire::AUTOMATIC;
  wire::Updates kind = wire::WHOLE;  // what it gets now
  Standing standing = Standing::pending;
  std::string outside_because;
  Address endpoint{};
  SimTime progress = SimTime::zero();
  SimTime announced_at = SimTime::zero();
  SimSpan lead{};  // how far ahead of the world it was told to begin, last time
  SimTime begin_at = SimTime::before_all();
  WallTime heard = WallTime::zero();
  WallTime progressed = WallTime::zero();
  WallTime barred_until = WallTime::before_all();  // it stalled again and again
  std::vector<std::uint32_t> agents;               // slots, by agent number; none = no such agent
  std::uint32_t with_state = 0;                    // of them

  Outbox<wire::DownNotice> notices;
  InOrder noticed;
  View view;

  // What the downlink remembers of it.
  std::optional<link::Sealer> sealer;
  std::size_t datagram_bytes = largest_datagram;
  std::uint64_t tick = 0;
  std::uint64_t sent_through = 0;  // every entry up to this version was sent
  SimTime told = SimTime::before_all();
  WallTime sent = WallTime::before_all();
  Standing told_standing = Standing::pending;
  std::uint32_t bursts = 0;
  bool asked = false;  // it waits, or has news: answer soon

  [[nodiscard]] bool in_world() const { return standing == Standing::announced || standing == Standing::live; }
};

inline constexpr std::uint32_t no_slot = UINT32_MAX;

struct Agent {
  AgentKey key;
  Profile* client = nullptr;  // null: the slot is free
  wire::Description description;
  std::string entry;  // its newest state as it goes out; "" = none yet
  bool alive = false;
  bool shown = false;  // alive, and its client live: others may see it
  SimTime time = SimTime::zero();
  double x = 0, y = 0;
  float reach = 0;
  std::uint64_t version = 0;
  WallTime refreshed = WallTime::zero();
};

/// What is held against a client of some name, whatever connection it comes by; forgotten after a while without more.
struct Misdeeds {
  int lies = 0, stalls = 0;
  WallTime last = WallTime::before_all();
  WallTime barred_until = WallTime::before_all();
};

/// What happened to clients so far.
struct MapCounts {
  std::uint64_t joined = 0, left = 0, shot_down = 0, returned = 0, stalled = 0, fenced = 0, refused_names = 0,
                told_to_begin_later = 0;
};

class WorldMap {
 public:
  explicit WorldMap(const WorldSettings& settings);
  ~WorldMap();
  WorldMap(const WorldMap&) = delete;
  WorldMap& operator=(const WorldMap&) = delete;

  // Joining and leaving

  /// Nothing, or why not now. A silent client of that name makes room for its successor.
  [[nodiscard]] std::optional<std::string> refusal(const std::string& name, WallTime now) const;
  Profile& add(Connection connection, const std::string& name, wire::Updates wanted, WallTime now);
  /// A client came back that was in a world of `clients` before this server started.
  /// Time stands still until so many are there, at most for `limit`.
  void expect(std::uint32_t clients, SimTime progress, WallTime now, WallSpan limit);
  void remove(Connection connection, const std::string& reason);
  [[nodiscard]] Profile* find(Connection connection);
  /// Everybody that is shown now, and a view that begins with them.
  void snapshot(Profile& client, wire::WorldInfo& info);
  /// Connections that ended since the last call.
  [[nodiscard]] std::vector<Connection> take_ended() { return std::exchange(ended_, {}); }

  // What clients say

  enum class Heard { fine, left, fenced };
  /// `up` passed a Handler.
  Heard take(Profile& client, wire::RawUp& up, WallTime now);
  /// Looks for the silent and the stalled, and changes the kinds of updates by density; a few times a second.
  void scan(WallTime now);
  /// Ends the wait for those who have not found back; lets in whom the minimum has reached.
  void settle(WallTime now);

  // What they are told

  [[nodiscard]] SimTime minimum() const { return minimum_; }
  [[nodiscard]] const Profile* slowest() const { return slowest_; }
  void refresh_view(Profile& client);
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::uint64_t membership() const { return membership_; }
  [[nodiscard]] const Agent& agent(std::uint32_t slot) const { return agents_[slot]; }
  [[nodiscard]] std::size_t shown() const { return shown_; }
  [[nodiscard]] std::size_t in_world() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Profile>>& clients() const { return clients_; }
  [[nodiscard]] const MapCounts& counts() const { return counts_; }
  [[nodiscard]] const WorldSettings& settings() const { return settings_; }
  template <class F>
  void for_each_shown(F&& f) const {
    for (std::uint32_t slot = 0; slot < agents_.size(); ++slot) {
      if (agents_[slot].shown) f(slot, agents_[slot]);
    }
  }

 private:
  void hear_notices(Profile& client, const wire::RawUp& up, WallTime now);
  void describe(Profile& client, const wire::Description& description, WallTime now);
  void withdraw(Profile& client, std::uint32_t agent);
  void update(Profile& client, wire::RawAgent& entry, WallTime now);
  void believe_most(SimTime progress);
  bool within_world(Profile& client, SimTime progress) const;
  void try_to_enter(Profile& client, WallTime now);
  void shoot_down(Profile& client, const std::string& reason);
  Misdeeds& misdeeds_of(const std::string& name, WallTime now);
  void note_stall(Profile& client, WallTime now);
  [[nodiscard]] bool holds_up(const Profile& client) const { return &client == slowest_ && in_world() > 1; }
  void show(std::uint32_t slot);
  void hide(std::uint32_t slot, const std::string& reason);
  void revive(Agent& agent);
  void free_slot(std::uint32_t slot);
  void find_minimum();
  /// How many agents are near this client's own, those included.
  [[nodiscard]] std::size_t count_near(const Profile& client);
  [[nodiscard]] double reach_of(const Agent& agent) const;
  void choose_kind(Profile& client, double updates_per_agent);
  void want(Profile& client, std::uint32_t slot);
  void want_near(Profile& client, const Agent& own);
  void refuse(Profile& client, std::uint32_t agent, const std::string& reason);

  WorldSettings settings_;
  std::vector<std::unique_ptr<Profile>> clients_;
  std::unordered_map<Connection, Profile*> by_connection_;
  std::unordered_map<std::string, Misdeeds> misdeeds_;
  std::vector<Agent> agents_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  VicinityGrid grid_;
  SimTime minimum_;
  const Profile* slowest_ = nullptr;
  std::uint64_t version_ = 0;     // of entries
  std::uint64_t membership_ = 1;  // of who is shown
  std::uint64_t arrivals_ = 0;
  std::size_t shown_ = 0;
  std::uint64_t updates_ = 0, scanned_updates_ = 0;
  WallTime scanned_ = WallTime::before_all();
  std::uint32_t expected_ = 0;  // clients that are to find back
  SimTime floor_ = SimTime::before_all();
  std::vector<SimTime> claims_;  // of those who resume, sorted
  WallTime gather_until_ = WallTime::before_all();
  std::vector<Connection> ended_;
  std::vector<char> counted_;  // by slot, while counting
  MapCounts counts_;
};

}  // namespace isochron::agents
