#pragma once
// The state cache is a client's picture of the world: its own agents' newest states on their way out, everybody else's
// on their way in, and the rule that keeps all simulations together. It is a pure state machine: ClientLink moves its
// datagrams, Client puts it on a thread; any simulator can sit on top.
//
//     simulation at t:  publish its agents, reached(t), then may_pass(t)?  ──no──► wait for news
//                                                        │ yes
//                                                        ▼ step to t + heartbeat; others' states by at(name, time)
//
// The rule (paper 004): at t, wait while somebody is earlier than t − 2 heartbeats. The server tells the least progress
// in the world, so agents out of sight count too. A client that is not in the world (not yet, or shot down) waits, and
// may be told to go on from a later time: begin_at().
//
// Others' states are kept for the last few stamps. at() interpolates between them, or goes on from the newest one with
// its velocities, and says how old what it used was. States of types that are not known here are held as they are.
//
// Promises: agents have different names. What a shut-down removed is gone until the server says it is back.
// Threads:  owner thread. Cost: at() O(stamps); receiving allocates only for new agents.

#include <google/protobuf/any.pb.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/ids.hpp"
#include "agents/notices.hpp"
#include "agents/wire.pb.h"
#include "core/gate.hpp"
#include "core/time.hpp"

namespace isochron::agents {

using Any = google::protobuf::Any;
using Vec3 = std::array<double, 3>;
using Quat = std::array<double, 4>;

/// Where something is and how it moves; what state.proto calls a Body. World frame, quaternion w x y z.
struct BodyState {
  Vec3 position{};
  Quat orientation{1, 0, 0, 0};
  Vec3 linear{};
  Vec3 angular{};
};
[[nodiscard]] Any to_any(const BodyState& body);
/// What stands in the type URL and in the value of such an Any.
[[nodiscard]] const std::string& body_type_url();
void write_body(const BodyState& body, std::string& bytes);
[[nodiscard]] std::optional<BodyState> body_of(const Any& state);
/// A type URL without a host part: shorter on the wire, and still what Any asks for.
[[nodiscard]] Any to_any(const google::protobuf::Message& message);

/// Between two stamps, or beyond the later one (or before the earlier): position and velocities by the cubic that fits
/// both ends, orientation along the great circle; beyond, straight on at constant velocity and turn rate.
[[nodiscard]] BodyState interpolate(const BodyState& a, SimTime at_a, const BodyState& b, SimTime at_b, SimTime t);
[[nodiscard]] BodyState extrapolate(const BodyState& from, SimSpan by);

/// Another's agent as seen at some time.
struct Sample {
  std::optional<BodyState> body;  // if it has a place
  const Any* state = nullptr;     // the newest one not after that time; valid until the cache changes
  SimTime stamp;                  // of the newest state used
  SimSpan age;                    // the time asked for − stamp; < 0: between two stamps, exact to interpolation
  bool extrapolated = false;
};

struct Outsider {
  AgentKey key;
  std::uint32_t generation = 0;
  std::uint64_t arrival = 0;
  std::string name;
  Any what;  // its description, as its client gave it
  struct Stamped {
    SimTime time;
    std::uint64_t sequence = 0;
    Any state;
    std::optional<BodyState> body;
  };
  std::deque<Stamped> states;  // oldest first; empty until its first state came
};

struct CacheCounts {
  std::uint64_t updates = 0, stale = 0, unknown = 0, entered = 0, shut_down = 0, left_view = 0, gaps = 0;
};

class StateCache {
 public:
  explicit StateCache(SimSpan heartbeat = std::chrono::milliseconds(5));

  // --- the simulation's own agents

  /// Before its first state. Names are the world's: one that is taken is refused by the server (see refused()).
  std::uint32_t add(const std::string& name, const Any& what, const std::string& state_type_url, double reach = 0);
  void withdraw(std::uint32_t agent);
  void publish(std::uint32_t agent, SimTime t, const Vec3& position, const Any& state);
  void publish(std::uint32_t agent, SimTime t, const BodyState& body);
  /// Everything up to t is published.
  void reached(SimTime t);

  // --- time

  [[nodiscard]] SimSpan heartbeat() const { return heartbeat_; }
  [[nodiscard]] SimTime progress() const { return progress_; }
  /// Whether the simulation may go on from t.
  [[nodiscard]] bool may_pass(SimTime t) const;
  [[nodiscard]] bool inside() const { return inside_; }
  /// Outside, and the world has gone on: publish states of this time to get in.
  [[nodiscard]] std::optional<SimTime> begin_at() const;
  [[nodiscard]] SimTime minimum() const { return table_.at(others); }
  [[nodiscard]] const std::string& slowest() const { return slowest_; }
  [[nodiscard]] std::uint32_t clients() const { return clients_; }

  // --- the others

  [[nodiscard]] const Outsider* find(const std::string& name) const;
  [[nodiscard]] std::optional<Sample> at(const std::string& name, SimTime t) const;
  [[nodiscard]] Sample at(const Outsider& agent, SimTime t) const;
  /// Calls f(const Outsider&) for each that has a state, in the order of names.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [name, agent] : names_) {
      if (!agent->states.empty()) f(static_cast<const Outsider&>(*agent));
    }
  }
  [[nodiscard]] std::size_t size() const { return outsiders_.size(); }
  /// Own agents that the server does not take, and why.
  [[nodiscard]] const std::map<std::string, std::string>& refused() const { return refused_; }
  [[nodiscard]] const CacheCounts& counts() const { return counts_; }

  // --- the link's part

  /// Joined (again): with another epoch everything about others is forgotten; own agents are described anew.
  void joined(Connection connection, const wire::WorldInfo& world);
  void lost();
  /// What is new of others' states is taken out of `down`.
  void take(wire::Down& down);
  void take(wire::Down&& down) { take(down); }
  /// Fills `up` with what goes first; false = nothing more. `refresh`: states that were sent too, if older than that.
  struct Packing {
    WallTime now;
    WallSpan refresh;
    bool waiting = false;
    bool all = false;  // every newest state, sent or not
  };
  void begin_packing(const Packing& how);
  bool pack(wire::Up& up, std::size_t room);
  [[nodiscard]] Connection connection() const { return connection_; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  /// Something was published or described that was not packed yet.
  [[nodiscard]] bool has_news() const { return news_; }

 private:
  struct Own {
    std::string name;
    Any what;
    std::uint32_t type = 0;
    float reach = 0;
    wire::AgentMessage newest;
    bool has_state = false;
    bool sent = false;
    bool withdrawn = false;
    WallTime sent_at = WallTime::before_all();
  };
  static constexpr ParticipantId self{0}, others{1};
  void describe(std::uint32_t agent);
  void enter(const wire::Description& description);
  void forget(const AgentKey& key, std::uint32_t generation);
  void update(wire::AgentMessage& message);
  wire::AgentMessage& renewed(std::uint32_t agent, SimTime t, const Vec3& position);
  void take_notice(const wire::DownNotice& notice);

  SimSpan heartbeat_;
  ProgressTable table_{2};
  SimTime progress_, told_progress_;
  bool inside_ = false;
  bool connected_ = false;
  SimTime begin_at_ = SimTime::before_all();
  std::string slowest_;
  std::uint32_t clients_ = 0;

  Connection connection_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t tick_ = 0;
  std::uint64_t sequence_ = 0;
  std::vector<Own> own_;
  Outbox<wire::UpNotice> notices_;
  InOrder noticed_;
  bool news_ = false;
  Packing packing_{};
  std::size_t packed_ = 0;
  bool first_packet_ = false;

  std::unordered_map<AgentKey, Outsider, AgentKeyHash> outsiders_;
  std::map<std::string, Outsider*> names_;  // those
  std::map<std::string, std::string> refused_;
  CacheCounts counts_;
};

}  // namespace isochron::agents
