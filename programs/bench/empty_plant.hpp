#pragma once
// What benchmarks of programs run in.

#include <vector>

#include "core/plant.hpp"

namespace isochron::bench {

/// A world that costs nothing and has nothing.
class EmptyPlant final : public Plant {
 public:
  [[nodiscard]] const std::vector<Variable>& variables() const override { return variables_; }
  [[nodiscard]] SimTime time() const override { return time_; }
  Result<Done, std::string> advance_to(SimTime t) override {
    time_ = t;
    return done();
  }
  void read(std::uint32_t, SimTime, std::span<std::byte>) override {}
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t, std::span<const std::byte>) const override {
    return done();
  }
  void write(std::uint32_t, SimTime, std::span<const std::byte>) override {}

 private:
  std::vector<Variable> variables_;
  SimTime time_;
};

}  // namespace isochron::bench
