#pragma once
// The sensors of a stage as a controller in a library reads them.

#include <string>

#include "run/stage.hpp"
#include "world/controller.hpp"

namespace isochron {

/// Threads: the stage's.
class StageSenses final : public world::Senses {
 public:
  StageSenses(Stage& stage, std::string robot) : stage_(stage), robot_(std::move(robot)) {}
  /// Before each release.
  void release_at(SimTime now);

  [[nodiscard]] std::uint32_t find(std::string_view sensor) const override;
  [[nodiscard]] const world::Reading* latest(std::uint32_t sensor) const override;
  SimTime ask(std::uint32_t sensor) override;
  [[nodiscard]] SimTime now() const override { return now_; }

 private:
  Stage& stage_;
  std::string robot_;
  SimTime now_;
};

/// Where a controller runs beside the stage and cannot look at it: find() throws InputError that says so.
class NoSenses final : public world::Senses {
 public:
  [[nodiscard]] std::uint32_t find(std::string_view sensor) const override;
  [[nodiscard]] const world::Reading* latest(std::uint32_t) const override { return nullptr; }
  SimTime ask(std::uint32_t) override { return SimTime::never(); }
  [[nodiscard]] SimTime now() const override { return {}; }
};

}  // namespace isochron
