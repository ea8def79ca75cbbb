#pragma once
// Cars that come and go: each makes one trip after the other. It enters at the beginning of its route at the trip's time,
// or as soon after it as it is back from the one before and has room there; at the end of the route it is taken away until
// the next. Each trip has a driver of its own, drawn by the run's seed, the car's name and the trip's number. Who has run
// into somebody is towed away ten seconds later.
//
// Promises: who enters keeps a safe distance to whoever is ahead of it there.
// Requires: apply() at every multiple of `period`, before RightOfWay::apply().
// Threads:  owner thread.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "traffic/agent_right_of_way.hpp"
#include "traffic/v2x_unit.hpp"

namespace isochron {

[[nodiscard]] world::PathDriverSettings settings_of(const Temper& temper, double speed);

class Trips {
 public:
  /// `radio` may be null.
  Trips(const Named<RouteSection>& routes, std::uint64_t seed, RightOfWay& right_of_way, Awareness& awareness,
        V2xUnit* radio)
      : routes_(routes), seed_(seed), right_of_way_(right_of_way), awareness_(awareness), radio_(radio) {}

  struct Car {
    std::string name;
    const AgentSection* section = nullptr;
    RightOfWay::Sitting seat{};
    bool programmed = false;  // its programs drive; the driver of the seat only counts how far it has come
    std::function<void(double x, double y, double heading, double speed)> put{};
    std::function<void()> take_away{};
  };
  /// It is not there until its first trip begins.
  void add(Car car);
  void apply(const world::Engine& engine, SimTime now);

 private:
  struct Traveller {
    Car car;
    std::size_t next = 0;  // trip
    bool away = true;
    std::optional<SimTime> crashed{};
  };
  void enter(Traveller& traveller, const world::Engine& engine, SimTime now);
  void leave(Traveller& traveller);
  [[nodiscard]] bool touches(const Traveller& traveller, const world::Engine& engine) const;
  [[nodiscard]] double entry_speed(const Traveller& traveller, const TripSection& trip,
                                   const world::Engine& engine) const;
  [[nodiscard]] const RouteSection& route(const std::string& name) const;

  const Named<RouteSection>& routes_;
  std::uint64_t seed_;
  RightOfWay& right_of_way_;
  Awareness& awareness_;
  V2xUnit* radio_;
  std::vector<Traveller> travellers_;
  bool begun_ = false;
};

}  // namespace isochron
