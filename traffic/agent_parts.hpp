#pragma once
// What moves the agents that are no cars: a walker goes where its schedule says; signals change as their phases say.
// Both are functions of time alone, so that every client that simulates them would come to the same.

#include <map>
#include <string>
#include <vector>

#include "scenario/agents_section.hpp"
#include "world/part.hpp"

namespace isochron {

/// Which lamp each head shows, by LIGHTS/HEAD.
using LampBoard = std::map<std::string, Lamp>;

/// Signals of one crossing.
class Signals {
 public:
  Signals(std::string name, const std::vector<PhaseSection>& phases);
  /// Fills in its heads; the time of the next change.
  SimTime show(SimTime t, LampBoard& board) const;
  [[nodiscard]] const std::vector<std::string>& heads() const { return heads_; }

 private:
  std::string name_;
  std::vector<PhaseSection> phases_;
  std::vector<std::string> heads_;
  SimSpan cycle_{};
};

/// A pedestrian: a mocap (or free) body that walks straight from place to place.
class Walker final : public world::Part {
 public:
  /// `offset`: what the world's own time lacks; it may grow.
  Walker(const world::Engine& engine, std::uint32_t body, const std::vector<StopSection>& schedule,
         const SimSpan& offset);
  void act(world::Engine& engine, SimSpan dt, world::Wrenches& wrenches) override;
  [[nodiscard]] world::Motion at(SimTime t) const;

 private:
  struct Stop {
    double time, x, y;
  };
  std::uint32_t body_;
  double height_;
  std::vector<Stop> stops_;
  const SimSpan& offset_;
};

}  // namespace isochron
