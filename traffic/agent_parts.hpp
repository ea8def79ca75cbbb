#pragma once
// What moves the agents that are no cars: a walker goes where its schedule says; signals change as their phases say, and,
// where a phase has detectors, as cars come.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenario/agents_section.hpp"
#include "world/part.hpp"

namespace isochron {

/// Which lamp each head shows, by LIGHTS/HEAD.
using LampBoard = std::map<std::string, Lamp>;

/// Signals of one crossing. Without detectors they are a function of time alone, so that every client that simulated them
/// would come to the same. A phase with a `most` lasts as long as cars come to its detectors at most `gap` apart, but at
/// least `lasts`, and `most` at most.
class Signals {
 public:
  Signals(std::string name, const std::vector<PhaseSection>& phases);
  /// Whether a car is at a detector.
  using Occupied = std::function<bool(const std::array<double, 2>& detector)>;
  /// Actuated ones, at times that grow: looks at the detectors, and may change.
  void advance(SimTime t, const Occupied& occupied);
  [[nodiscard]] bool actuated() const { return actuated_; }
  /// Fills in its heads; the time of the next change, the earliest if that is open.
  SimTime show(SimTime t, LampBoard& board) const;
  [[nodiscard]] const std::vector<std::string>& heads() const { return heads_; }

  /// A phase, and when it ends: at the earliest, and at the latest.
  struct Stretch {
    const PhaseSection* phase = nullptr;
    SimTime least, most;
  };
  /// The phase that is, and those that follow, as many as asked for.
  [[nodiscard]] std::vector<Stretch> ahead(SimTime t, std::size_t count) const;

 private:
  std::string name_;
  std::vector<PhaseSection> phases_;
  std::vector<std::string> heads_;
  SimSpan cycle_{};
  bool actuated_ = false;
  std::size_t now_ = 0;  // actuated: the phase, since when, and when a car was at its detectors last
  SimTime since_;
  std::optional<SimTime> called_{};
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
