#pragma once
// One client's radios: the stations of the cars and lights that it simulates. At every heartbeat it says where its
// bodies are and what is sent until the next one; what was heard is given to the stations at the simulated time it
// arrived, and what they make of it to the drivers.
//
// Promises: what it does depends on what its agents do and on what was heard when, only.
// Threads:  owner thread.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "msg/ros_messages.hpp"
#include "scenario/scenario.hpp"
#include "traffic/agent_parts.hpp"
#include "traffic/v2x_security.hpp"
#include "v2x/comm/air.hpp"
#include "v2x/station/roadside.hpp"
#include "v2x/station/vehicle.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

/// Throws InputError with everything wrong in `v2x`. Does nothing without one.
void check_v2x(const Scenario& scenario);
/// The air that the scenario describes: stations in the order of its members, buildings and bodies from its model.
v2x::AirSettings air_settings(const Scenario& scenario);
/// Which client has which station.
std::map<std::string, std::string> station_owners(const Scenario& scenario);

/// How the unit of a car or robot works, as `unit`, `units` and `quiet` say; its number, size and name are left to the
/// caller.
v2x::VehicleSettings unit_settings(const V2xSection& v2x, const std::string& name);

/// Where the middle of a robot is, by a satellite receiver whose antenna is there on its body.
v2x::PositionFix position_fix(const sensor_msgs::NavSatFix& fix, SimTime taken, const std::array<double, 3>& antenna,
                              double heading_rad, const v2x::GeoFrame& frame);

/// What a signal shows from t on: now, and as far as a SPaT tells. `yields`: of a movement that goes by it and has to
/// give way meanwhile, such as a left turn across those who come towards it.
v2x::SignalPlan signal_plan(const Signals& signals, const std::string& head, int group, SimTime t, bool yields = false);

/// The MAP of each of the scenario's intersections, by its lights. Throws InputError where one does not fit into a MAP.
std::vector<std::pair<std::string, v2x::Bytes>> map_messages(const Scenario& scenario);

class V2xUnit {
 public:
  V2xUnit(const Scenario& scenario, const std::string& client);

  struct Receiver {
    std::array<double, 3> antenna{};  // on the car's body
    /// Fills in what it said last, and says when; before_all() = nothing yet.
    std::function<SimTime(sensor_msgs::NavSatFix&)> read{};
  };
  /// A car that this client simulates, in the order of its members; its driver outlives this.
  struct Car {
    std::string name;
    std::array<double, 3> size{};         // half extents
    world::PathDriver* driver = nullptr;  // null: somebody else drives it
    std::optional<Receiver> receiver{};   // none: it knows where it is
    bool programmed = false;              // its programs hear, and send, by its radio
    bool heeds = true;                    // its driver makes something of what it hears,
    SimSpan reaction{};                   // and brakes so long after it was warned
  };
  void add(const Car& car);
  /// Another driver in the same car.
  void change_driver(const std::string& name, SimSpan reaction);
  /// The lights of that name, which outlive this; all that have lanes in `v2x` are needed.
  void set_signals(const std::string& name, const Signals& signals);
  /// Whether it talks; a car that is not there does not. All do at first.
  void let_talk(const std::string& name, bool talks);
  /// From now on the car of that name is another one: its radio forgets, and others take it for somebody new.
  void renew(const std::string& name, std::uint32_t generation);

  /// `motion` of a body by name, and of all that others' radios might be hidden by.
  using MotionOf = std::function<world::Motion(const std::string& name)>;
  v2x::AirUp report(SimTime t, SimSpan heartbeat, const MotionOf& motion);
  void hear(v2x::AirNews news);

  /// Of the cars that programs drive, those with a radio.
  [[nodiscard]] std::vector<std::string> programmed() const;
  /// What a program has its car's radio send. It goes out one heartbeat later: that is how long the unit takes.
  /// False: the car has said too much since the last report.
  bool say(const std::string& name, SimTime at, std::span<const std::byte> octets);
  /// What cars that programs drive receive before this time and were not given yet, in order.
  void give_programs(SimTime before, const std::function<void(const v2x::AirDelivery&)>& give);
  /// Before each step: stations hear what has arrived by now; every 20 ms drivers are advised.
  void act(SimTime now, const MotionOf& motion);

  /// In how many seconds a driver's signal is green, as its radio told; nothing: it was not told, or does not listen.
  [[nodiscard]] std::optional<double> green_in(const world::PathDriver& driver) const;

  struct Counts {
    std::uint64_t heard = 0, late = 0, warnings = 0;
    SimSpan latest;  // how late at most
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Equipped {
    Car car;
    std::unique_ptr<v2x::VehicleStation> station;
    bool deaf = false;
    v2x::Advice advice{};
    bool warned = false;
    SimTime warned_since{};
    bool talks = true;
    std::size_t said = 0;  // by its programs, since the last report
  };
  struct Light {
    std::string name;
    const Signals* signals;  // null until they are set
    std::vector<std::string> heads;
    std::unique_ptr<v2x::RoadsideStation> station;
  };
  [[nodiscard]] v2x::VehicleMotion motion_of(const Equipped& car, SimTime now, const MotionOf& motion) const;
  [[nodiscard]] std::optional<v2x::PositionFix> fix_of(const Equipped& car, const v2x::VehicleMotion& now) const;
  [[nodiscard]] v2x::OwnPath path_of(const Equipped& car, const v2x::VehicleMotion& motion) const;
  void advise(Equipped& car, SimTime now, const MotionOf& motion);
  void arrive(const v2x::AirDelivery& delivery);
  v2x::AirRefused take_refused();
  [[nodiscard]] v2x::AirSend sent_by(const std::string& name, v2x::Outgoing out);
  [[nodiscard]] std::unique_ptr<v2x::VehicleStation> make_station(const Car& car, std::uint32_t generation) const;
  Equipped* find(const std::string& name);

  const V2xSection& section_;
  v2x::GeoFrame frame_;
  std::uint64_t seed_;
  std::vector<std::string> own_;  // bodies of this client
  std::vector<Equipped> cars_;
  std::vector<Light> lights_;
  std::vector<std::string> members_;
  mutable sensor_msgs::NavSatFix fix_;    // its memory serves again
  std::deque<v2x::AirDelivery> waiting_;  // in order of time
  std::deque<v2x::AirDelivery> for_programs_;
  std::vector<v2x::AirSend> said_;  // by programs
  std::vector<v2x::AirBusy> busy_;
  Counts counts_;
  v2x::AirRefused refused_;  // told of so far
  std::optional<V2xSecurity> secured_;
};

}  // namespace isochron
