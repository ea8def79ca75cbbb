#pragma once
// Who waits at a crossing: for a signal, and, turning across the way of others, for those who come towards one. It
// decides where each driver has to stop; the driver brakes.
//
// Who was told by radio when its signal turns green does not brake for the red that will be over when it gets there, as
// long as it could still stop.
//
// Threads: owner thread.

#include <functional>
#include <optional>
#include <vector>

#include "traffic/agent_parts.hpp"
#include "world/engine.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

class RightOfWay {
 public:
  /// `others`: bodies that one gives way to.
  explicit RightOfWay(std::vector<std::uint32_t> others) : others_(std::move(others)) {}
  /// A car that obeys a signal or gives way; others drive as they like.
  void add(world::PathDriver& driver, std::uint32_t body, const AgentSection& section);

  /// In how many seconds a driver was told that its signal is green; nothing: it was not told.
  using ToldGreen = std::function<std::optional<double>(const world::PathDriver&)>;
  /// Before each step.
  void apply(const world::Engine& engine, const LampBoard& lamps, const ToldGreen& told);

 private:
  /// A lane of those who have the right of way, straight from its stop line to where the ways meet.
  struct Lane {
    double x, y, ux, uy, length;
  };
  struct Car {
    world::PathDriver* driver;
    std::uint32_t body;
    std::string signal;  // "" = none
    double stop_at = 0;  // arc length
    double wait_at = 1e18;
    double gap_s = 0;
    std::vector<Lane> lanes{};
    bool goes = false;  // has begun to cross, and does not stop half way
  };
  [[nodiscard]] bool may_cross(const Car& car, const world::Engine& engine, bool green) const;

  std::vector<std::uint32_t> others_;
  std::vector<Car> cars_;
};

}  // namespace isochron
