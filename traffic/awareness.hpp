#pragma once
// Whom drivers and walkers are aware of. Who is ideal knows where everybody is. A human is aware of those to whom it had a
// line of sight a reaction time ago, where it takes them to be by now: carried on as they moved then, brake lights
// included, at distances and speeds that it estimates with errors that drift, and without what happened while its eyes were
// off the road. Eyes leave the road now and then, where nobody is close ahead.
//
//      then ────────── reaction ──────────► now
//       seen                  carried on     acted upon
//
// Promises: it follows from what was remembered, from the run's seed and from names, only.
// Requires: remember() at every multiple of `period` of the world's time.
// Threads:  owner thread.
// Cost:     allocates when somebody is added; nothing later.

#include <deque>
#include <vector>

#include "core/random.hpp"
#include "traffic/temper.hpp"
#include "v2x/radio/boxes.hpp"
#include "world/vehicle/driver.hpp"

namespace isochron {

class Awareness {
 public:
  struct Other {
    std::uint32_t body = 0;
    double half_length = 2.25, half_width = 0.9;
  };
  Awareness(std::vector<Other> others, v2x::Boxes buildings, SimSpan period);

  /// Somebody with eyes, on that body. What `of` says of it stays where it is.
  std::size_t add(std::uint32_t body, const Temper& temper, const RandomStream& draws);
  /// Somebody else on the same body.
  void renew(std::size_t who, const Temper& temper, const RandomStream& draws);

  /// How everybody moves now; then everybody looks.
  void remember(const world::Engine& engine);
  [[nodiscard]] const world::Company& of(std::size_t who) const { return minds_[who].company; }
  /// Where everybody really is.
  [[nodiscard]] const std::vector<Other>& others() const { return others_; }

 private:
  struct Moment {
    SimTime at;
    std::vector<world::Motion> motions;  // of others
  };
  struct Mind {
    std::uint32_t body;
    Temper temper;
    RandomStream draws;
    double far = 0, fast = 0;         // errors of distances and speeds, in standard deviations
    SimTime off_from{}, off_until{};  // the last time that its eyes were off the road, or the next
    world::Company company{};
  };
  [[nodiscard]] const Moment& moment(SimTime t) const;
  void look(Mind& mind, const world::Engine& engine, SimTime now) const;
  void wander(Mind& mind, const world::Motion& own, SimTime now) const;
  [[nodiscard]] bool sees(const world::Motion& own, const world::Vec3& there) const;
  [[nodiscard]] double braking(std::size_t other, SimTime t) const;

  static constexpr std::size_t moments = 192;
  std::vector<Other> others_;
  v2x::Boxes buildings_;
  SimSpan period_;
  std::vector<Moment> memory_;
  std::size_t remembered_ = 0;
  std::deque<Mind> minds_;
};

}  // namespace isochron
