#pragma once
// Who waits at a crossing: for a signal, for those who come towards one where one turns across their way, for the crossing
// to be free, and, as far as one looks, for whoever is about to cross one's way. It decides where each driver has to stop;
// the driver brakes.
//
//   yellow    who can stop in comfort stops, who cannot drives on; that is decided once, when it is seen
//   red       stops, unless it has decided to drive on and still could not stop
//   green     waits at the line as long as somebody is slow within the crossing, or there is no room beyond it
//   turning   waits within the crossing for a gap among those who have the right of way; once it goes it goes
//
// Who was told by radio when its signal turns green does not brake for the red that will be over when it gets there, as
// long as it could still stop.
//
// Promises: a driver decides by what it is aware of (awareness.hpp) and by lamps that it saw a reaction time ago.
// Requires: apply() at every multiple of `period`, after Awareness::remember().
// Threads:  owner thread.

#include <functional>
#include <optional>
#include <vector>

#include "traffic/agent_parts.hpp"
#include "traffic/awareness.hpp"
#include "v2x/station/collision_warning.hpp"
#include "world/engine.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

class RightOfWay {
 public:
  /// `yielding`: bodies that give way too, so that nobody gives way to them.
  RightOfWay(const Awareness& awareness, std::vector<std::uint32_t> yielding, SimSpan period)
      : awareness_(awareness), yielding_(std::move(yielding)), period_(period) {}

  /// Who sits in a car: where its eyes are, and what its habits are.
  struct Sitting {
    world::PathDriver* driver = nullptr;
    std::uint32_t body = 0;
    std::size_t eyes = 0;  // in the awareness
    Temper temper{};
    double half_length = 2.25, half_width = 0.9;
  };
  void add(const Sitting& who, const RouteSection& route);
  /// It goes nowhere any more.
  void remove(std::uint32_t body);

  /// In how many seconds a driver was told that its signal is green; nothing: it was not told.
  using ToldGreen = std::function<std::optional<double>(const world::PathDriver&)>;
  void apply(const world::Engine& engine, SimTime now, const LampBoard& lamps, const ToldGreen& told);

 private:
  /// A lane of those who have the right of way, straight from its stop line to where the ways meet.
  struct Lane {
    double x, y, ux, uy, length;
  };
  struct Car {
    Sitting who;
    std::string signal{};  // "" = none
    double stop_at = 0;    // arc length
    double clear_at = -1;  // −1 = not said
    double wait_at = 1e18;
    double gap_s = 0;
    std::vector<Lane> lanes{};
    bool goes = false;  // has begun to cross, and does not stop half way
    Lamp known = Lamp::dark, shown = Lamp::dark;
    std::optional<SimTime> changed{};         // when it changed to what is shown
    bool decided = false, drives_on = false;  // at a yellow
    double stood_s = 0;                       // because of somebody who stands across its way
  };
  [[nodiscard]] Lamp known(Car& car, const LampBoard& lamps, SimTime now) const;
  [[nodiscard]] bool must_stop(Car& car, Lamp lamp, double speed, const ToldGreen& told) const;
  [[nodiscard]] bool may_cross(const Car& car, bool green) const;
  [[nodiscard]] bool is_full(const Car& car) const;
  void beware(Car& car, const world::Motion& own, double speed);

  const Awareness& awareness_;
  std::vector<std::uint32_t> yielding_;
  SimSpan period_;
  std::vector<Car> cars_;
  v2x::OwnPath path_;  // its memory serves again
};

}  // namespace isochron
