#pragma once
// One client's share of a world with many agents: the scenario's model with all bodies in it, of which it simulates its
// own; the others' are placed where others say they are, so that its sensors see them and its bodies run into them.
// The same class serves clients of a server (heartbeat) and nodes of a flow system (repeatable); who calls it decides
// what "where others say they are" means.
//
// Promises: what it does depends on the scenario and on what is placed when, only.
// Requires: place() what others do, then take_step(); states() is of time().
// Threads:  owner thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/message.hpp"
#include "msg/agent_messages.hpp"
#include "run/agent_programs.hpp"
#include "run/signal_lamps.hpp"
#include "run/stage.hpp"
#include "scenario/scenario.hpp"
#include "traffic/agent_parts.hpp"
#include "traffic/agent_right_of_way.hpp"
#include "traffic/awareness.hpp"
#include "traffic/pedestrian.hpp"
#include "traffic/trips.hpp"
#include "traffic/v2x_unit.hpp"
#include "world/vehicle/car.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

/// The scenario's clients, in the order in which its members name them.
std::vector<std::string> agent_clients(const Scenario& scenario);
/// Throws InputError with everything wrong in `agents`, the bodies of all clients included.
void check_agents(const Scenario& scenario);

class AgentWorld {
 public:
  /// Throws InputError.
  AgentWorld(const Scenario& scenario, const std::string& client);
  AgentWorld(const AgentWorld&) = delete;  // walkers refer to its time
  AgentWorld& operator=(const AgentWorld&) = delete;

  [[nodiscard]] Stage& stage() { return *stage_; }
  [[nodiscard]] SimTime time() const { return stage_->world().time() + offset_; }
  [[nodiscard]] SimSpan step() const { return stage_->step(); }
  /// The world begins, or goes on, at this time; nobody has moved.
  void skip_to(SimTime t) { offset_ += t - time(); }

  struct Own {
    std::string name;
    const AgentSection* section;
    std::uint32_t body = 0;  // 0: has none
    std::array<double, 3> size{};
  };
  [[nodiscard]] const std::vector<Own>& own() const { return own_; }
  /// Of the i-th own agent, now.
  void fill(std::size_t own, AgentState& state) const;

  /// Where another's agent is now; false = the model has no body to show it with.
  bool place(const AgentState& state);
  /// It is not there any more.
  void remove(const std::string& name);
  Result<Done, std::string> take_step();

  /// The programs that drive its agents; null where none does. They take their turns once they are started.
  [[nodiscard]] AgentPrograms* programs() { return programs_.get(); }

  /// The radios of its own agents; null without `v2x`.
  [[nodiscard]] V2xUnit* radio() { return radio_.get(); }
  /// Where they are, and what they send until the next heartbeat. Requires radio().
  v2x::AirUp report_radio(SimSpan heartbeat) { return radio_->report(time(), heartbeat, motions()); }

 private:
  [[nodiscard]] V2xUnit::MotionOf motions();
  void make_traffic(const std::string& client);
  void make_car(const Own& own, const std::shared_ptr<const world::Ground>& ground);
  void seat_driver(const Own& own, world::Part& car, const Trips::Car& way);
  void make_pedestrian(std::size_t own);
  void obey();
  std::optional<V2xUnit::Receiver> receiver_of(const Own& own);
  std::uint32_t body_for(const std::string& name);
  void lend(std::uint32_t body);
  bool move(std::uint32_t body, const world::Motion& motion);
  void make_passable(std::uint32_t body);

  Scenario scenario_;  // a copy, with this client's robots only
  std::unique_ptr<Stage> stage_;
  SimSpan offset_{};
  std::vector<Own> own_;
  std::vector<std::pair<std::string, Signals>> signals_;
  std::vector<std::pair<std::size_t, Walker*>> walkers_;  // by own
  std::unique_ptr<Awareness> awareness_;
  std::unique_ptr<RightOfWay> right_of_way_;
  std::unique_ptr<V2xUnit> radio_;
  std::unique_ptr<Trips> trips_;
  std::vector<Pedestrian*> pedestrians_;
  std::vector<std::unique_ptr<world::PathDriver>> counters_;  // of cars with trips that programs drive
  std::unique_ptr<AgentPrograms> programs_;
  LampBoard lamps_;
  std::unique_ptr<SignalLamps> seen_lamps_;      // null where no sensor sees
  std::map<std::string, std::uint32_t> bodies_;  // of others, as assigned
  struct Follower {
    std::uint32_t body;
    world::Pose offset;  // in the frame of the one it follows
  };
  std::map<std::uint32_t, std::vector<Follower>> followers_;  // of bodies that others have: the wheels of a car
  std::vector<std::uint32_t> guests_;                         // free
};

}  // namespace isochron
