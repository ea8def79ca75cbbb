#pragma once
// One SUMO simulation with our vehicles in it: the only place that calls libsumo.
//
// SUMO says where a vehicle's front bumper is, in degrees clockwise from north; everybody else where its middle is, in
// radians from x towards y. The difference ends here.
//
// Requires: one at a time in a process.
// Fails:    the constructor throws InputError with what SUMO said; later calls throw std::runtime_error.

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bridge/sumo/border.hpp"
#include "bridge/sumo/messages.hpp"
#include "bridge/sumo/spec.hpp"
#include "msg/agent_messages.hpp"

namespace isochron::sumo {

class Simulation {
 public:
  explicit Simulation(const NodeSpec& spec);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Where ours are; the others of `states` are not ours. Signals among them are obeyed.
  void hear(const AgentStates& states);
  void hear(const SignalStates& signals);
  /// One step; `now` is the time after it.
  void step(SimTime now);

  void fill(AgentStates& states, SimTime now) const;
  void fill(SignalStates& signals, SimTime now) const;
  void fill(Traffic& traffic, SimTime now) const;

 private:
  struct Own {
    NodeSpec::Own spec;
    std::string vehicle;  // as SUMO calls it
    AgentState state;
    SimTime stamp;
    bool known = false;
  };
  struct Shown {  // a slot's car
    std::string vehicle, type;
    std::array<double, 3> middle{};
    double heading = 0, speed = 0, turning = 0;
    double length = 0, width = 0;
  };
  struct Light {
    std::string name;
    std::string state;   // as SUMO writes it
    std::string greens;  // what green is written as for each link: with priority or without
    bool ours = false;   // we say what it shows
  };
  void start();
  void obey(const std::vector<std::string>& heads, const std::vector<std::uint8_t>& lamps);
  void move_ours(SimTime to);
  void add_own(const Own& own, double x, double y);
  void look();
  void look_at(Shown& shown, const std::string& vehicle) const;
  void list_lights();
  [[nodiscard]] bool is_equipped(const std::string& vehicle) const;

  NodeSpec spec_;
  std::vector<Own> ours_;
  std::set<std::string> our_vehicles_;
  std::vector<Light> lights_;
  Border border_;
  std::vector<Shown> shown_;  // by slot
  std::uint32_t running_ = 0, departed_ = 0, arrived_ = 0, teleported_ = 0;
};

}  // namespace isochron::sumo
