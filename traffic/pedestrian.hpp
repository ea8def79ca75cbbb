#pragma once
// A pedestrian that looks: it walks along its path, stops at the kerb until its signal is green and nobody comes whom it
// would meet, and once on the road hurries, or stands, for who comes all the same. It is aware of cars as a human is.
//
// Requires: decide() at every multiple of `period`, after Awareness::remember().
// Threads:  owner thread.

#include <vector>

#include "traffic/agent_parts.hpp"
#include "traffic/awareness.hpp"
#include "world/part.hpp"

namespace isochron {

class Pedestrian final : public world::Part {
 public:
  struct Settings {
    std::uint32_t body = 0;
    double speed = 1.4;
    double half_width = 0.3;
    std::size_t eyes = 0;  // in the awareness
  };
  Pedestrian(const world::Engine& engine, const Settings& settings, const AgentSection& section);

  void decide(const Awareness& awareness, const LampBoard& lamps);
  void act(world::Engine& engine, SimSpan dt, world::Wrenches& wrenches) override;
  [[nodiscard]] world::Motion motion() const;

 private:
  struct Road {
    double from, to;  // arc lengths
    std::string signal;
  };
  /// The least time until a car meets somebody who walks from here across the road at that speed; never: 1e9.
  [[nodiscard]] double meets_in(const Road& road, double speed, const world::Company& company) const;
  [[nodiscard]] std::array<double, 2> at(double arc) const;

  Settings settings_;
  std::vector<std::array<double, 2>> path_;
  std::vector<double> arcs_;
  std::vector<Road> roads_;
  double height_;
  double walked_ = 0, speed_ = 0, wanted_ = 0;
};

}  // namespace isochron
